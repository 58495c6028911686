//! Receiving: requests that wait at the service, several at a time, and their answers.
//!
//! Nothing happens outside of [`Listening::poll`]: while nobody polls, at most the requests under
//! way are answered, and their messages come again later if they are not deleted in time. A message
//! that comes again is known by its id and dropped.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use sojourn_broker::{BrokerError, Gap, Sink};
use sojourn_clock::{MILLISECOND_NS, now_ns};

use crate::api::{Answer, Api, CallError};
use crate::outage::{Outage, unix_ms};
use crate::queue::{Queue, TIMEOUT, created};
use crate::received::{ATTRIBUTES, Received, decode};
use crate::seen::Seen;

/// Messages in one answer or one deletion: the service's bound.
pub(crate) const BATCH_MAX: usize = 10;
/// The attribute of messages by which a tap finds its beginning.
pub(crate) const PROBE: &str = "sojourn-probe";
/// How long a request waits at the service for messages, seconds. Short, so that a silent
/// connection is noticed soon and a tap that ends takes nothing with it.
pub(crate) const WAIT_S: u64 = 1;
/// How long what was received stays hidden from later requests: until it is deleted, usually. What
/// an answer that was lost held comes again after it.
pub(crate) const HIDDEN: Duration = Duration::from_secs(10);
/// Without an answer for so long, the connection counts as lost.
const ANSWER: Duration = Duration::from_millis(WAIT_S * 1_000 + 2_000);
/// Requests that wait at a time: while nothing comes, and at most.
const RECEIVERS_MIN: usize = 2;
const RECEIVERS_MAX: usize = 16;
/// Answers with messages in one poll.
const LOOKS_MAX: usize = 8;
/// For how long a poll goes on for more once it has messages, while answers are full.
const TOGETHER_NS: u64 = 2 * MILLISECOND_NS;

/// Where a tap begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beginning {
    /// What the queue took before this instant of its own clock is of before the tap.
    pub(crate) floor_unix_ms: u64,
    /// When the queue was created, if it tells.
    pub(crate) created: Option<u64>,
    /// When the tap was open.
    pub(crate) at_ns: u64,
}

/// A queue that is listened to.
pub(crate) struct Listening {
    api: Api,
    queue: Queue,
    /// The request for messages, ready to be sent.
    receive: Vec<u8>,
    /// Requests under way: token, and when they were made.
    receives: Vec<(u64, u64)>,
    deletes: Vec<u64>,
    /// The question, after an outage, when the queue was created: its token.
    question: Option<u64>,
    receivers: usize,
    seen: Seen,
    beginning: Beginning,
    /// How far the service's clock is behind ours, with the way here: the least seen.
    behind_ms: Option<i64>,
    /// The latest answer was full, so that more may wait.
    more: bool,
    life_ns: u64,
    stamp_ns: u64,
    watermark_ns: u64,
    give_up_after: Duration,
    outage: Option<Outage>,
    gaps: Vec<Gap>,
    answers: Vec<Answer>,
    /// What this poll will hand over, and when it was received.
    taken: Vec<(u64, Received)>,
    /// The bodies of the requests to delete it, which are made when that has been done.
    deletions: Vec<Vec<u8>>,
}

/// The body of a request for messages.
pub(crate) fn receive_request(queue: &Queue, wait_s: u64, hidden: Option<Duration>) -> Vec<u8> {
    let mut asked = json!({
        "QueueUrl": queue.url, "MaxNumberOfMessages": BATCH_MAX, "WaitTimeSeconds": wait_s,
        "AttributeNames": ATTRIBUTES, "MessageAttributeNames": ["All"],
    });
    if let Some(hidden) = hidden {
        asked["VisibilityTimeout"] = hidden.as_secs().into();
    }
    asked.to_string().into_bytes()
}

/// The body of a request to delete these messages.
pub(crate) fn delete_request<'a>(
    queue: &Queue,
    receipts: impl Iterator<Item = &'a str>,
) -> Vec<u8> {
    let entries = receipts
        .enumerate()
        .map(|(place, receipt_handle)| Entry { id: place.to_string(), receipt_handle });
    let asked = Deletion { queue_url: &queue.url, entries: entries.collect() };
    // Text alone can always be written.
    serde_json::to_vec(&asked).unwrap_or_default()
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Deletion<'a> {
    queue_url: &'a str,
    entries: Vec<Entry<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Entry<'a> {
    id: String,
    receipt_handle: &'a str,
}

