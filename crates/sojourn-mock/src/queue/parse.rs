//! Queues as people write them, in Kendall's notation: `mm1:rate=100`, `mmc:servers=3,rate=50`,
//! `md1:rate=100`, `mg1:service=uniform(5ms, 15ms)`.

use std::num::NonZeroUsize;

use sojourn_plan::reading::suggestion;

use super::QueueModel;
use crate::latency::{Latency, RunFiles, read_latency};

/// Requests that wait unless something else is said; beyond, 503.
const WAITING_MAX: usize = 1_000_000;
const SERVERS_MAX: u64 = 1_000_000;
const KINDS: [&str; 6] = ["mm1", "mmc", "md1", "mdc", "mg1", "mgc"];
const FORMS: &str = "such as `mm1:rate=100`, `mmc:servers=3,rate=50`, `md1:rate=100` or \
                     `mg1:service=uniform(5ms, 15ms)`, with `,waiting=10` for a bounded line";

/// A queue before it is opened.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// Requests served at a time.
    pub servers: NonZeroUsize,
    /// How long a server takes for one.
    pub service: Latency,
    /// Requests that may wait; one more is answered 503 at once.
    pub waiting_max: usize,
}

/// Why text is no queue: the message names the part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct QueueError {
    /// The part of the text that is wrong.
    pub part: String,
    /// Lower-case fragment.
    pub message: String,
    /// What to write.
    pub hint: Option<String>,
}

/// What follows the colon.
#[derive(Default)]
struct Given {
    rate_per_s: Option<f64>,
    servers: Option<NonZeroUsize>,
    service: Option<Latency>,
    waiting_max: Option<usize>,
}

impl Queue {
    /// Reads a queue. Rates are services per second and server. Run files that a law names are
    /// looked for among `runs`.
    ///
    /// # Errors
    /// What is wrong, with the part of the text that is.
    pub fn read(text: &str, runs: &RunFiles) -> Result<Self, QueueError> {
        let text = text.trim();
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let kind = kind.trim();
        if !KINDS.contains(&kind) {
            return Err(wrong(kind, format!("there is no queue `{kind}`"), Some(FORMS.to_owned())));
        }
        let given = Given::read(rest, runs)?;
        let law = kind.as_bytes()[1];
        let service = match (law, given.rate_per_s, given.service) {
            (b'g', None, Some(law)) => law,
            (b'g', ..) => return Err(incomplete(text, "its `service` and no rate")),
            (b'd', Some(rate), None) => Latency::Fixed((1e9 / rate).round() as u64),
            (_, Some(rate), None) => Latency::Exponential { mean_ns: 1e9 / rate },
            (_, _, Some(_)) => return Err(incomplete(text, "a `rate`, and its law by its name")),
            (_, None, None) => return Err(incomplete(text, "a `rate`: services a second")),
        };
        let servers = match (kind.ends_with('1'), given.servers) {
            (true, None) => NonZeroUsize::MIN,
            (true, Some(servers)) if servers == NonZeroUsize::MIN => servers,
            (true, Some(_)) => return Err(incomplete(text, "one server: several are `c`")),
            (false, Some(servers)) => servers,
            (false, None) => return Err(incomplete(text, "its number of `servers`")),
        };
        let waiting_max = given.waiting_max.unwrap_or(WAITING_MAX);
        Ok(Self { servers, service, waiting_max })
    }

    /// The empty queue.
    pub fn model(&self) -> QueueModel {
        QueueModel::new(self.servers, self.waiting_max)
    }
}

impl Given {
    fn read(text: &str, runs: &RunFiles) -> Result<Self, QueueError> {
        let mut given = Self::default();
        for part in split_outside_parentheses(text) {
            let Some((name, value)) = part.split_once('=') else {
                return Err(wrong(part, format!("`{part}` has no value"), Some(FORMS.into())));
            };
            let value = value.trim();
            match name.trim() {
                "rate" => given.rate_per_s = Some(rate(value)?),
                "servers" => given.servers = Some(servers(value)?),
                "service" => {
                    let law = read_latency(value, runs);
                    let law = law.map_err(|it| wrong(&it.part, it.message, it.hint))?;
                    given.service = Some(law);
                }
                "waiting" => {
                    let most = value.parse().map_err(|_| {
                        let message = format!("`{value}` is not a number of requests");
                        wrong(value, message, Some("write `waiting=10`".to_owned()))
                    })?;
                    given.waiting_max = Some(most);
                }
                other => {
                    let known = ["rate", "servers", "service", "waiting"];
                    let message = format!("`{other}` is nothing that a queue has");
                    return Err(wrong(other, message, suggestion(other, known)));
                }
            }
        }
        Ok(given)
    }
}

