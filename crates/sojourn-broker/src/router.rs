//! From a message to the stages it fits.

use smallvec::SmallVec;
use sojourn_ledger::{Candidate, Marker, Observation};
use sojourn_plan::{Decoder, Plan, Selector};

use crate::glance::Glasses;
use crate::offsets::Offsets;
use crate::rule::{Fit, Rule};
use crate::select::{Seen, find, selects_envelope};
use crate::text::hash;
use crate::{OpenDecoder, RawMessage};

/// Header that carries the run marker unless the channel says otherwise.
const MARKER_HEADER: &str = "sojourn-run";
/// Most samples of undecodable messages kept.
const SAMPLES_MAX: usize = 10;
/// Longest sample, bytes.
const SAMPLE_BYTES_MAX: usize = 200;

/// A channel's stages, matches and keys, compiled from the plan.
#[derive(Debug)]
pub struct Router {
    channel: u16,
    run_id: String,
    decoder: OpenDecoder,
    marker: Option<Selector>,
    message_id: Option<Selector>,
    /// Stages seen on this channel, in declared order.
    rules: Vec<Rule>,
    /// Some selector looks into the envelope, so it is kept.
    keep_envelope: bool,
    /// For what is not to be read whole.
    glasses: Option<Glasses>,
    offsets: Offsets,
    rereads: u64,
    samples: Vec<String>,
}

impl Router {
    /// The router of one channel. A decoder that reads by a schema is to be given opened:
    /// [`Self::with_decoder`].
    pub fn new(plan: &Plan, channel: usize, run_id: &str) -> Self {
        let declared = plan.channels.get(channel);
        let mut rules = Vec::new();
        // The plan's reader refuses more journeys or stages than their indices can number.
        for (kind, journey) in (0..=u16::MAX).zip(&plan.journeys) {
            let stages = (0..=u8::MAX).take(journey.stages.len());
            rules.extend(stages.filter_map(|stage| Rule::compile((kind, journey), stage, channel)));
        }
        let marker = declared.and_then(|channel| channel.marker.clone());
        let message_id = declared.and_then(|channel| channel.message_id.clone());
        let decoder = declared.map_or(Decoder::Auto, |channel| channel.decoder.clone());
        let router = Self {
            channel: u16::try_from(channel).unwrap_or(u16::MAX),
            run_id: run_id.to_owned(),
            decoder: OpenDecoder::default(),
            marker,
            message_id,
            rules,
            keep_envelope: false,
            glasses: None,
            offsets: Offsets::default(),
            rereads: 0,
            samples: Vec::new(),
        };
        let keep_envelope = router.selectors().any(selects_envelope);
        Self { keep_envelope, ..router }.with_decoder(OpenDecoder::plain(decoder))
    }

    /// The same with the channel's decoder, opened.
    #[must_use]
    pub fn with_decoder(mut self, decoder: OpenDecoder) -> Self {
        self.glasses = Glasses::new(decoder.declared(), self.selectors());
        self.decoder = decoder;
        self
    }

    fn selectors(&self) -> impl Iterator<Item = &Selector> {
        let own = self.marker.iter().chain(&self.message_id);
        self.rules.iter().flat_map(Rule::selectors).chain(own)
    }

    /// Reads a message and says what it could be. `None` when it is a re-read of our own, dropped
    /// by position and counted in [`Self::rereads`].
    ///
    /// Undecodable is a message that fits a stage but has no key for it, and one whose payload
    /// can't be read though that decides whether it fits. A message that fits no stage is not.
    pub fn observe(&mut self, message: &RawMessage<'_>) -> Option<Observation> {
        if let Some(position) = message.position
            && self.offsets.is_reread(position)
        {
            self.rereads += 1;
            return None;
        }
        if let Some(observation) = self.glance(message) {
            return Some(observation);
        }
        let reading = self.decoder.read(message, self.keep_envelope);
        let seen = Seen::Whole(&reading.decoded);
        let (candidates, unkeyed) = if reading.is_tombstone {
            (SmallVec::new(), None)
        } else {
            self.candidates(message, seen, reading.problem.is_none())
        };
        let observation = self.observation(message, seen, candidates, unkeyed);
        if observation.undecodable {
            self.keep_sample(message, reading.problem.as_deref(), unkeyed);
        }
        Some(observation)
    }

    /// A message that its tap could not accept as an event: undecodable, for the tap's reason.
    pub fn unacceptable(&mut self, message: &RawMessage<'_>, reason: &str) -> Observation {
        self.push_sample(message, reason);
        Observation {
            channel: self.channel,
            candidates: SmallVec::new(),
            message_id: None,
            marker: Marker::Absent,
            undecodable: true,
        }
    }

