//! The publisher's thread: from messages that wait to their outcomes.

use std::collections::VecDeque;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender};
use sojourn_broker::{Backoff, FirstAttempt, Outcome};
use sojourn_clock::{SECOND_NS, now_ns};

use crate::config::Settings;
use crate::connection::{Connection, Event};
use crate::headers::status;
use crate::jetstream::PublishAnswer;
use crate::lost::Lost;
use crate::protocol::{Place, publish};
use crate::publish::{Job, Signal};

/// Longest attempt to connect.
const ATTEMPT_NS_MAX: u64 = 2 * SECOND_NS;
/// How long a stream may take to answer.
const ANSWER_NS_MAX: u64 = 10 * SECOND_NS;
/// Most messages that a stream has not answered: servers refuse much more.
const UNANSWERED_MAX: usize = 4_096;
/// What is written before the socket is looked at again, bytes.
const UNSENT_MAX: usize = 256 << 10;
/// Of a message to a subject that the user may not publish to.
const REFUSED: &str = "the user may not publish to this subject";
/// Longest sleep.
const WAIT_MAX: Duration = Duration::from_millis(250);

/// Takes messages, writes them, and tells what became of each.
pub(crate) struct Worker {
    settings: Settings,
    stream: Option<String>,
    jobs: Receiver<Job>,
    finished: Sender<Outcome>,
    wake: Arc<dyn Fn() + Send + Sync>,
    signal: Arc<Signal>,
    waiting: Waiting,
    told: bool,
    first: FirstAttempt,
}

/// Messages written and not acknowledged yet, in order.
enum Waiting {
    /// For the pong with a number.
    Pongs(VecDeque<Sent>),
    /// For a stream's answer; the first has this number, and so many are open.
    Answers { first: u64, sent: VecDeque<Option<Sent>>, open: usize },
}

/// A message that was written.
struct Sent {
    token: u64,
    subject: Box<str>,
    /// The number of the pong that says it was taken, or when a stream's answer is too late.
    due: u64,
    refused: bool,
}

impl Worker {
    pub(crate) fn new(
        settings: Settings,
        stream: Option<String>,
        jobs: Receiver<Job>,
        (finished, wake): (Sender<Outcome>, Arc<dyn Fn() + Send + Sync>),
        signal: Arc<Signal>,
        first: FirstAttempt,
    ) -> Self {
        let waiting = Self::nothing(&stream);
        Self { settings, stream, jobs, finished, wake, signal, waiting, told: false, first }
    }

    fn nothing(stream: &Option<String>) -> Waiting {
        match stream {
            Some(_) => Waiting::Answers { first: 1, sent: VecDeque::new(), open: 0 },
            None => Waiting::Pongs(VecDeque::new()),
        }
    }

    /// Works until it is told to stop.
    pub(crate) fn run(mut self) {
        let mut backoff = Backoff::new(now_ns());
        while !self.stopped() {
            let lost = match Connection::open(&self.settings, now_ns() + ATTEMPT_NS_MAX) {
                Ok(mut connection) => {
                    self.first.tell(Ok(()));
                    backoff = Backoff::new(now_ns());
                    match self.serve(&mut connection) {
                        Ok(()) => return,
                        Err(lost) => lost,
                    }
                }
                Err(lost) => {
                    self.first.tell(Err(lost.error.clone()));
                    // Messages wait for one attempt, not for a server that is away.
                    self.refuse_queued(lost.short);
                    lost
                }
            };
            self.fail_written(lost.short);
            self.tell();
            let now = now_ns();
            let pause = backoff.pause(now).unwrap_or_else(|| {
                backoff = Backoff::new(now);
                Duration::from_secs(1)
            });
            self.rest(pause, lost.short);
        }
    }

    fn stopped(&self) -> bool {
        self.signal.stop.load(Ordering::SeqCst)
    }

    /// Pauses between attempts; what is published meanwhile has its outcome at once.
    fn rest(&mut self, pause: Duration, why: &str) {
        let until = now_ns() + u64::try_from(pause.as_nanos()).unwrap_or(SECOND_NS);
        while now_ns() < until && !self.stopped() {
            let left = Duration::from_nanos(until.saturating_sub(now_ns()));
            if let Ok(job) = self.jobs.recv_timeout(left.min(WAIT_MAX)) {
                self.finish(job.token, now_ns(), Some(why.to_owned()));
                self.refuse_queued(why);
                self.tell();
            }
        }
    }

