//! What answers show of foreign clocks.

use serde_json::Value;
use sojourn_http::Completion;
use sojourn_ledger::{Reading, Unread, Where};
use sojourn_plan::{ClockRule, ulid_unix_ms};

use super::answer::Answer;

/// A foreign clock as an answer shows it.
#[derive(Debug)]
pub(super) struct Face {
    clock: u8,
    at: Where,
    read_ns: u64,
    value: Option<Value>,
}

impl Face {
    /// Looks at the answer to a step that was due at `due_ns`. `read_ns` is the present: what
    /// shares a turn of the event loop may be stamped a little before its last byte was there, and
    /// a clock must not seem to be ahead by that.
    pub(super) fn of(
        rule: &ClockRule,
        answer: &Answer<'_>,
        completion: &Completion,
        (step, due_ns): (usize, u64),
        read_ns: u64,
    ) -> Self {
        let sent_ns = completion.began_ns.saturating_add(completion.timings.blocked_ns);
        Self {
            // The plan's reader refuses more clocks and steps than a byte numbers.
            clock: rule.clock as u8,
            at: Where::Answer { step: step as u8, due_ns, sent_ns },
            read_ns,
            value: answer.select(&rule.ulid),
        }
    }

    /// What it shows to one of the journeys that share the answer, numbered from 0: of a list the
    /// element of this number.
    pub(super) fn reading(&self, member: usize) -> Reading {
        let shown = match &self.value {
            Some(Value::Array(list)) => list.get(member),
            shown => shown.as_ref(),
        };
        let unix_ms = match shown {
            None | Some(Value::Null) => Err(Unread::Missing),
            Some(Value::String(text)) => ulid_unix_ms(text).ok_or(Unread::Invalid),
            Some(_) => Err(Unread::Invalid),
        };
        let Self { clock, at, read_ns, .. } = *self;
        Reading { clock, at, read_ns, unix_ms }
    }
}

#[cfg(test)]
mod tests {
    use sojourn_http::{Response, Timings};
    use sojourn_plan::Selector;

    use super::*;
    use crate::testing::plan;

    const PLAN: &str = "
journeys:
  order:
    root:
      http: { url: /e, json: {} }
      clock: { ulid: body.ids, name: queue }
load: { rate: 1/s, steady: 1s }
";
    const ULID: &str = "01ARYZ6S41TSV4RRFFQ69G5FAV";

    fn read(rule: &ClockRule, body: &str, member: usize) -> Result<u64, Unread> {
        let response = Response { status: 200, body: body.into(), ..Response::default() };
        let timings = Timings { blocked_ns: 7, ..Timings::default() };
        let (began_ns, ended_ns) = (100, 200);
        let completion = Completion {
            token: 0,
            began_ns,
            ended_ns,
            timings,
            bytes_out: 0,
            bytes_in: 0,
            peer: sojourn_http::PeerId::default(),
            outcome: Ok(Response::default()),
        };
        let face = Face::of(rule, &Answer::new(&response), &completion, (2, 90), 201);
        let reading = face.reading(member);
        assert_eq!(reading.at, Where::Answer { step: 2, due_ns: 90, sent_ns: 107 });
        assert_eq!((reading.clock, reading.read_ns), (0, 201));
        reading.unix_ms
    }

    #[test]
    fn an_event_of_a_batch_has_its_own_element_of_a_list() {
        let plan = plan(PLAN, "http://127.0.0.1:1");
        assert_eq!(plan.clocks, ["queue"]);
        let rule = plan.journeys[0].steps[0].clock.as_ref().unwrap();
        let time = Ok(1_469_918_176_385);
        let list = format!(r#"{{"ids":["{ULID}","none",null,3]}}"#);
        let read_at = [0, 1, 2, 3, 4].map(|member| read(rule, &list, member));
        let (missing, invalid) = (Err(Unread::Missing), Err(Unread::Invalid));
        assert_eq!(read_at, [time, invalid, missing, invalid, missing]);
        let one = format!(r#"{{"ids":"{ULID}"}}"#);
        assert_eq!([0, 9].map(|member| read(rule, &one, member)), [time, time]);
        assert_eq!(read(rule, "{}", 0), missing);
        let header = ClockRule { clock: 0, ulid: Selector::Header("x-id".to_owned()) };
        assert_eq!(read(&header, "{}", 0), missing);
    }
}
