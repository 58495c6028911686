//! The log's way to Loki: a thread that posts what was said, some of it at a time.
//!
//! Who says something never waits: lines of a period beyond its limit are counted, and the count is
//! sent. Requests that fail are tried again with the next; the end has [`END_NS`].

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use serde_json::{Map, Value};
use sojourn_clock::{Anchor, MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_k6::log::{LokiEntry, LokiOptions};
use sojourn_outputs::wire::{Endpoint, Failure, Poster, Security};
use url::Url;

use crate::console::LogSink;

/// Most requests that wait to be sent again; of more the oldest are given up.
const REQUESTS_MAX: usize = 60;
/// How long one attempt may take, ns.
const ATTEMPT_NS_MAX: u64 = 5 * SECOND_NS;
/// How long there is at the end, ns.
const END_NS: u64 = 5 * SECOND_NS;
/// The pause between attempts at the end.
const PAUSE: Duration = Duration::from_millis(200);

/// See the module's page.
pub struct Loki {
    /// Dropped at the end.
    going_on: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Lines of the period under way.
#[derive(Default)]
struct Period {
    entries: Vec<LokiEntry>,
    dropped: u64,
}

type Shared = Arc<Mutex<Period>>;

fn lock(shared: &Shared) -> MutexGuard<'_, Period> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Loki {
    /// Begins; lines are to come as JSON. `say` is told what goes wrong: a first failure, and at
    /// the end what did not arrive.
    ///
    /// # Errors
    /// The URL is none, a header can't be sent, or there is no thread. The text shows no secret.
    pub fn start(
        options: LokiOptions,
        say: Box<dyn Fn(&str) + Send>,
    ) -> Result<(Self, LogSink), String> {
        let problem = |error: url::ParseError| format!("no URL ({error}): give http://HOST/…");
        let mut url = Url::parse(&options.url).map_err(problem)?;
        if !["http", "https"].contains(&url.scheme()) {
            return Err("the URL is not one of http or https".to_owned());
        }
        let endpoint = Endpoint::new(&url, &options.headers)?;
        let poster = Poster::new(&endpoint, &Security::default())?;
        // They are headers by now. Neither fails for http and https.
        let _of_http = (url.set_username(""), url.set_password(None));
        let (going_on, ends) = bounded(0);
        let shared = Shared::default();
        let sink = Sink { shared: Arc::clone(&shared), limit: options.limit };
        let sending = Sending {
            poster,
            url,
            options,
            shared,
            say,
            requests: VecDeque::new(),
            lost: 0,
            has_failed: false,
        };
        let thread = std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || sending.run(&ends))
            .map_err(|error| error.to_string())?;
        Ok((Self { going_on: Some(going_on), thread: Some(thread) }, Box::new(sink)))
    }
}

impl Drop for Loki {
    /// Waits until all of it is sent, or the time for that is over.
    fn drop(&mut self) {
        self.going_on = None;
        if let Some(thread) = self.thread.take() {
            // One that panicked has said so.
            thread.join().ok();
        }
    }
}

/// Where lines go in.
struct Sink {
    shared: Shared,
    limit: usize,
}

impl Write for Sink {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut period = lock(&self.shared);
        if period.entries.len() < self.limit {
            period.entries.push(entry(line));
        } else {
            period.dropped += 1;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A line of the log, which is a JSON object; whatever else it is, it is a text.
fn entry(line: &[u8]) -> LokiEntry {
    let at_ns = u128::from(Anchor::now().unix_ns_at(now_ns()));
    let Ok(mut object) = serde_json::from_slice::<Map<String, Value>>(line) else {
        let text = String::from_utf8_lossy(line).trim_end().to_owned();
        return LokiEntry { at_ns, text, fields: BTreeMap::new() };
    };
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    object.remove("time");
    let message = object.remove("msg").map(text).unwrap_or_default();
    let fields = object.into_iter().map(|(name, value)| (name, text(value))).collect();
    LokiEntry { at_ns, text: message, fields }
}

/// The thread.
struct Sending {
    poster: Poster,
    url: Url,
    options: LokiOptions,
    shared: Shared,
    say: Box<dyn Fn(&str) + Send>,
    /// Bodies to be sent, and how many lines each has.
    requests: VecDeque<(String, u64)>,
    /// Lines that no server has, or ever will.
    lost: u64,
    has_failed: bool,
}

impl Sending {
    fn run(mut self, ends: &Receiver<()>) {
        let period = Duration::from_nanos(self.options.push_period_ns);
        while let Err(RecvTimeoutError::Timeout) = ends.recv_timeout(period) {
            self.collect();
            // It is tried again with the next.
            self.send(now_ns() + ATTEMPT_NS_MAX).ok();
        }
        self.collect();
        let until_ns = now_ns() + END_NS;
        while self.send(until_ns).is_err() && now_ns() < until_ns {
            std::thread::sleep(PAUSE);
        }
        let lost = self.lost + self.requests.iter().map(|(_, lines)| lines).sum::<u64>();
        if lost > 0 {
            (self.say)(&format!("{lost} lines of the log did not reach Loki"));
        }
    }

    /// Makes a request of what was said since.
    fn collect(&mut self) {
        let Period { entries, dropped } = std::mem::take(&mut *lock(&self.shared));
        if entries.is_empty() {
            return;
        }
        if self.requests.len() >= REQUESTS_MAX
            && let Some((_, lines)) = self.requests.pop_front()
        {
            self.lost += lines;
        }
        self.requests.push_back((self.options.body(&entries, dropped), entries.len() as u64));
    }

    /// Sends what there is; errs where it is worth another attempt.
    fn send(&mut self, until_ns: u64) -> Result<(), ()> {
        let headers = [("content-type", "application/json")];
        while let Some((body, lines)) = self.requests.front() {
            let left_ns = until_ns.saturating_sub(now_ns()).max(MILLISECOND_NS);
            let timeout = Duration::from_nanos(left_ns);
            match self.poster.post(&self.url, &headers, body.as_bytes(), timeout) {
                Ok(_) => {}
                Err(failure) => {
                    let is_final = matches!(failure, Failure::Never(_));
                    if is_final {
                        self.lost += lines;
                    }
                    self.fail(&failure);
                    if !is_final {
                        return Err(());
                    }
                }
            }
            self.requests.pop_front();
        }
        Ok(())
    }

    fn fail(&mut self, failure: &Failure) {
        if !std::mem::replace(&mut self.has_failed, true) {
            (self.say)(&format!("the log can't be sent to Loki: {failure}"));
        }
    }
}
