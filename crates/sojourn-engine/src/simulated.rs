//! A run of sessions in simulated time: without sockets, without threads, as fast as it can be
//! computed.
//!
//! Generator, observer with its ledger, and the figures' store are those of every run, and what
//! they tell each other goes the same ways. Only time, answers and events come from here.

mod tap;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, bounded, never};
use sojourn_clock::{Anchor, SECOND_NS, now_ns};
use sojourn_http::{BodyPolicy, Completion, Exchange, Origin, OriginId, PeerId, Response, Timings};
use sojourn_ledger::{Balance, Batch, SourceId};
use sojourn_metrics::{Snapshot, Store};
use sojourn_plan::Plan;

use crate::{
    RunOptions, Sessions,
    generator::{GeneratorSpec, Publishers, SessionGenerator, World},
    health::Connections,
    link::{FromGenerator, ToGenerator},
    observer::{FromObserver, Observer, ObserverSpec},
    poller::PollSender,
    work::Work,
};
use tap::Tap;

const GENERATOR: SourceId = SourceId(0);
const TAP: SourceId = SourceId(1);
/// Batches and reports on their way: they are taken at every turn.
const WAYS: usize = 4_096;
/// What answers begin with.
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";

/// What a request comes to.
#[derive(Clone, Debug, Default)]
pub struct Answered {
    /// The answer's body; its status is 200.
    pub body: Vec<u8>,
    /// The event that it causes: the number of a stage among those that the script declares, and
    /// the key.
    pub causes: Option<(u16, Vec<u8>)>,
}

/// Who answers, and when.
pub struct Peer<'a> {
    /// The answer to a request's whole message.
    pub answer: &'a mut dyn FnMut(&[u8]) -> Answered,
    /// How long after a request its answer comes, nanoseconds.
    pub answer_ns: u64,
    /// How long after a request its event comes, nanoseconds.
    pub event_ns: u64,
}

/// What a simulated run came to.
#[derive(Debug)]
pub struct Simulated {
    /// All figures, as they stand in a run file at its end.
    pub figures: Store,
    /// The ledger's book.
    pub balance: Balance,
}

/// Runs sessions against `peer` until the last client has ended, and calls `each_second` with the
/// number of every simulated second that is over. Sessions that publish can't be simulated. Errs in
/// words with what would make a run void, but for what real time makes so.
pub fn simulate<'a>(
    plan: Plan,
    sessions: Sessions,
    peer: Peer<'a>,
    each_second: &'a mut dyn FnMut(u64),
) -> Result<Simulated, String> {
    if sessions.events.as_ref().is_some_and(|events| !events.published.is_empty()) {
        return Err("messages need a broker: there is none in a simulation".to_owned());
    }
    let plan = Arc::new(plan);
    let options = RunOptions::new(None, "simulated".to_owned());
    let anchor = Anchor::now();
    let start_ns = now_ns();
    let (facts, batches) = bounded(WAYS);
    let (reports_sender, reports) = bounded(WAYS);
    let (control_sender, control) = bounded(WAYS);
    let (spare_sender, spares) = bounded(2);
    let (told_sender, told) = bounded(WAYS);
    let mut tap = Tap::of(sessions.events.as_ref(), &facts);
    let spec = GeneratorSpec {
        index: 0,
        of: 1,
        process: None,
        plan: Arc::clone(&plan),
        options: options.clone(),
        work: Work::Journeys,
        anchor,
        variables: Vec::new(),
        facts,
        reports: reports_sender,
        control,
        actors: never(),
        spares,
        polls: PollSender::nowhere(),
        publishers: Publishers::default(),
        inbox: tap.as_mut().map(Tap::inbox),
        waker: Arc::default(),
    };
    let observer = Observer::new(
        observer_spec(&plan, (options, anchor), tap.is_some(), told_sender),
        start_ns,
    );
    let mut outside = Outside {
        now_ns: start_ns,
        start_ns,
        seconds: 0,
        peer,
        each_second,
        answers: VecDeque::new(),
        origins: 0,
        tap,
        ways: Ways { batches, reports, told, control: control_sender, spares: spare_sender },
        observer,
        book: Book::default(),
    };
    SessionGenerator::new(spec, Arc::new(sessions), &mut outside, start_ns).run()?;
    outside.finish()
}

fn observer_spec(
    plan: &Arc<Plan>,
    (options, anchor): (RunOptions, Anchor),
    has_tap: bool,
    reports: Sender<FromObserver>,
) -> ObserverSpec {
    let mut sources = vec![(GENERATOR, "generator".to_owned())];
    sources.extend(has_tap.then(|| (TAP, "tap".to_owned())));
    ObserverSpec {
        plan: Arc::clone(plan),
        options,
        // The generator's recorder is number 0.
        recorder_number: sources.len() as u32,
        sources,
        anchor,
        rings: Vec::new(),
        batches: never(),
        losses: never(),
        patience_ns: 0,
        reports,
        generators: Vec::new(),
        poll_ends: None,
        followed: None,
        state: Arc::default(),
    }
}

/// All that is not the generator.
struct Outside<'a> {
    now_ns: u64,
    start_ns: u64,
    /// Seconds that are over.
    seconds: u64,
    peer: Peer<'a>,
    each_second: &'a mut dyn FnMut(u64),
    /// In the order in which they come.
    answers: VecDeque<Completion>,
    /// How many were numbered.
    origins: u32,
    tap: Option<Tap>,
    ways: Ways,
    observer: Observer,
    book: Book,
}