    /// Serves a connection until it is lost, or until it is told to stop.
    fn serve(&mut self, connection: &mut Connection) -> Result<(), Lost> {
        if self.stream.is_some() {
            connection.listen_for_answers();
        }
        while !self.stopped() {
            self.write(connection);
            while let Some(event) = connection.next()? {
                self.take(connection, event);
            }
            self.expire();
            self.tell();
            self.wait(connection)?;
        }
        Ok(())
    }

    fn wait(&self, connection: &mut Connection) -> Result<(), Lost> {
        self.signal.asleep.store(true, Ordering::SeqCst);
        // Looked at again after the flag was set: a message of before is not slept over.
        let busy = !self.jobs.is_empty() && self.has_room(connection);
        let timeout = if busy || self.stopped() { Duration::ZERO } else { WAIT_MAX };
        let filled = connection.fill_or_woken(timeout, Some(self.signal.bell.as_fd()));
        if !self.signal.asleep.swap(false, Ordering::SeqCst) {
            self.signal.bell.hush();
        }
        filled.map(drop)
    }

    fn has_room(&self, connection: &Connection) -> bool {
        let answered = match &self.waiting {
            Waiting::Pongs(_) => true,
            Waiting::Answers { open, .. } => *open < UNANSWERED_MAX,
        };
        answered && connection.unsent() < UNSENT_MAX
    }

    /// Writes messages that wait, as many as there is room for.
    fn write(&mut self, connection: &mut Connection) {
        let mut pong = None;
        while self.has_room(connection) {
            let Ok(job) = self.jobs.try_recv() else { break };
            let (subject, rest) = job.bytes.split_at(job.subject);
            let (headers, payload) = rest.split_at(job.headers);
            let limit = connection.info().max_payload;
            if limit > 0 && rest.len() > limit {
                let words = "larger than the server's max_payload";
                self.finish(job.token, now_ns(), Some(words.to_owned()));
                continue;
            }
            if !headers.is_empty() && !connection.info().headers {
                let words = "the server does not take headers";
                self.finish(job.token, now_ns(), Some(words.to_owned()));
                continue;
            }
            // Was a `&str` before.
            let subject = std::str::from_utf8(subject).unwrap_or_default();
            let sent_as =
                |due| Sent { token: job.token, subject: subject.into(), due, refused: false };
            match &mut self.waiting {
                Waiting::Pongs(sent) => {
                    publish(connection.out(), subject, None, headers, payload);
                    let pong = *pong.get_or_insert_with(|| connection.pings_sent() + 1);
                    sent.push_back(sent_as(pong));
                }
                Waiting::Answers { first, sent, open } => {
                    let (number, inbox) = connection.answer_subject();
                    publish(connection.out(), subject, Some(&inbox), headers, payload);
                    if sent.is_empty() {
                        *first = number;
                    }
                    sent.push_back(Some(sent_as(now_ns() + ANSWER_NS_MAX)));
                    *open += 1;
                }
            }
        }
        if pong.is_some() {
            connection.ping();
        }
    }

    fn take(&mut self, connection: &Connection, event: Event) {
        let read_ns = connection.read_ns();
        match event {
            Event::Message(place) => self.take_answer(connection, &place),
            Event::Pong => {
                let pongs = connection.pongs();
                while let Waiting::Pongs(sent) = &mut self.waiting
                    && let Some(done) = sent.pop_front_if(|sent| sent.due <= pongs)
                {
                    let error = done.refused.then(|| REFUSED.to_owned());
                    self.finish(done.token, read_ns, error);
                }
            }
            Event::Refused(words) => self.take_refusal(connection, &words),
        }
    }

