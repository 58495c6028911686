//! Requests: their URLs, parameters and bodies.

use url::form_urlencoded;

use crate::definition::{Payload, Place, Request};
use crate::evaluate::raw::{RawPayload, RawRequest};
use crate::params;
use crate::target::{ENDS_AUTHORITY, authority_of, has_scheme, host_of, is_absolute};
use crate::text::{Escape, Part, Text, is_token};

use super::Reader;

impl Reader<'_> {
    pub(super) fn request(&mut self, raw: RawRequest, place: &Place) -> Request {
        let url = self.text(&raw.url, place);
        let params = self.pairs(raw.params, place);
        let filled = params::fill(&url, &params);
        self.warn_params(&params, &filled, place);
        self.check_url(&filled.url, place);
        let payload = match (raw.payload, raw.file) {
            (Some(RawPayload::Text(text)), _) => {
                Payload::Text { text: self.text(&text, place), is_form: false }
            }
            (Some(RawPayload::Form(fields)), _) => {
                let fields = self.pairs(fields, place);
                Payload::Text { text: form(&fields), is_form: true }
            }
            (None, Some(file)) => Payload::File(file),
            (None, None) => Payload::None,
        };
        let is_usual = matches!(raw.verb.as_str(), "POST" | "PUT" | "PATCH" | "DELETE");
        if !is_usual && !matches!(payload, Payload::None) {
            let message =
                format!("{} with a payload: it is sent, but targets may ignore it", raw.verb);
            self.warn(place, message, None);
        }
        let mut headers = self.pairs(raw.headers, place);
        headers.retain(|(name, _)| {
            let is_name = is_token(name);
            if !is_name {
                let message = format!("`{}` is no name of a header", name.escape_debug());
                self.error(place, message, Some("letters, digits and -_.!#$%&'*+^`|~"));
            }
            is_name
        });
        Request {
            verb: raw.verb,
            url: filled.url,
            tag: raw.tag,
            headers,
            gzip: raw.gzip,
            authentication: raw
                .authentication
                .map(|(name, password)| (self.text(&name, place), self.text(&password, place))),
            payload,
            extractions: self.extractions(raw.extraction, place),
        }
    }

    fn warn_params(&mut self, params: &[(String, Text)], filled: &params::Filled, place: &Place) {
        for ((name, _), _) in params.iter().zip(&filled.used).filter(|(_, used)| !**used) {
            let hint = filled.unfilled.first().map(|left| format!("the URL has `:{left}`"));
            self.warn(place, format!("the parameter `{name}` is not in the URL"), hint);
        }
        for name in &filled.unfilled {
            let message = format!("`:{name}` in the URL has no parameter and is sent as it stands");
            self.warn(place, message, None);
        }
    }

    fn check_url(&mut self, url: &Text, place: &Place) {
        let start = url.start();
        if start.is_empty() && !url.parts.is_empty() {
            // What it is shows only when there is a value.
            return;
        }
        if is_absolute(start) {
            let rest = start.split_once("://").map_or("", |(_, rest)| rest);
            let is_whole = rest.contains(ENDS_AUTHORITY) || url.parts.len() == 1;
            if authority_of(start).is_some_and(|authority| authority.contains('@')) {
                let message = "the URL has a name or a password, which is not sent";
                let hint = "give them by the option `authentication`";
                self.error(place, message, Some(hint));
            }
            match host_of(start) {
                None if is_whole => self.error(place, "the URL has no host", None),
                Some(host) if is_whole && !self.targets.allows(host) => {
                    let message = format!("`{host}` is no target: requests to it are denied");
                    let hint = format!("definition.addTarget(\"{host}\") allows it");
                    self.warn(place, message, Some(hint));
                }
                _ => {}
            }
        } else if start.starts_with("//") || has_scheme(start) {
            let message = format!("`{start}` is neither http nor https");
            self.error(place, message, Some("write the whole URL, or a path that begins with /"));
        } else if self.targets.all().len() > 1
            && let Err(error) = self.targets.base(start)
        {
            let hint = "with several targets every URL is written with its host";
            self.error(place, error.to_string(), Some(hint));
        }
    }
}

/// Fields as `application/x-www-form-urlencoded`: what is known now is encoded now.
fn form(fields: &[(String, Text)]) -> Text {
    let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let mut form = Text::default();
    for (at, (name, value)) in fields.iter().enumerate() {
        if at > 0 {
            form.push_literal("&");
        }
        form.push_literal(&encoded(name));
        form.push_literal("=");
        for part in &value.parts {
            match part {
                Part::Literal(text) => form.push_literal(&encoded(text)),
                Part::Value { placeholder, .. } => {
                    form.parts
                        .push(Part::Value { placeholder: *placeholder, escape: Escape::Form });
                }
            }
        }
    }
    form
}