/// The ends of what generator and observer speak into.
struct Ways {
    batches: Receiver<Batch>,
    reports: Receiver<(u32, FromGenerator)>,
    told: Receiver<FromObserver>,
    control: Sender<ToGenerator>,
    spares: Sender<Box<Snapshot>>,
}

/// What the coordinator would know.
#[derive(Default)]
struct Book {
    figures: Store,
    balance: Option<Balance>,
    /// What would make the run void; the first explains the others.
    wrong: Option<String>,
}

impl World for &mut Outside<'_> {
    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn wait_until(&mut self, deadline_ns: u64, done: &mut Vec<Completion>) -> io::Result<()> {
        let answer_ns = self.answers.front().map_or(u64::MAX, |answer| answer.ended_ns);
        let event_ns = self.tap.as_ref().map_or(u64::MAX, Tap::next_ns);
        let now_ns = deadline_ns.min(answer_ns).min(event_ns).max(self.now_ns);
        self.now_ns = now_ns;
        while let Some(answer) = self.answers.pop_front_if(|answer| answer.ended_ns <= now_ns) {
            done.push(answer);
        }
        if let Some(tap) = &mut self.tap {
            tap.poll(now_ns);
        }
        self.hear();
        if now_ns >= self.start_ns + (self.seconds + 1) * SECOND_NS {
            self.seconds += 1;
            self.observer.report(now_ns);
            (self.each_second)(self.seconds);
        }
        Ok(())
    }

    fn send(&mut self, now_ns: u64, exchange: Exchange<'_>) {
        let Answered { mut body, causes } = (self.peer.answer)(exchange.bytes);
        let body_bytes = body.len() as u64;
        let head = match exchange.body {
            BodyPolicy::Keep { .. } | BodyPolicy::Truncate { .. } => HEAD.to_vec(),
            _ => Vec::new(),
        };
        match exchange.body {
            BodyPolicy::Keep { .. } => {}
            BodyPolicy::Truncate { bytes_max } => body.truncate(bytes_max),
            _ => body.clear(),
        }
        let timings = Timings { wait_ns: self.peer.answer_ns, ..Timings::default() };
        self.answers.push_back(Completion {
            token: exchange.token,
            began_ns: now_ns,
            ended_ns: now_ns + self.peer.answer_ns,
            timings,
            bytes_out: exchange.bytes.len() as u64,
            bytes_in: HEAD.len() as u64 + body_bytes,
            peer: PeerId::default(),
            outcome: Ok(Response { status: 200, head, body, body_bytes }),
        });
        if let (Some(tap), Some((stage, key))) = (&mut self.tap, causes) {
            tap.expect(now_ns + self.peer.event_ns, stage, key);
        }
    }

    fn own_origin(&mut self, _origin: &Origin) -> OriginId {
        self.origins += 1;
        OriginId(self.origins)
    }

    fn close_idle(&mut self, _origin: OriginId) {}

    fn is_behind(&self) -> bool {
        false
    }

    fn connections(&self) -> Connections {
        // There are none.
        Connections { open: 0, opened: 0 }
    }
}

impl Outside<'_> {
    /// Takes all that generator, tap and observer have said.
    fn hear(&mut self) {
        let mut has_news = false;
        while let Ok(batch) = self.ways.batches.try_recv() {
            self.observer.push(batch);
            has_news = true;
        }
        if has_news {
            self.observer.apply();
        }
        while let Ok((_, said)) = self.ways.reports.try_recv() {
            match said {
                FromGenerator::Snapshot(snapshot) => {
                    self.book.take(&snapshot);
                    // One that finds no place is made anew.
                    let _ignored = self.ways.spares.try_send(snapshot);
                }
                FromGenerator::Idle => {
                    let _ignored = self.ways.control.try_send(ToGenerator::Abort);
                }
                _ => {}
            }
        }
        while let Ok(said) = self.ways.told.try_recv() {
            self.book.hear(said);
        }
    }

    /// Closes the book.
    fn finish(mut self) -> Result<Simulated, String> {
        if let Some(tap) = &mut self.tap {
            tap.finish(self.now_ns);
        }
        self.hear();
        let Self { observer, ways, mut book, now_ns, .. } = self;
        observer.close(now_ns);
        ways.told.try_iter().for_each(|said| book.hear(said));
        let Book { figures, balance, wrong } = book;
        match (wrong, balance) {
            (Some(wrong), _) => Err(wrong),
            (None, Some(balance)) => Ok(Simulated { figures, balance }),
            (None, None) => Err("the book was not closed".to_owned()),
        }
    }
}

impl Book {
    fn take(&mut self, snapshot: &Snapshot) {
        if let Err(why) = self.figures.apply(snapshot) {
            self.wrong.get_or_insert(why);
        }
    }

    fn hear(&mut self, said: FromObserver) {
        match said {
            FromObserver::Snapshot(snapshot) => self.take(&snapshot),
            FromObserver::Void(why) => {
                self.wrong.get_or_insert(why);
            }
            FromObserver::Closed { balance, .. } => {
                if let Some(why) = balance.imbalance() {
                    self.wrong.get_or_insert(why);
                }
                self.balance = Some(*balance);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