fn rate(text: &str) -> Result<f64, QueueError> {
    let number = text.strip_suffix("/s").unwrap_or(text);
    match number.trim().parse::<f64>() {
        Ok(rate) if rate > 0.0 && rate <= 1e9 => Ok(rate),
        _ => {
            let hint = "write `rate=100`: services a second and server";
            Err(wrong(text, format!("`{text}` is not a rate"), Some(hint.to_owned())))
        }
    }
}

fn servers(text: &str) -> Result<NonZeroUsize, QueueError> {
    let count = text.parse::<u64>().ok().filter(|count| *count <= SERVERS_MAX);
    let count = count.and_then(|count| NonZeroUsize::new(count as usize));
    count.ok_or_else(|| {
        let hint = format!("a whole number from 1 to {SERVERS_MAX}");
        wrong(text, format!("`{text}` is not a number of servers"), Some(hint))
    })
}

fn split_outside_parentheses(text: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let parts = text.split(move |c| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn incomplete(text: &str, what: &str) -> QueueError {
    wrong(text, format!("`{text}` needs {what}"), Some(FORMS.to_owned()))
}

fn wrong(part: &str, message: String, hint: Option<String>) -> QueueError {
    QueueError { part: part.to_owned(), message, hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Queue, QueueError> {
        Queue::read(text, &RunFiles::default())
    }

    #[test]
    fn kendalls_notation() {
        let check = |text: &str, servers: usize, service: Latency, waiting_max: usize| {
            let servers = NonZeroUsize::new(servers).unwrap();
            assert_eq!(read(text), Ok(Queue { servers, service, waiting_max }), "{text}");
        };
        let exponential = |mean_ns| Latency::Exponential { mean_ns };
        check("mm1:rate=100", 1, exponential(1e7), WAITING_MAX);
        check("mm1:rate=100/s,waiting=0", 1, exponential(1e7), 0);
        check("mmc:servers=3,rate=1000", 3, exponential(1e6), WAITING_MAX);
        check("md1:rate=8000", 1, Latency::Fixed(125_000), WAITING_MAX);
        let uniform = Latency::Uniform { low_ns: 1e6, high_ns: 2e6 };
        check("mg1:service=uniform(1ms, 2ms), waiting=5", 1, uniform.clone(), 5);
        check("mgc:service=uniform(1ms,2ms),servers=2", 2, uniform, WAITING_MAX);
    }

    #[test]
    fn what_is_no_queue_says_why() {
        let check = |text: &str, message: &str, hint: &str| {
            let error = read(text).unwrap_err();
            assert!(error.message.contains(message), "{text}: {error}");
            assert!(error.hint.clone().unwrap_or_default().contains(hint), "{text}: {error:?}");
        };
        check("mm2:rate=1", "no queue `mm2`", "such as `mm1:rate=100`");
        check("gg1", "no queue `gg1`", "such as `mm1:rate=100`");
        check("mm1", "needs a `rate`", "such as");
        check("mm1:rate=-1", "`-1` is not a rate", "rate=100");
        check("mm1:rate", "`rate` has no value", "such as");
        check("mm1:rte=1", "`rte` is nothing", "did you mean `rate`?");
        check("mm1:rate=1,servers=2", "needs one server", "mmc");
        check("mmc:rate=1", "needs its number of `servers`", "mmc");
        check("mmc:rate=1,servers=0", "`0` is not a number of servers", "from 1");
        check("mg1:rate=1", "needs its `service`", "mg1");
        check("mm1:service=1ms", "needs a `rate`", "such as");
        check("mg1:service=uniform(2ms,1ms)", "has no value", "the shorter first");
        check("mm1:rate=1,waiting=x", "`x` is not a number of requests", "waiting=10");
    }
}
