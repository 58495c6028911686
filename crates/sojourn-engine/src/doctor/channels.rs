//! The plan's channels: connector, broker, credentials, names, and a tap that is ready.

use sojourn_analysis::{check::Check, words};
use sojourn_broker::{Backoff, BrokerError, PublisherSettings, Reading, Registry};
use sojourn_clock::now_ns;
use sojourn_plan::{Channel, Plan};

use crate::{
    Stop,
    backlog::reader,
    coordinator::taps::{is_only_published_to, open_tap},
    generator::known_topics,
};

/// Readings of a backlog that are shown.
const READINGS_MAX: usize = 4;

/// Opens each tap as a run does, reads each backlog once, and closes them all at the end: as in a
/// run, all are open together. `begin` is told each before.
pub(super) fn checks(
    plan: &Plan,
    registry: &Registry,
    stop: &Stop,
    begin: &mut dyn FnMut(&str),
) -> Vec<Check> {
    if plan.channels.is_empty() {
        return vec![Check::skipped("channel", "", "the plan has none")];
    }
    let mut checks = Vec::new();
    let mut open = Vec::new();
    for (index, channel) in plan.channels.iter().enumerate() {
        let name = channel.name.as_str();
        if stop.graceful() {
            checks.push(Check::skipped("channel", name, super::INTERRUPTED));
            continue;
        }
        begin(&format!("channel {name}"));
        if is_only_published_to(plan, index) {
            checks.push(published_to(plan, index, registry));
            continue;
        }
        let began_ns = now_ns();
        match open_tap(registry, channel, Backoff::GIVE_UP_AFTER) {
            Ok((tap, decoder, info)) => {
                open.push((tap, decoder));
                let took = words::duration((now_ns() - began_ns) as f64);
                let found = format!("{}; ready in {took}", info.listens_to);
                checks.push(Check::passed("channel", name, found));
                checks.extend(backlog(channel, registry, begin));
            }
            Err(error) => {
                checks.push(failed("channel", name, error));
                if !channel.backlog.is_empty() {
                    checks.push(Check::skipped("backlog", name, "its channel cannot be opened"));
                }
            }
        }
    }
    begin("closing the channels");
    drop(open);
    checks
}

fn failed(check: &str, name: &str, error: BrokerError) -> Check {
    Check::failed(check, name, error.message).advised(error.hint)
}

/// Nothing listens to it in a run; what may be published is only known once something is.
fn published_to(plan: &Plan, index: usize, registry: &Registry) -> Check {
    let channel = &plan.channels[index];
    let began_ns = now_ns();
    let ready = registry
        .of(channel)
        .and_then(|connector| connector.publisher(channel, PublisherSettings::default()))
        .and_then(|mut publisher| publisher.ready(&known_topics(plan, index)));
    match ready {
        Ok(()) => {
            let word = channel.connector.word();
            let took = words::duration((now_ns() - began_ns) as f64);
            let found = format!("{word}, published to; ready in {took}");
            Check::passed("channel", &channel.name, found)
        }
        Err(error) => failed("channel", &channel.name, error),
    }
}

fn backlog(channel: &Channel, registry: &Registry, begin: &mut dyn FnMut(&str)) -> Option<Check> {
    if channel.backlog.is_empty() {
        return None;
    }
    begin(&format!("backlog of {}", channel.name));
    match reader(channel, registry) {
        Ok(None) => None,
        Ok(Some((_reader, readings))) => {
            Some(Check::passed("backlog", &channel.name, in_words(&channel.backlog, &readings)))
        }
        Err(error) => Some(failed("backlog", &channel.name, error)),
    }
}

fn in_words(names: &[String], readings: &[Reading]) -> String {
    if readings.is_empty() {
        return format!("{} known, no figure yet", words::list(names));
    }
    let told = readings.iter().take(READINGS_MAX).map(|Reading { of, figure, value }| {
        format!("{of}: {} {}", words::number(*value), figure.name().replace('_', " "))
    });
    let mut told: Vec<String> = told.collect();
    if readings.len() > READINGS_MAX {
        told.push(format!("{} more", readings.len() - READINGS_MAX));
    }
    told.join("; ")
}

#[cfg(test)]
mod tests {
    use sojourn_broker::Figure;

    use super::*;

    #[test]
    fn readings_are_told_in_words_and_not_all_of_many() {
        let reading =
            |of: &str, value| Reading { of: of.to_owned(), figure: Figure::Waiting, value };
        let names = ["billing".to_owned()];
        assert_eq!(in_words(&names, &[]), "billing known, no figure yet");
        let two = [reading("billing", 0.0), reading("mail", 1_234.0)];
        assert_eq!(in_words(&names, &two), "billing: 0 waiting; mail: 1,234 waiting");
        let many: Vec<Reading> = (0..6).map(|n| reading(&format!("g{n}"), 1.0)).collect();
        assert!(in_words(&names, &many).ends_with("g3: 1 waiting; 2 more"));
    }
}
