//! Journeys on their way to the poller, from generators wherever they are.

use crossbeam_channel::{Receiver, Sender};
use serde::{Deserialize, Serialize};
use sojourn_ledger::JourneyId;
use sojourn_plan::{Plan, RenderContext, StageSource, VariableId};

use crate::generator::Arrival;

/// Journeys handed over and not yet taken up.
const HAND_OVER_MAX: usize = 10_000;
/// Ends of journeys told and not yet heard: what the ledger decides between two looks.
const ENDS_MAX: usize = 262_144;

/// Where generators hand journeys over for polling.
#[derive(Clone, Debug)]
pub(crate) struct PollSender(Option<Sender<Task>>);

/// One journey's polled stage.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(super) journey: JourneyId,
    pub(super) kind: u16,
    pub(super) stage: u8,
    /// When the journey's root had completed, by its generator's clock. That may be a little ahead
    /// of the poller's, which is another machine's; the state is asked for only after it.
    pub(super) handed_ns: u64,
    /// When to give up: the end of the journey's observation, nanoseconds.
    pub(super) until_ns: u64,
    /// What its requests are rendered from, each anew: a token may have been renewed.
    pub(super) k: u64,
    pub(super) key: Box<str>,
    #[serde(with = "by_number")]
    pub(super) own: Vec<(VariableId, Box<str>)>,
}

/// A journey with polled stages has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) journey: JourneyId,
    /// Completed, late or not: what it may still reach is asked for until its observation ends.
    pub(crate) complete: bool,
}

/// The poller's ends of its channels.
pub(crate) struct HandOver {
    pub(crate) tasks: Receiver<Task>,
    pub(super) ended: Receiver<Ended>,
}

/// Both sides of the hand-over; nothing to hand over to when the plan polls nothing.
pub(crate) fn channel(plan: &Plan) -> (PollSender, Option<(HandOver, Sender<Ended>)>) {
    if !plan.journeys.iter().any(is_polled) {
        return (PollSender::nowhere(), None);
    }
    let (sender, tasks) = crossbeam_channel::bounded(HAND_OVER_MAX);
    let (ended_sender, ended) = crossbeam_channel::bounded(ENDS_MAX);
    (PollSender(Some(sender)), Some((HandOver { tasks, ended }, ended_sender)))
}

/// Whether some stage of a journey is polled.
pub(crate) fn is_polled(journey: &sojourn_plan::Journey) -> bool {
    journey.stages.iter().any(|stage| matches!(stage.source, StageSource::Poll(_)))
}

impl PollSender {
    /// For plans that poll nothing.
    pub(crate) fn nowhere() -> Self {
        Self(None)
    }

    /// Begins to poll a journey's stage whose root had completed at `handed_ns`; false when the
    /// bounded hand-over is full, which the caller counts as refused.
    #[must_use]
    pub(crate) fn start(
        &self,
        plan: &Plan,
        (arrival, handed_ns): (&Arrival, u64),
        stage: usize,
        values: &RenderContext<'_>,
    ) -> bool {
        let journey = &plan.journeys[usize::from(arrival.kind)];
        let Some(sender) = &self.0 else {
            return true;
        };
        let task = Task {
            journey: arrival.journey,
            kind: arrival.kind,
            stage: stage as u8,
            handed_ns,
            until_ns: arrival.t0_ns + journey.within_ns + journey.linger_ns,
            k: values.k,
            key: values.key.into(),
            own: values.own.to_vec(),
        };
        sender.try_send(task).is_ok()
    }

    /// Hands over what another process has, waiting for room: the poller makes some every other
    /// millisecond.
    pub(crate) fn pass(&self, task: Task) {
        // A poller that has ended asks for nothing more.
        let _ignored = self.0.as_ref().map(|sender| sender.send(task));
    }
}

/// Values of variables by their numbers, which are all that goes to another process.
mod by_number {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use sojourn_plan::VariableId;

    type Own = Vec<(VariableId, Box<str>)>;

    pub(super) fn serialize<S: Serializer>(own: &Own, to: S) -> Result<S::Ok, S::Error> {
        let numbers: Vec<_> = own.iter().map(|(variable, value)| (variable.0, value)).collect();
        numbers.serialize(to)
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Own, D::Error> {
        let numbers = Vec::<(u16, Box<str>)>::deserialize(from)?;
        Ok(numbers.into_iter().map(|(number, value)| (VariableId(number), value)).collect())
    }
}
