//! Opening the taps of the channels that a plan listens to.

use std::time::Duration;

use sojourn_broker::{BrokerError, OpenDecoder, Registry, Tap, TapInfo};
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
            open_tap(registry, channel).map_err(|error| naming(channel, error))?;
        channels.push((channel.name.clone(), info.listens_to));
        taps.push((index, tap, decoder));
    }
    Ok((taps, channels))
}

/// The same error, which says by name which of the plan's channels it is about: two may be at one
/// broker.
fn naming(channel: &Channel, error: BrokerError) -> BrokerError {
    let name = format!("channel `{}`", channel.name);
    match error.message.contains(&name) {
        true => error,
        false => BrokerError { message: format!("{name}: {}", error.message), ..error },
    }
}

/// A channel's tap, subscribed, and its decoder.
pub(crate) fn open_tap(
    registry: &Registry,
    channel: &Channel,
) -> Result<(Box<dyn Tap>, OpenDecoder, TapInfo), BrokerError> {
    let mut tap = registry.open(channel)?;
    // Before the tap, which would have nobody to read it meanwhile. Never on its thread: what it
    // receives would be stamped late.
    let decoder = OpenDecoder::open(channel, Duration::ZERO)?;
    let info = tap.open()?;
    Ok((tap, decoder, info))
}
