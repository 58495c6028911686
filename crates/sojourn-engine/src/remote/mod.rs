//! Generators in processes of their own, for what one process may not have: descriptors, mostly.
//!
//! ```text
//!   coordinator ──ToProcess───> socket ──> generator threads of a process
//!   book, ledger <──FromProcess─ socket <── their reports and facts
//! ```
//!
//! Their threads are the same as those of a run in one process and say the same; links carry it.
//! Taps are the coordinator's alone: an event that clients of sessions may wait for goes to every
//! process, and from there to each of its threads. So is the poller: journeys with polled stages
//! are handed over to it. So is what writes an attack's results: processes pass their records on.
//! Generator `i` of `n` has the same share of the arrivals wherever it is. A process makes its plan
//! itself, of the same words on the command line, and compares it with the coordinator's.
//!
//! Processes are started here ([`Processes`]): then their socket is their standard input, and they
//! end when it does; one that is gone makes the run void. Or they have dialled in from anywhere
//! ([`Fleet`]): then the socket is the near end of a link that survives cuts, their clocks are set,
//! what they make their plan of is sent along ([`Parcel`]), and what becomes of the run without one
//! of them is the user's choice ([`OnLoss`]).

mod far;
mod fingerprint;
mod fleet;
mod incoming;
mod launch;
mod near;
mod outgoing;
mod parcel;
mod peer;
mod told;
mod wire;

use std::{
    io::{self, Read},
    ops::Range,
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use sojourn_clock::Anchor;
use sojourn_ledger::Batch;
use sojourn_session::Offer;

use crate::{
    attack::Chunk,
    generator::Arrived,
    link::{FromGenerator, ToActor, ToGenerator},
    poller::Task,
};

pub use far::{Joined, OwnLink};
pub(crate) use fingerprint::fingerprint;
pub use fleet::{Fleet, FleetTerms, OnLoss};
pub use launch::{Launched, launch};
pub(crate) use near::{Heard, Process};
pub use parcel::Parcel;
pub(crate) use peer::name_of;
pub(crate) use told::Told;
pub use wire::{read as read_message, write as write_message};

/// The subcommand that a process of generators is started with.
pub const SUBCOMMAND: &str = "generator";

/// Generators in processes of their own.
#[derive(Clone, Debug)]
pub struct Processes {
    /// How many processes, each with as many threads as the run's options say.
    pub count: u32,
    /// The command line of this run, without the program's name: what each makes its plan of.
    pub words: Vec<String>,
    /// What it is to be made of where that may be elsewhere than in the files and on the standard
    /// input of a process here; `None`: each reads for itself.
    pub parcel: Option<Arc<Parcel>>,
    /// Those that have dialled in; `None`: they are started here.
    pub fleet: Option<Fleet>,
}

/// What a process of generators is to do.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Assignment {
    pub(crate) words: Vec<String>,
    /// Of the coordinator's plan and work.
    pub(crate) fingerprint: u64,
    pub(crate) run_id: String,
    /// Its own generators' numbers…
    pub(crate) generators: Range<u32>,
    /// …of so many in the run.
    pub(crate) of: u32,
    /// When the run's wall time was read, CLOCK_MONOTONIC nanoseconds, and what it was.
    pub(crate) anchor_ns: (u64, u64),
    /// Where it finds the large files of the work, on the same machine.
    pub(crate) files: Offer,
    /// All that plan and work are made of, where that may be elsewhere.
    pub(crate) parcel: Option<Arc<Parcel>>,
    /// Results of an attack are passed on.
    pub(crate) passes_results: bool,
    /// What setup steps left.
    pub(crate) variables: Vec<Option<Box<str>>>,
}

impl Assignment {
    fn anchor(&self) -> Anchor {
        Anchor { monotonic_ns: self.anchor_ns.0, unix_ns: self.anchor_ns.1 }
    }
}