    /// `Permissions Violation for Publish to "subject"`. It comes before the next pong, and a
    /// message that it is about never comes to a stream.
    fn take_refusal(&mut self, connection: &Connection, words: &str) {
        let Some(subject) = words.split('"').nth(1) else { return };
        if words.to_ascii_lowercase().contains("subscription") {
            self.fail_written("the user may not subscribe to the answers' subjects");
            return;
        }
        let mut refused = Vec::new();
        match &mut self.waiting {
            Waiting::Pongs(sent) => {
                let next = connection.pongs() + 1;
                let batch = sent.iter_mut().take_while(|sent| sent.due <= next);
                batch.filter(|sent| *sent.subject == *subject).for_each(|sent| sent.refused = true);
            }
            Waiting::Answers { sent, open, .. } => {
                for slot in sent {
                    if let Some(sent) = slot.take_if(|sent| *sent.subject == *subject) {
                        refused.push(sent.token);
                        *open -= 1;
                    }
                }
            }
        }
        for token in refused {
            self.finish(token, connection.read_ns(), Some(REFUSED.to_owned()));
        }
    }

    fn take_answer(&mut self, connection: &Connection, place: &Place) {
        let message = connection.message(place);
        let Some(number) = connection.answered(message.subject) else { return };
        let Waiting::Answers { first, sent, open } = &mut self.waiting else { return };
        let index = number.checked_sub(*first).and_then(|index| usize::try_from(index).ok());
        let slot = index.and_then(|index| sent.get_mut(index));
        let Some(done) = slot.and_then(Option::take) else { return };
        *open -= 1;
        while sent.pop_front_if(|slot| slot.is_none()).is_some() {
            *first += 1;
        }
        let error = refusal(self.stream.as_deref().unwrap_or_default(), &message);
        self.finish(done.token, connection.read_ns(), error);
    }

    /// Gives up on answers that do not come.
    fn expire(&mut self) {
        let now = now_ns();
        loop {
            let Waiting::Answers { first, sent, open } = &mut self.waiting else { return };
            let late = |slot: &mut Option<Sent>| slot.as_ref().is_none_or(|sent| sent.due <= now);
            let Some(slot) = sent.pop_front_if(late) else { return };
            *first += 1;
            if let Some(sent) = slot {
                *open -= 1;
                self.finish(sent.token, now, Some("no answer from the stream in 10 s".to_owned()));
            }
        }
    }

    /// The end of every message that was written and not acknowledged.
    fn fail_written(&mut self, why: &str) {
        let now = now_ns();
        let nothing = Self::nothing(&self.stream);
        match std::mem::replace(&mut self.waiting, nothing) {
            Waiting::Pongs(sent) => {
                for sent in sent {
                    self.finish(sent.token, now, Some(why.to_owned()));
                }
            }
            Waiting::Answers { sent, .. } => {
                for sent in sent.into_iter().flatten() {
                    self.finish(sent.token, now, Some(why.to_owned()));
                }
            }
        }
    }

    fn refuse_queued(&mut self, why: &str) {
        let queued = self.jobs.len();
        for _ in 0..queued {
            let Ok(job) = self.jobs.try_recv() else { break };
            self.finish(job.token, now_ns(), Some(why.to_owned()));
        }
    }

    fn finish(&mut self, token: u64, acked_ns: u64, error: Option<String>) {
        // Room for every pending message; it only fails when the publisher has been dropped.
        let _dropped = self.finished.try_send(Outcome { token, acked_ns, error });
        self.told = true;
    }

    fn tell(&mut self) {
        if std::mem::take(&mut self.told) {
            (self.wake)();
        }
    }
}

/// Why a stream did not keep a message; `None`: it did.
fn refusal(stream: &str, message: &crate::connection::Message<'_>) -> Option<String> {
    if status(message.headers).is_some_and(|status| status.code == 503) {
        return Some("no stream takes this subject".to_owned());
    }
    let Ok(answer) = serde_json::from_slice::<PublishAnswer>(message.payload) else {
        return Some("an answer that is not a stream's".to_owned());
    };
    if let Some(error) = answer.error {
        // `wrong last sequence: 7`: what is counted by words has no numbers.
        let words = error.description;
        let end = words.find(": ").filter(|at| words[at + 2..].bytes().all(|b| b.is_ascii_digit()));
        return Some(words[..end.unwrap_or(words.len())].to_owned());
    }
    if answer.stream != stream {
        return Some("kept by another stream than the channel's".to_owned());
    }
    answer
        .duplicate
        .then(|| "duplicate: the stream has had a message of this Nats-Msg-Id".to_owned())
}
