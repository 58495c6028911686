//! Consuming: a queue is its own group, and deleting is committing.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::json;
use sojourn_broker::{BrokerError, Consumer, Sink};
use sojourn_clock::now_ns;

use crate::api::{Answer, Api};
use crate::listening::{BATCH_MAX, WAIT_S, delete_request, receive_request};
use crate::queue::{Queue, TIMEOUT};
use crate::received::{Received, decode};

/// Requests for messages under way at a time, at most; as few as fetch what one call may take.
const RECEIVERS_MAX: usize = 8;
/// The service answers within its wait and this.
const ANSWER: Duration = Duration::from_secs(WAIT_S + 5);

/// Takes messages from a queue as the system's own consumers do. What is not committed comes again
/// when the queue's own visibility timeout has passed, or at once when it leaves.
pub struct SqsConsumer {
    api: Api,
    group: String,
    queue: Option<Queue>,
    /// Requests under way, whose answers a later call may take.
    asked: Vec<u64>,
    /// How many there shall be: more while answers are full, so that a queue that is behind is
    /// caught up with; one while nothing comes.
    receivers: usize,
    /// Received and not yet handed over, with the instant it came.
    stash: VecDeque<(u64, Received)>,
    /// Receipts of what was handed over and not committed.
    taken: Vec<String>,
    left: bool,
}

impl SqsConsumer {
    pub(crate) fn new(api: Api, group: &str) -> Self {
        Self {
            api,
            group: group.to_owned(),
            queue: None,
            asked: Vec::new(),
            receivers: 1,
            stash: VecDeque::new(),
            taken: Vec::new(),
            left: false,
        }
    }

    /// Keeps requests under way that bring what one call may take.
    fn ask(&mut self, queue: &Queue, messages_max: usize) {
        // Side by side, answers would not keep the order of a group.
        let receivers = if queue.fifo { 1 } else { self.receivers };
        let wanted = receivers.min(messages_max.div_ceil(BATCH_MAX));
        while self.asked.len() < wanted {
            let request = receive_request(queue, WAIT_S, None);
            self.asked.push(self.api.send("ReceiveMessage", &request, ANSWER));
        }
    }

    /// Waits for answers of requests until the deadline.
    fn fetch(&mut self, until_ns: u64) -> Result<(), BrokerError> {
        let mut answers = Vec::new();
        self.api.wait(until_ns, &mut answers)?;
        answers.sort_by_key(|answer| answer.ended_ns);
        let mut refused = None;
        for Answer { token, ended_ns, outcome } in answers {
            let Some(place) = self.asked.iter().position(|asked| *asked == token) else {
                continue;
            };
            self.asked.swap_remove(place);
            match outcome {
                Ok(answer) => {
                    let messages = decode(&answer).map_err(BrokerError::new)?;
                    self.adapt(messages.len());
                    self.stash.extend(messages.into_iter().map(|message| (ended_ns, message)));
                }
                Err(error) if error.is_missing() || error.is(&["AccessDenied"]) => {
                    refused = Some(error);
                }
                // The service is away: nothing comes, and it is asked again later.
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
        match refused {
            Some(error) => Err(self.api.error(&format!("queue `{}`", self.group), &error)),
            None => Ok(()),
        }
    }

    fn adapt(&mut self, messages: usize) {
        match messages {
            BATCH_MAX.. => self.receivers = (self.receivers + 1).min(RECEIVERS_MAX),
            0 => self.receivers = (self.receivers - 1).max(1),
            _ => {}
        }
    }

    /// Gives back what was received and not committed.
    fn release(&mut self) {
        let Some(queue) = self.queue.take() else { return };
        // What they are given now would be hidden.
        let until_ns = now_ns() + u64::try_from(ANSWER.as_nanos()).unwrap_or(0);
        while !self.asked.is_empty() && now_ns() < until_ns {
            if self.fetch(until_ns).is_err() {
                break;
            }
        }
        let stash = self.stash.drain(..).map(|(_, message)| message.receipt);
        let receipts: Vec<String> = self.taken.drain(..).chain(stash).collect();
        for receipts in receipts.chunks(BATCH_MAX) {
            let entries: Vec<_> = (0..)
                .zip(receipts)
                .map(|(id, receipt): (u32, _)| {
                    json!({
                        "Id": id.to_string(), "ReceiptHandle": receipt, "VisibilityTimeout": 0,
                    })
                })
                .collect();
            let body = json!({ "QueueUrl": queue.url, "Entries": entries });
            drop(self.api.call("ChangeMessageVisibilityBatch", &body, TIMEOUT));
        }
    }
}

impl Consumer for SqsConsumer {
    fn consume(
        &mut self,
        messages_max: usize,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<usize, BrokerError> {
        if self.left {
            return Err(BrokerError::new(format!("sqs: queue `{}` was left", self.group)));
        }
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        let until_ns = now_ns().saturating_add(timeout_ns);
        let queue = match &self.queue {
            Some(queue) => queue.clone(),
            None => self.queue.insert(Queue::find(&mut self.api, &self.group)?).clone(),
        };
        let mut count = 0;
        loop {
            while count < messages_max
                && let Some((stamp_ns, message)) = self.stash.pop_front()
            {
                sink.message(&message.as_raw(stamp_ns, &queue.name));
                self.taken.push(message.receipt);
                count += 1;
            }
            if count > 0 || messages_max == 0 || now_ns() >= until_ns {
                return Ok(count);
            }
            self.ask(&queue, messages_max);
            self.fetch(until_ns)?;
        }
    }

    fn commit(&mut self) -> Result<(), BrokerError> {
        let Some(queue) = &self.queue else { return Ok(()) };
        let what = format!("deleting from queue `{}`", self.group);
        // All at once: one after the other they would take as many ways there and back.
        let deletions: Vec<u64> = self
            .taken
            .chunks(BATCH_MAX)
            .map(|receipts| {
                let body = delete_request(queue, receipts.iter().map(String::as_str));
                self.api.send("DeleteMessageBatch", &body, TIMEOUT)
            })
            .collect();
        let answers: Vec<_> =
            deletions.into_iter().map(|token| self.api.outcome_of(token)).collect();
        for answer in answers {
            let answer = answer.map_err(|error| self.api.error(&what, &error))?;
            let answer: serde_json::Value = serde_json::from_slice(&answer).unwrap_or_default();
            let failed = answer.get("Failed").and_then(serde_json::Value::as_array);
            if let Some(failed) = failed.and_then(|failed| failed.first()) {
                let code = failed.get("Code").and_then(serde_json::Value::as_str);
                let place = self.api.settings.place();
                let code = code.unwrap_or("refused");
                return Err(BrokerError::new(format!("{place}: {what}: {code}"))
                    .with_hint("was it longer than the queue's visibility timeout?"));
            }
        }
        self.taken.clear();
        Ok(())
    }

    fn assigned(&self) -> usize {
        usize::from(self.queue.is_some() && !self.left)
    }

    fn leave(&mut self) {
        if !std::mem::replace(&mut self.left, true) {
            self.release();
        }
    }
}

impl Drop for SqsConsumer {
    fn drop(&mut self) {
        self.leave();
    }
}

impl std::fmt::Debug for SqsConsumer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqsConsumer").field("group", &self.group).finish_non_exhaustive()
    }
}
