//! From a message to the stages it fits.

use std::collections::HashMap;

use smallvec::SmallVec;
use sojourn_ledger::{Candidate, Marker, Observation};
use sojourn_plan::{Decoder, Plan, Selector};

use crate::decode::Reading;
use crate::rule::{Fit, Rule, selects_envelope};
use crate::select::find;
use crate::text::hash;
use crate::{OpenDecoder, Position, RawMessage};

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
    /// Last offset read, by partition. Bounded by the number of partitions.
    offsets: HashMap<u64, u64>,
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
        let keep_envelope = rules.iter().any(Rule::looks_into_envelope)
            || marker.iter().chain(&message_id).any(selects_envelope);
        Self {
            channel: u16::try_from(channel).unwrap_or(u16::MAX),
            run_id: run_id.to_owned(),
            decoder: OpenDecoder::plain(
                declared.map_or(Decoder::Auto, |channel| channel.decoder.clone()),
            ),
            marker,
            message_id,
            rules,
            keep_envelope,
            offsets: HashMap::new(),
            rereads: 0,
            samples: Vec::new(),
        }
    }

    /// The same with the channel's decoder, opened.
    #[must_use]
    pub fn with_decoder(mut self, decoder: OpenDecoder) -> Self {
        self.decoder = decoder;
        self
    }

    /// Reads a message and says what it could be. `None` when it is a re-read of our own, dropped
    /// by position and counted in [`Self::rereads`].
    ///
    /// Undecodable is a message that fits a stage but has no key for it, and one whose payload
    /// can't be read though that decides whether it fits. A message that fits no stage is not.
    pub fn observe(&mut self, message: &RawMessage<'_>) -> Option<Observation> {
        if let Some(position) = message.position
            && self.is_reread(position)
        {
            self.rereads += 1;
            return None;
        }
        let reading = self.decoder.read(message, self.keep_envelope);
        let (candidates, unkeyed) = if reading.is_tombstone {
            (SmallVec::new(), None)
        } else {
            self.candidates(message, &reading)
        };
        let undecodable = candidates.is_empty() && unkeyed.is_some();
        let observation = Observation {
            channel: self.channel,
            candidates,
            message_id: self.message_id(message, &reading),
            marker: self.marker(message, &reading),
            undecodable,
        };
        if undecodable {
            self.keep_sample(message, &reading, unkeyed);
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

    fn is_reread(&mut self, position: Position) -> bool {
        match self.offsets.get_mut(&position.partition) {
            Some(last) if position.offset <= *last => true,
            Some(last) => {
                *last = position.offset;
                false
            }
            None => {
                self.offsets.insert(position.partition, position.offset);
                false
            }
        }
    }

    /// The stages it fits and has a key for; and the first one that it fits, or might, without a
    /// key.
    fn candidates(
        &self,
        message: &RawMessage<'_>,
        reading: &Reading,
    ) -> (SmallVec<[Candidate; 1]>, Option<usize>) {
        let decoded = &reading.decoded;
        let readable = reading.problem.is_none();
        let mut candidates = SmallVec::new();
        let mut unkeyed = None;
        for (index, rule) in self.rules.iter().enumerate() {
            let key = match rule.fits(message, decoded, readable) {
                Fit::No => continue,
                Fit::Undecided => None,
                Fit::Yes => rule.key(message, decoded),
            };
            match key {
                Some(key) => candidates.push(Candidate {
                    kind: rule.kind,
                    stage: rule.stage,
                    key,
                    member: rule.member(message, decoded),
                    check_failed: rule.check_failed(message, decoded),
                    more: rule.besides.take(message, decoded),
                }),
                None => unkeyed = unkeyed.or(Some(index)),
            }
        }
        (candidates, unkeyed)
    }

    fn message_id(&self, message: &RawMessage<'_>, reading: &Reading) -> Option<u64> {
        match &self.message_id {
            Some(selector) => {
                let found = find(selector, message, &reading.decoded)?;
                let text = found.text()?;
                (!text.is_empty()).then(|| hash(text.as_bytes()))
            }
            None => {
                let id = reading.decoded.message_id.as_deref()?;
                (!id.is_empty()).then(|| hash(id.as_bytes()))
            }
        }
    }

    fn marker(&self, message: &RawMessage<'_>, reading: &Reading) -> Marker {
        let of = |bytes: &[u8]| match bytes {
            [] => Marker::Absent,
            bytes if bytes == self.run_id.as_bytes() => Marker::Ours,
            _ => Marker::Foreign,
        };
        match &self.marker {
            Some(selector) => find(selector, message, &reading.decoded)
                .and_then(|found| found.text().map(|text| of(text.as_bytes())))
                .unwrap_or(Marker::Absent),
            None => message.header(MARKER_HEADER).map_or(Marker::Absent, of),
        }
    }

    fn keep_sample(&mut self, message: &RawMessage<'_>, reading: &Reading, unkeyed: Option<usize>) {
        let reason = match (&reading.problem, unkeyed.and_then(|rule| self.rules.get(rule))) {
            (Some(problem), _) => problem.clone(),
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
