//! Making the threads of a run whose journeys others begin.

use std::sync::{Arc, atomic::AtomicBool};

use crossbeam_channel::{Sender, bounded};
use sojourn_broker::Registry;
use sojourn_plan::{Plan, StageSource};

use super::{FarEnds, Launched};
use crate::{
    RunError, RunOptions,
    coordinator::taps::open_taps,
    follow::{EndedJourney, FollowSource, FollowedKinds, Kinds, Listener, SourceEnds},
};

/// What is to be launched.
pub(crate) struct FollowedLaunch<'a> {
    /// Channels, and one journey with the stages that kinds choose from.
    pub(crate) pattern: &'a Plan,
    /// The same without journeys: they come into being.
    pub(crate) plan: &'a Arc<Plan>,
    pub(crate) options: &'a RunOptions,
    /// How many threads begin journeys.
    pub(crate) sources: u32,
    pub(crate) kinds: &'a Arc<Kinds>,
    pub(crate) ends: Sender<EndedJourney>,
    pub(crate) listener: Option<Arc<dyn Listener>>,
    pub(crate) is_over: &'a Arc<AtomicBool>,
}

/// Opens the taps of channels that a stage is seen on, then makes every thread but those that begin
/// journeys, which get their sources.
pub(crate) fn launch_following(
    what: FollowedLaunch<'_>,
    registry: &Registry,
) -> Result<(Launched, Vec<FollowSource>), RunError> {
    let FollowedLaunch { pattern, plan, options, sources, kinds, ends, listener, is_over } = what;
    let is_seen_on = |index: usize| {
        let mut stages = pattern.journeys.iter().flat_map(|journey| &journey.stages);
        stages.any(|stage| {
            matches!(&stage.source, StageSource::Event { channel, .. } if *channel == index)
        })
    };
    let (taps, channels) = open_taps(pattern, registry, is_seen_on)?;
    let (mut launched, far) = Launched::new(pattern, options, channels);
    let FarEnds { batches_sender, batches, generator_sender, observer_sender, tap_sender, .. } =
        far;
    launched.listener = listener;
    launched.followed = Some(FollowedKinds { kinds: Arc::clone(kinds), ends });
    let mut made = Vec::new();
    for index in 0..sources {
        let source = launched.source(format!("users {index}"));
        let (control_sender, control) = bounded(1_024);
        launched.to_generators.push(control_sender);
        let ends = SourceEnds {
            kinds: Arc::clone(kinds),
            reports: generator_sender.clone(),
            control,
            is_over: Arc::clone(is_over),
        };
        let busy_max = plan.health.busy_max;
        made.push(FollowSource::new(index, source, batches_sender.clone(), ends, busy_max));
    }
    for (index, tap, decoder) in taps {
        launched.tap(pattern, index, (tap, decoder), batches_sender.clone(), tap_sender.clone())?;
    }
    launched.backlog(plan, registry, tap_sender, far.note_sender)?;
    launched.observe(plan, batches, observer_sender, Vec::new(), None)?;
    Ok((launched, made))
}
