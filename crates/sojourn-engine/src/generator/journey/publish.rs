//! Steps that publish a message instead of sending a request.

use sojourn_broker::{Awaited, Outcome};
use sojourn_http::FailureKind;
use sojourn_plan::PublishAction;

use super::{JourneyActor, UnderWay};
use crate::{
    generator::{
        actor::{Context, Step},
        carried_trace::{names_beside, structured_with},
        prepared::RenderError,
        publishers::Message,
    },
    options::narrate,
};

/// Header that carries the run marker, unless the plan sets its own.
const MARKER_HEADER: &str = "sojourn-run";
/// The status, in a step's requests, of a message that the broker took.
const ACKNOWLEDGED: &str = "acknowledged";
/// The status of one that it refused.
const REFUSED: &str = "refused";

impl JourneyActor {
    /// Renders a message and hands it to its channel's publisher.
    pub(super) fn publish(
        &mut self,
        context: &mut Context<'_>,
        mut under_way: UnderWay,
        action: &PublishAction,
    ) -> Step {
        let rendered = match self.rendered(context, action) {
            Ok(rendered) => rendered,
            Err(error) => return self.cannot_send(context, under_way, &error),
        };
        let Rendered { topic, key, headers, body } = &rendered;
        narrate(context.narrator, || {
            let channel = &context.plan.channels[action.channel].name;
            let key = key.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
            format!("publish to {channel}, {topic} key {key}: {}", String::from_utf8_lossy(body))
        });
        let headers: Vec<(&str, &[u8])> =
            headers.iter().map(|(name, value)| (*name, value.as_slice())).collect();
        let message = Message {
            channel: action.channel,
            topic,
            key: key.as_deref(),
            headers: &headers,
            payload: body,
            timeout_ns: action.timeout_ns,
        };
        under_way.bytes_out = body.len() as u64;
        match context.publishers.send(context.now_ns, context.token, &message) {
            Ok(()) => {
                self.request = Some(under_way);
                Step::Requesting
            }
            Err(why) => {
                // Our own bound, or a message that cannot be: nothing of it reached the broker.
                let status = FailureKind::Local.name();
                self.count(context, under_way, status, context.now_ns);
                self.refused(context, under_way, context.now_ns, &format!("{status}: {why}"))
            }
        }
    }

    /// The broker has taken the message or refused it, or has not said so in time.
    pub(super) fn published(&mut self, context: &mut Context<'_>, outcome: Outcome) -> Step {
        let Some(under_way) = self.request.take() else {
            return Step::Idle;
        };
        let ended_ns = outcome.acked_ns;
        match outcome.error {
            None => {
                self.count(context, under_way, ACKNOWLEDGED, ended_ns);
                self.accepted(context, under_way, ended_ns, Default::default())
            }
            Some(why) => {
                let in_time = why != Awaited::NOT_ACKNOWLEDGED;
                let status = if in_time { REFUSED } else { FailureKind::Timeout.name() };
                self.count(context, under_way, status, ended_ns);
                self.refused(context, under_way, ended_ns, &why)
            }
        }
    }

    /// Counts a message that has ended, with its times and bytes.
    fn count(&self, context: &mut Context<'_>, under_way: UnderWay, status: &str, ended_ns: u64) {
        let (kind, phase) = (self.arrival.kind, self.arrival.phase);
        let (recorder, step) = (&mut *context.recorder, under_way.step);
        let counter = context.series.status_word(recorder, kind, step, phase, status);
        recorder.add(counter, 1);
        let series = context.series.step(kind, step, phase);
        recorder.record(series.response, ended_ns.saturating_sub(under_way.due_ns));
        recorder.record(series.service, ended_ns.saturating_sub(under_way.began_ns));
        recorder.record(series.sent_bytes, under_way.bytes_out);
    }

    fn rendered<'a>(
        &self,
        context: &Context<'_>,
        action: &'a PublishAction,
    ) -> Result<Rendered<'a>, RenderError> {
        let render = |template| {
            let mut out = Vec::new();
            let rendered = self.render_text(context, template, &mut out);
            rendered.map(|()| out).map_err(RenderError::Unset)
        };
        let topic = String::from_utf8(render(&action.topic)?)
            .map_err(|_| RenderError::Invalid("the topic is no text".to_owned()))?;
        let key = action.key.as_ref().map(&render).transpose()?;
        let mut headers = Vec::with_capacity(action.headers.len() + 1);
        for (name, value) in &action.headers {
            headers.push((name.as_str(), render(value)?));
        }
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(MARKER_HEADER)) {
            headers.push((MARKER_HEADER, context.run_id.as_bytes().to_vec()));
        }
        let mut body = render(&action.body)?;
        if let Some(trace) = self.traceparent(context.plan, context.prepared, context.run_id) {
            body = structured_with(&headers, &body, &trace).unwrap_or(body);
            for name in names_beside(&headers) {
                headers.push((name, trace.clone().into_bytes()));
            }
        }
        Ok(Rendered { topic, key, headers, body })
    }
}

/// A message with every value in its place.
struct Rendered<'a> {
    topic: String,
    key: Option<Vec<u8>>,
    headers: Vec<(&'a str, Vec<u8>)>,
    body: Vec<u8>,
}