impl Listening {
    pub(crate) fn new(
        api: Api,
        queue: Queue,
        beginning: Beginning,
        give_up_after: Duration,
    ) -> Self {
        let at_ns = beginning.at_ns;
        Self {
            api,
            receive: receive_request(&queue, WAIT_S, Some(HIDDEN)),
            queue,
            receives: Vec::new(),
            deletes: Vec::new(),
            question: None,
            receivers: RECEIVERS_MIN,
            seen: Seen::default(),
            beginning,
            behind_ms: None,
            more: false,
            life_ns: at_ns,
            stamp_ns: at_ns,
            watermark_ns: at_ns,
            give_up_after,
            outage: None,
            gaps: Vec::new(),
            answers: Vec::new(),
            taken: Vec::new(),
            deletions: Vec::new(),
        }
    }

    pub(crate) fn watermark_ns(&self) -> u64 {
        self.watermark_ns
    }

    pub(crate) fn take_gaps(&mut self) -> Vec<Gap> {
        std::mem::take(&mut self.gaps)
    }

    /// Hands over what there is, waiting for the first of it, and while answers are full for what
    /// follows. All is handed over at the end and in a row: what comes together costs those behind
    /// less.
    pub(crate) fn poll(
        &mut self,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<(), BrokerError> {
        let polled = self.collect(timeout);
        for (stamp_ns, message) in self.taken.drain(..) {
            sink.message(&message.as_raw(stamp_ns, &self.queue.name));
        }
        for body in self.deletions.drain(..) {
            self.deletes.push(self.api.send("DeleteMessageBatch", &body, TIMEOUT));
        }
        polled
    }

    fn collect(&mut self, timeout: Duration) -> Result<(), BrokerError> {
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        let mut until_ns = now_ns().saturating_add(timeout_ns);
        let mut looks = 0;
        loop {
            let before_ns = now_ns();
            self.ask(before_ns);
            let mut answers = std::mem::take(&mut self.answers);
            self.api.wait(until_ns.min(self.next_request_ns()), &mut answers)?;
            if answers.is_empty() {
                self.answers = answers;
                if self.outage.is_none() && !self.more && !self.receives.is_empty() {
                    self.watermark_ns = before_ns;
                }
                if now_ns() >= until_ns {
                    return Ok(());
                }
                continue;
            }
            answers.sort_by_key(|answer| answer.ended_ns);
            let mut found = false;
            for answer in answers.drain(..) {
                found |= self.take(answer)?;
            }
            self.answers = answers;
            if found {
                until_ns = until_ns.min(if self.more { before_ns + TOGETHER_NS } else { 0 });
                looks += 1;
                if looks == LOOKS_MAX {
                    return Ok(());
                }
            }
        }
    }

    /// Keeps as many requests under way as there shall be; without a connection, one at a time.
    fn ask(&mut self, at_ns: u64) {
        let wanted = match &self.outage {
            Some(outage) if !outage.is_up() => {
                let asked = self.receives.iter().any(|(_, asked_ns)| *asked_ns > outage.failed_ns);
                let asks = !asked && at_ns >= outage.retry_ns;
                self.receives.len() + usize::from(asks)
            }
            _ => self.receivers,
        };
        while self.receives.len() < wanted {
            let token = self.api.send("ReceiveMessage", &self.receive, ANSWER);
            self.receives.push((token, now_ns()));
        }
    }

    /// When there is a request to be made, if not before.
    fn next_request_ns(&self) -> u64 {
        match &self.outage {
            Some(outage) if !outage.is_up() && outage.retry_ns > now_ns() => outage.retry_ns,
            _ => u64::MAX,
        }
    }

    /// Whether messages came.
    fn take(&mut self, answer: Answer) -> Result<bool, BrokerError> {
        let Answer { token, ended_ns, outcome } = answer;
        if let Some(place) = self.deletes.iter().position(|known| *known == token) {
            // What could not be deleted comes again, is known, and deleted then.
            self.deletes.swap_remove(place);
            return Ok(false);
        }
        if self.question == Some(token) {
            self.question = None;
            self.identify(ended_ns, outcome);
            return Ok(false);
        }
        let Some(place) = self.receives.iter().position(|(known, _)| *known == token) else {
            return Ok(false);
        };
        let (_, asked_ns) = self.receives.swap_remove(place);
        match outcome {
            Err(error) => self.failed(asked_ns, &error).map(|()| false),
            Ok(answer) => self.received(asked_ns, ended_ns, &answer),
        }
    }

    fn failed(&mut self, asked_ns: u64, error: &CallError) -> Result<(), BrokerError> {
        let now_ns = now_ns();
        // What had waited since before the last answer may be gone with the queue.
        let read_ns = self.life_ns.min(self.watermark_ns);
        let give_up_after = self.give_up_after;
        let outage = match &mut self.outage {
            // Of the failure that is known.
            Some(outage) if asked_ns <= outage.failed_ns => return Ok(()),
            Some(outage) => outage,
            none => none.insert(Outage::new(read_ns, now_ns, give_up_after)),
        };
        // What it asks was asked of the queue before this failure.
        self.question = None;
        if outage.failed(now_ns) {
            return Ok(());
        }
        let seconds = give_up_after.as_secs_f64();
        let what = format!("queue `{}`: no answer of use for {seconds} s", self.queue.name);
        Err(self.api.error(&what, error))
    }

    fn received(
        &mut self,
        asked_ns: u64,
        ended_ns: u64,
        answer: &[u8],
    ) -> Result<bool, BrokerError> {
        let place = &self.api.settings;
        let messages = decode(answer).map_err(|error| {
            BrokerError::new(format!("{}: this is no answer of SQS: {error}", place.place()))
                .with_hint("does `endpoint` name a server that speaks SQS's JSON protocol?")
        })?;
        self.life_ns = ended_ns;
        self.stamp_ns = self.stamp_ns.max(ended_ns).max(self.watermark_ns);
        if let Some(outage) = &mut self.outage
            && asked_ns > outage.failed_ns
        {
            outage.answered(ended_ns);
            if outage.is_unsure() && self.question.is_none() {
                let body = json!({ "QueueUrl": self.queue.url, "AttributeNames": ["All"] });
                let body = body.to_string();
                let token = self.api.send("GetQueueAttributes", body.as_bytes(), ANSWER);
                self.question = Some(token);
            }
        }
        self.more = messages.len() >= BATCH_MAX;
        self.adapt(messages.len());
        let found = !messages.is_empty();
        if found {
            let receipts = messages.iter().map(|message| message.receipt.as_str());
            self.deletions.push(delete_request(&self.queue, receipts));
        }
        for message in messages {
            self.keep(message);
        }
        if !self.more
            && let Some(outage) = &self.outage
            && let Some(gap) = outage.over(asked_ns, ended_ns, HIDDEN)
        {
            self.gaps.push(gap);
            self.outage = None;
        }
        Ok(found)
    }

    /// Whether the queue is the one that it was before the outage, by when it was created. One that
    /// was made anew, as by a server that keeps nothing over its restart, has lost what the old one
    /// held; and it has nothing that could still be hidden, so that the outage is over.
    fn identify(&mut self, ended_ns: u64, outcome: Result<Vec<u8>, CallError>) {
        // What has no answer is asked again with the next answer to a request for messages.
        let (Some(outage), Ok(answer)) = (&mut self.outage, outcome) else { return };
        let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
        let created = answer.get("Attributes").and_then(created);
        // A queue that does not tell cannot be known again.
        if created.is_some() && created == self.beginning.created {
            outage.same();
            return;
        }
        self.gaps.push(outage.missed(ended_ns));
        self.beginning.created = created;
        self.outage = None;
    }

    /// More requests while answers are full, fewer while they are empty.
    fn adapt(&mut self, messages: usize) {
        match messages {
            BATCH_MAX.. => self.receivers = (self.receivers + 1).min(RECEIVERS_MAX),
            0 => self.receivers = (self.receivers - 1).max(RECEIVERS_MIN),
            _ => {}
        }
    }

    /// Keeps a message until the poll is over, if it is new.
    fn keep(&mut self, message: Received) {
        let old = message.sent_unix_ms.is_some_and(|sent| sent < self.beginning.floor_unix_ms);
        if old || message.header(PROBE).is_some() || !self.seen.insert(&message.id) {
            return;
        }
        if let Some(sent) = message.sent_unix_ms {
            let way_ms = unix_ms().cast_signed().saturating_sub(sent.cast_signed());
            self.behind_ms = Some(self.behind_ms.map_or(way_ms, |least| least.min(way_ms)));
        }
        if let Some(outage) = &mut self.outage {
            outage.took(message.sent_unix_ms, self.behind_ms.unwrap_or(0));
        }
        self.taken.push((self.stamp_ns, message));
    }

    /// Waits for the answers under way, for a moment: what a request that nobody waits for any more
    /// is given would be hidden from the next tap for a while.
    pub(crate) fn finish(&mut self) {
        if self.outage.is_some() {
            return;
        }
        let until_ns = now_ns() + (WAIT_S * 1_000 + 500) * MILLISECOND_NS;
        let mut answers = Vec::new();
        while !(self.receives.is_empty() && self.deletes.is_empty()) && now_ns() < until_ns {
            if self.api.wait(until_ns, &mut answers).is_err() {
                return;
            }
            for Answer { token, .. } in answers.drain(..) {
                self.receives.retain(|(known, _)| *known != token);
                self.deletes.retain(|known| *known != token);
            }
        }
    }
}
