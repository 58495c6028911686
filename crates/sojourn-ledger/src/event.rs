//! An observation as the ledger keeps it: hashes in place of keys.

use smallvec::SmallVec;

use crate::hash::{KeyHash, fold_message_id};
use crate::{Marker, More, Observation};

/// An event, ready to be matched now or later.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) stamp_ns: u64,
    /// Folded; zero for none.
    pub(crate) message_id: u32,
    pub(crate) channel: u16,
    pub(crate) marker: Marker,
    pub(crate) fits: SmallVec<[Fit; 1]>,
    /// What it holds for some of the fits, by kind and stage; mostly nothing.
    pub(crate) more: Vec<(u16, u8, Box<More>)>,
}

/// A stage that an event fits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fit {
    pub(crate) hash: KeyHash,
    /// Zero for none: events without a member value are one member.
    pub(crate) member: u64,
    pub(crate) kind: u16,
    pub(crate) stage: u8,
    pub(crate) check_failed: bool,
}

impl Event {
    /// `is_known` says whether the plan has such a stage; others are left out. Of `common_stages`,
    /// where there are any, kinds choose theirs later, and a key names a journey of any kind.
    pub(crate) fn new(
        stamp_ns: u64,
        observation: &mut Observation,
        common_stages: Option<u8>,
        mut is_known: impl FnMut(u16, u8) -> bool,
    ) -> Self {
        let mut hashed: Option<(&[u8], KeyHash)> = None;
        let mut fits = SmallVec::new();
        let mut more = Vec::new();
        for candidate in &mut observation.candidates {
            let is_known = match common_stages {
                Some(stages) => candidate.stage < stages,
                None => is_known(candidate.kind, candidate.stage),
            };
            if !is_known {
                continue;
            }
            // Candidates of one event mostly share their key.
            let key = candidate.key.as_bytes();
            let hash = match hashed {
                Some((same, hash)) if same == key => hash,
                _ => KeyHash::of(&candidate.key),
            };
            hashed = Some((key, hash));
            fits.push(Fit {
                hash: hash.of_kind(if common_stages.is_some() { 0 } else { candidate.kind }),
                member: candidate.member.unwrap_or(0),
                kind: candidate.kind,
                stage: candidate.stage,
                check_failed: candidate.check_failed,
            });
            if let Some(held) = candidate.more.take() {
                more.push((candidate.kind, candidate.stage, held));
            }
        }
        Self {
            stamp_ns,
            message_id: fold_message_id(observation.message_id),
            channel: observation.channel,
            marker: observation.marker,
            fits,
            more,
        }
    }

    /// The same as seen by a journey that some keys name: only these fits are left, and each is of
    /// the stage that the journey's kind has chosen. What was taken besides is dropped.
    pub(crate) fn seen_by(mut self, own: impl Fn(&Fit) -> Option<Fit>) -> Self {
        self.fits = self.fits.iter().filter_map(own).collect();
        self.more.clear();
        self
    }

    /// What it holds for one of its fits.
    #[inline]
    pub(crate) fn more(&self, kind: u16, stage: u8) -> Option<&More> {
        let mut held = self.more.iter();
        held.find(|(of, at, _)| *of == kind && *at == stage).map(|(_, _, more)| &**more)
    }
}