    /// Messages dropped because their position had been read before.
    pub fn rereads(&self) -> u64 {
        self.rereads
    }

    /// Samples of undecodable messages, with the reason; at most 10, cut to 200 bytes each.
    pub fn undecodable_samples(&self) -> &[String] {
        &self.samples
    }

    /// The same of a message that need not be read whole.
    fn glance(&mut self, message: &RawMessage<'_>) -> Option<Observation> {
        let glasses = self.glasses.as_mut()?;
        if !glasses.are_on() {
            return None;
        }
        let glance = glasses.look(message);
        glasses.learn(glance.is_some());
        let glance = glance?;
        let seen = Seen::Glanced(glance.view(self.glasses.as_ref()?));
        let (candidates, unkeyed) = self.candidates(message, seen, true);
        let observation = self.observation(message, seen, candidates, unkeyed);
        drop(glance);
        if observation.undecodable {
            self.keep_sample(message, None, unkeyed);
        }
        Some(observation)
    }

    fn observation(
        &self,
        message: &RawMessage<'_>,
        seen: Seen<'_>,
        candidates: SmallVec<[Candidate; 1]>,
        unkeyed: Option<usize>,
    ) -> Observation {
        Observation {
            channel: self.channel,
            undecodable: candidates.is_empty() && unkeyed.is_some(),
            candidates,
            message_id: self.message_id(message, seen),
            marker: self.marker(message, seen),
        }
    }

    /// The stages it fits and has a key for; and the first one that it fits, or might, without a
    /// key.
    fn candidates(
        &self,
        message: &RawMessage<'_>,
        seen: Seen<'_>,
        readable: bool,
    ) -> (SmallVec<[Candidate; 1]>, Option<usize>) {
        let mut candidates = SmallVec::new();
        let mut unkeyed = None;
        for (index, rule) in self.rules.iter().enumerate() {
            let key = match rule.fits(message, seen, readable) {
                Fit::No => continue,
                Fit::Undecided => None,
                Fit::Yes => rule.key(message, seen),
            };
            match key {
                Some(key) => candidates.push(Candidate {
                    kind: rule.kind,
                    stage: rule.stage,
                    key,
                    member: rule.member(message, seen),
                    check_failed: rule.check_failed(message, seen),
                    more: rule.besides.take(message, seen),
                }),
                None => unkeyed = unkeyed.or(Some(index)),
            }
        }
        (candidates, unkeyed)
    }

    fn message_id(&self, message: &RawMessage<'_>, seen: Seen<'_>) -> Option<u64> {
        match &self.message_id {
            Some(selector) => {
                let found = find(selector, message, seen)?;
                let text = found.text()?;
                (!text.is_empty()).then(|| hash(text.as_bytes()))
            }
            None => {
                let id = seen.message_id()?;
                (!id.is_empty()).then(|| hash(id.as_bytes()))
            }
        }
    }

    fn marker(&self, message: &RawMessage<'_>, seen: Seen<'_>) -> Marker {
        let of = |bytes: &[u8]| match bytes {
            [] => Marker::Absent,
            bytes if bytes == self.run_id.as_bytes() => Marker::Ours,
            _ => Marker::Foreign,
        };
        match &self.marker {
            Some(selector) => find(selector, message, seen)
                .and_then(|found| found.text().map(|text| of(text.as_bytes())))
                .unwrap_or(Marker::Absent),
            None => message.header(MARKER_HEADER).map_or(Marker::Absent, of),
        }
    }

    fn keep_sample(
        &mut self,
        message: &RawMessage<'_>,
        problem: Option<&str>,
        unkeyed: Option<usize>,
    ) {
        let reason = match (problem, unkeyed.and_then(|rule| self.rules.get(rule))) {
            (Some(problem), _) => problem.to_owned(),
            (None, Some(rule)) => format!("no key at {} for {}", rule.key_place(), rule.name),
            (None, None) => return,
        };
        self.push_sample(message, &reason);
    }

    fn push_sample(&mut self, message: &RawMessage<'_>, reason: &str) {
        if self.samples.len() >= SAMPLES_MAX {
            return;
        }
        let head = &message.payload[..message.payload.len().min(SAMPLE_BYTES_MAX)];
        let shown = String::from_utf8_lossy(head).replace(char::is_control, " ");
        let mut sample = format!("{}: {reason}: {shown}", message.topic);
        sample.truncate(sample.floor_char_boundary(SAMPLE_BYTES_MAX));
        self.samples.push(sample);
    }
}

#[cfg(test)]
#[path = "router_tests.rs"]
mod tests;
