//! Opening the taps of the channels that a plan listens to.

use std::time::Duration;

use sojourn_broker::{Backoff, BrokerError, OpenDecoder, Registry, Tap, TapInfo};
use sojourn_plan::{Action, Channel, Plan, StageSource};

use crate::RunError;

/// What each channel's tap listens to, by the channel's name.
type Listening = Vec<(String, String)>;

/// Whether steps publish to a channel on which no stage is seen: then nobody listens to it.
pub(crate) fn is_only_published_to(plan: &Plan, index: usize) -> bool {
    let steps = plan.journeys.iter().flat_map(|journey| &journey.steps);
    let mut stages = plan.journeys.iter().flat_map(|journey| &journey.stages);
    let is_published = steps
        .into_iter()
        .any(|step| matches!(&step.action, Action::Publish(action) if action.channel == index));
    let is_seen = stages.any(
        |stage| matches!(&stage.source, StageSource::Event { channel, .. } if *channel == index),
    );
    is_published && !is_seen
}

/// A tap for each channel that is listened to, with the channel's index and its decoder.
type Taps = Vec<(usize, Box<dyn Tap>, OpenDecoder)>;

pub(super) fn open_taps(
    plan: &Plan,
    registry: &Registry,
    is_listened_to: impl Fn(usize) -> bool,
) -> Result<(Taps, Listening), RunError> {
    let mut taps = Vec::new();
    let mut channels = Vec::new();
    for (index, channel) in plan.channels.iter().enumerate() {
        if !is_listened_to(index) {
            let word = channel.connector.word();
            channels.push((channel.name.clone(), format!("{word}, published to")));
            continue;
        }
        let (tap, decoder, info) =
            open_tap(registry, channel, patience(plan)).map_err(|error| naming(channel, error))?;
        channels.push((channel.name.clone(), info.listens_to));
        taps.push((index, tap, decoder));
    }
    Ok((taps, channels))
}

/// How long taps try to be back after their connection was lost: a plan that lets them be behind
/// for longer than is usual is to go through such an outage.
fn patience(plan: &Plan) -> Duration {
    Duration::from_nanos(plan.health.tap_behind_max_ns).max(Backoff::GIVE_UP_AFTER)
}

/// The same error, which says by name which of the plan's channels it is about: two may be at one
/// broker.
pub(crate) fn naming(channel: &Channel, error: BrokerError) -> BrokerError {
    let name = format!("channel `{}`", channel.name);
    match error.message.contains(&name) {
        true => error,
        false => BrokerError { message: format!("{name}: {}", error.message), ..error },
    }
}

/// A channel's tap, subscribed, and its decoder. A lost connection is tried to be had again for so
/// long.
pub(crate) fn open_tap(
    registry: &Registry,
    channel: &Channel,
    patience: Duration,
) -> Result<(Box<dyn Tap>, OpenDecoder, TapInfo), BrokerError> {
    let mut tap = registry.open(channel)?;
    tap.give_up_after(patience);
    // Before the tap, which would have nobody to read it meanwhile. Never on its thread: what it
    // receives would be stamped late.
    let decoder = OpenDecoder::open(channel, Duration::ZERO)?;
    let info = tap.open()?;
    Ok((tap, decoder, info))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taps_try_for_as_long_as_the_plan_lets_them_be_behind() {
        let mut plan = Plan::default();
        assert_eq!(patience(&plan), Backoff::GIVE_UP_AFTER);
        plan.health.tap_behind_max_ns = 120_000_000_000;
        assert_eq!(patience(&plan), Duration::from_secs(120));
    }
}
