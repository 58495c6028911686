//! Events of a simulation: to the ledger as a tap's facts, and to the clients that wait for them.

use std::collections::VecDeque;
use std::sync::Arc;

use crossbeam_channel::Sender;
use smallvec::SmallVec;
use sojourn_ledger::{Batch, Candidate, Fact, Key, Marker, Observation};
use sojourn_session::EventLoad;

use super::TAP;
use crate::generator::{Arrived, Inbox, Inboxes, Outbox, Rhythm, StageFit};

/// Facts that wait for a place in the ledger's channel.
const FACTS_MAX: usize = 1_000_000;

/// A tap that hears of events as they are caused.
pub(super) struct Tap {
    load: EventLoad,
    inboxes: Inboxes,
    facts: Outbox,
    /// When, of which stage, under which key; in their order.
    events: VecDeque<(u64, u16, Vec<u8>)>,
    /// How far it has seen, by channel.
    seen_ns: Vec<u64>,
}

impl Tap {
    pub(super) fn of(load: Option<&EventLoad>, facts: &Sender<Batch>) -> Option<Self> {
        let load = load?.clone();
        let channels = load.channels.iter().flatten().max().map_or(0, |&last| last + 1);
        Some(Self {
            seen_ns: vec![0; channels],
            inboxes: Inboxes::new(load.clone()),
            load,
            facts: Outbox::new(TAP, facts.clone(), FACTS_MAX),
            events: VecDeque::new(),
        })
    }

    pub(super) fn inbox(&mut self) -> Inbox {
        self.inboxes.inbox(&Arc::default())
    }

    pub(super) fn next_ns(&self) -> u64 {
        self.events.front().map_or(u64::MAX, |(at_ns, ..)| *at_ns)
    }

    /// An event will come, none that is known before this one.
    pub(super) fn expect(&mut self, at_ns: u64, stage: u16, key: Vec<u8>) {
        self.events.push_back((at_ns, stage, key));
    }

    /// Nothing further comes.
    pub(super) fn finish(&mut self, now_ns: u64) {
        self.facts.finish(now_ns);
    }

    /// Passes on what has come by now, and says how far it has seen.
    pub(super) fn poll(&mut self, now_ns: u64) {
        while let Some((at_ns, stage, key)) = self.events.pop_front_if(|it| it.0 <= now_ns) {
            self.pass(at_ns, stage, &key);
        }
        self.seen_ns.fill(now_ns);
        self.inboxes.seen(&self.seen_ns);
        self.facts.flush_in(Rhythm::RELAXED, now_ns, now_ns);
    }

    fn pass(&mut self, stamp_ns: u64, stage: u16, key: &[u8]) {
        let channel = self.load.channels.get(usize::from(stage)).copied().flatten();
        let (Some(channel), Some(own)) = (channel, Key::new(key)) else { return };
        let mut candidates: SmallVec<[Candidate; 1]> = SmallVec::new();
        for (kind, stages) in (0u16..).zip(&self.load.stages) {
            for (place, _) in (0u8..).zip(stages).filter(|(_, known)| **known == stage) {
                candidates.push(Candidate {
                    kind,
                    stage: place,
                    key: own.clone(),
                    member: None,
                    check_failed: false,
                    more: None,
                });
            }
        }
        let observation = Observation {
            // A plan has at most a hundred channels.
            channel: channel as u16,
            candidates,
            message_id: None,
            marker: Marker::Absent,
            undecodable: false,
        };
        self.facts.push(stamp_ns, Fact::Observed(Box::new(observation)));
        let fits = SmallVec::from_iter([StageFit { stage, key: key.into(), member: None }]);
        let arrived = Arrived { stamp_ns, fits, headers: Vec::new(), body: Box::default() };
        self.inboxes.pass(&Arc::new(arrived));
    }
}
