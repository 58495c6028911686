//! The plan's targets: a connection, and TLS where they have it.

use sojourn_analysis::{check::Check, words};
use sojourn_http::{Client, ClientConfig, FailureKind, Greeting, Origin, origin_host_header};

use super::names::Names;
use crate::{
    client_error::client_error,
    preflight::{REACH_TIMEOUT_NS, START_IT},
};

/// Connects once to each; `begin` is told each before.
pub(super) fn checks(
    targets: &[Origin],
    names: &Names,
    config: &ClientConfig,
    probes: bool,
    begin: &mut dyn FnMut(&str),
) -> Vec<Check> {
    if targets.is_empty() {
        return vec![Check::skipped("target", "", "the plan sends no HTTP request")];
    }
    let mut client = match Client::new(config.clone()) {
        Ok(client) => client,
        Err(error) => {
            let error = client_error(&error);
            return vec![Check::failed("target", "", error.message).advised(error.hint)];
        }
    };
    let mut checks = Vec::new();
    for origin in targets {
        let subject = origin_host_header(origin);
        begin(&format!("target {subject}"));
        checks.push(match names.is_unknown(origin) {
            true => Check::skipped("target", &subject, "its name is not known"),
            false => match client.greet(origin, REACH_TIMEOUT_NS) {
                Ok(greeting) => greeted(&subject, &greeting, origin.tls, config, probes),
                Err(failure) => {
                    let advice = advice(failure.kind).to_owned();
                    Check::failed("target", &subject, failure.detail).advised(advice)
                }
            },
        });
    }
    checks
}

fn greeted(
    subject: &str,
    greeting: &Greeting,
    has_tls: bool,
    config: &ClientConfig,
    probes: bool,
) -> Check {
    let mut found = format!("connected in {}", words::duration(greeting.connect_ns as f64));
    if has_tls {
        found.push_str(&format!(", TLS in {}", words::duration(greeting.tls_ns as f64)));
        if let Some(ends) = &greeting.certificate_ends {
            found.push_str(&format!(", certificate valid until {ends} UTC"));
        }
    }
    if !probes {
        found.push_str("; nothing was requested (--probe does)");
    }
    match has_tls && config.tls.insecure {
        false => Check::passed("target", subject, found),
        true => Check::warned("target", subject, found)
            .advised("its certificate was not verified (--insecure): give --ca FILE".to_owned()),
    }
}

fn advice(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Tls => {
            "the certificate must be for this name and of an authority known here: --ca FILE \
             trusts one more"
        }
        FailureKind::Local => "the system under test was not reached for want of something here",
        _ => START_IT,
    }
}