/// Coordinator to process.
#[derive(Debug, Serialize, Deserialize)]
enum ToProcess {
    /// First and once.
    Begin(Box<Assignment>),
    /// To the generator of this number.
    Generator(u32, ToGenerator),
    /// To an actor of the generator of this number.
    Actor(u32, ToActor),
    /// To all its generators, whose clients may wait for it.
    Event(Arc<Arrived>),
    /// Of each channel of the plan: all events of before this instant have been sent.
    Seen(Vec<u64>),
    /// So many events found no room on their way to it.
    EventsRefused(u64),
}

/// Process to coordinator.
#[derive(Debug, Serialize, Deserialize)]
enum FromProcess {
    /// Its generators stand; what each waits with.
    Ready(Vec<String>),
    /// It cannot do what it should: why, and what to do.
    Refused(String, Option<String>),
    /// It ends before its time: why. What it has told is all that there will be.
    Leaves(String),
    /// Of the generator of this number.
    Report(u32, FromGenerator),
    /// Of one of its generators.
    Facts(Batch),
    /// A journey's stage is to be polled. Comes before the facts that may end the journey.
    Poll(Task),
    /// Of one of its generators.
    Results(Chunk),
}

/// A generator's report as its process sends it.
pub(crate) fn sent_report(index: u32, report: FromGenerator) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    wire::write(&mut bytes, &FromProcess::Report(index, report))?;
    Ok(bytes)
}

/// A generator's report, with its number, from what a process sent.
pub(crate) fn read_report(from: &mut impl Read) -> io::Result<(u32, FromGenerator)> {
    match wire::read(from)? {
        Some(FromProcess::Report(index, report)) => Ok((index, report)),
        _ => Err(io::Error::other("this is no report of a generator")),
    }
}

#[cfg(test)]
mod tests {
    use std::{io::BufReader, os::unix::net::UnixStream, sync::OnceLock};

    use smallvec::SmallVec;
    use sojourn_session::EventLoad;

    use super::*;
    use crate::generator::{Inboxes, StageFit};

    fn load() -> EventLoad {
        let (published, expected) = (Vec::new(), Vec::new());
        let (stages, is_kept) = (Vec::new(), Vec::new());
        EventLoad { published, expected, sessions: 0, stages, is_kept, channels: vec![Some(0)] }
    }

    fn event(number: u64) -> Arc<Arrived> {
        let fit = StageFit { stage: 3, key: number.to_le_bytes().as_slice().into(), member: None };
        Arc::new(Arrived {
            stamp_ns: number,
            fits: SmallVec::from_iter([fit]),
            headers: vec![("Tenant".to_owned(), "ä".to_owned())],
            body: vec![0, 255, 10].into(),
        })
    }

    /// From the taps' side through a link to two generators of a process.
    #[test]
    fn events_and_how_far_taps_saw_reach_every_generator_and_refusals_are_counted_once() {
        let mut near = Inboxes::new(load());
        let mut inbox = near.of_process();
        (0..5).for_each(|number| near.pass(&event(number)));
        near.refused(7);
        near.seen(&[5]);
        drop(near);
        let (to, from) = UnixStream::pair().unwrap();
        near::Link::of(to).events(&mut inbox);

        let mut far = Inboxes::new(load());
        let waker = Arc::<OnceLock<sojourn_http::Waker>>::default();
        let mut inboxes = [far.inbox(&waker), far.inbox(&waker)];
        let mut from = BufReader::new(from);
        while let Some(message) = wire::read::<ToProcess>(&mut from).unwrap() {
            match message {
                ToProcess::Event(arrived) => far.pass(&arrived),
                ToProcess::Seen(seen_ns) => far.seen(&seen_ns),
                ToProcess::EventsRefused(count) => far.refused(count),
                other => panic!("{other:?}"),
            }
        }
        for inbox in &mut inboxes {
            let mut came = Vec::new();
            inbox.take(9, |arrived| came.push(format!("{arrived:?}")));
            let sent: Vec<_> = (0..5).map(|number| format!("{:?}", event(number))).collect();
            assert_eq!((came, inbox.taken_ns()), (sent, &[5][..]));
        }
        assert_eq!(inboxes.map(|inbox| inbox.take_refused()), [7, 0]);
    }
}
