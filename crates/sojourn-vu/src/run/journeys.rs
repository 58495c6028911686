//! Journeys of a test: followed by the engine while the script runs, and counted for its metrics.

use std::sync::{Arc, PoisonError};

use sojourn_engine::{Ended, EndedJourney, FollowSource, Following, Listener, follow};
use sojourn_k6::exit_code::ExitCode;
use sojourn_k6::metrics::{Contains, MetricId, MetricKind, Registry};

use super::SAMPLES_MAX;
use super::conduct::Conductor;
use super::test::RunError;
use crate::journeys::{Journeys, Live, Publishing};
use crate::settings::Settings;

const DURATION: (&str, MetricKind, Contains) =
    ("journey_duration", MetricKind::Trend, Contains::Time);
const COMPLETED: (&str, MetricKind, Contains) =
    ("journey_completed", MetricKind::Rate, Contains::Default);
const LOST: (&str, MetricKind, Contains) =
    ("journeys_lost", MetricKind::Counter, Contains::Default);

/// Declares the metrics of journeys: duration, completed, lost. Errs in words when the script has
/// others of these names.
pub(super) fn declare_metrics(registry: &mut Registry) -> Result<[MetricId; 3], String> {
    let mut declare = |(name, kind, contains): (&str, MetricKind, Contains)| {
        registry.declare(name, kind, contains).map_err(|error| error.to_string())
    };
    Ok([declare(DURATION)?, declare(COMPLETED)?, declare(LOST)?])
}

/// See the module's page.
pub(super) struct Journeying {
    following: Following,
    duration: MetricId,
    completed: MetricId,
    lost: MetricId,
}

impl Journeying {
    /// Opens the taps of a script that declares any; each thread of users gets a source.
    pub(super) fn prepare(
        settings: &Arc<Settings>,
        with: Option<Journeys>,
        threads: usize,
    ) -> Result<(Option<Self>, Vec<FollowSource>), RunError> {
        let declared = settings.journeys.declared();
        if declared.is_empty() {
            return Ok((None, Vec::new()));
        }
        let wrong = |message: String| RunError::new(ExitCode::InvalidConfig, message);
        let with = with.ok_or_else(|| wrong("journeys are not followed here".to_owned()))?;
        let script = settings.bundle.entry();
        let name = script.path_segments().and_then(|mut parts| parts.next_back());
        let pattern = declared.pattern(name.unwrap_or("script"));
        drop(declared);
        let mut registry = settings.registry.lock().unwrap_or_else(PoisonError::into_inner);
        let [duration, completed, lost] = declare_metrics(&mut registry).map_err(wrong)?;
        drop(registry);
        let listener: Arc<dyn Listener> = Arc::clone(&settings.journeys.messages) as _;
        let sources = u32::try_from(threads).unwrap_or(u32::MAX);
        let followed =
            follow(&pattern, &with.options, &settings.journeys.connectors, sources, Some(listener));
        let (mut following, sources) = followed.map_err(|error| wrong(in_words(&error)))?;
        if let Some(onlooker) = with.onlooker {
            following.looked_on_by(onlooker);
        }
        let connectors = Arc::clone(&settings.journeys.connectors);
        let publishing = Publishing::start(pattern.channels, connectors).map_err(wrong)?;
        let live = Live { publishing, run_id: with.options.run_id };
        // Nobody else sets it.
        settings.journeys.live.set(live).ok();
        Ok((Some(Self { following, duration, completed, lost }), sources))
    }

    /// From now on events are seen.
    pub(super) fn begin(&mut self) -> Result<(), RunError> {
        let begun = self.following.begin();
        begun.map_err(|error| RunError::new(ExitCode::InvalidConfig, in_words(&error)))
    }

    pub(super) fn over(&self) {
        self.following.over();
    }

    pub(super) fn has_ended(&self) -> bool {
        self.following.has_ended()
    }

    pub(super) fn give_up(&self) {
        self.following.give_up();
    }

    /// What it came to; or why that is not known.
    pub(super) fn finish(self) -> Result<Ended, String> {
        self.following.finish().map_err(|error| in_words(&error))
    }

    /// Hands out the samples of journeys that have ended since: name, metric, instant and value.
    pub(super) fn samples(&self, mut add: impl FnMut(&str, MetricId, u64, f64)) {
        for EndedJourney { kind, is_complete, is_lost, took_ns, end_ns, .. } in
            self.following.ended()
        {
            let name = self.following.kinds().name(kind).unwrap_or_default();
            if is_complete {
                add(&name, self.duration, end_ns, took_ns as f64 / 1e6);
            }
            add(&name, self.completed, end_ns, f64::from(u8::from(is_complete)));
            // Of each, so that a threshold on a run that lost none has something to look at.
            add(&name, self.lost, end_ns, f64::from(u8::from(is_lost)));
        }
    }
}

impl Conductor<'_> {
    /// Samples of the journeys that have ended: to the outputs at once, as there may be more than
    /// the conductor's shard has room for.
    pub(super) fn account_for_journeys(&mut self, journeys: &Journeying) {
        let pairs = self.settings.run_tags();
        let mut full = Vec::new();
        journeys.samples(|journey, metric, instant_ns, value| {
            let mut pairs = pairs.clone();
            pairs.push(("journey", journey));
            let empty = Arc::clone(self.sets.empty());
            let tags = self.sets.with(&empty, &pairs);
            self.shard.add(metric, &tags, self.anchor.unix_ns_at(instant_ns), value);
            if self.shard.samples_waiting() > SAMPLES_MAX / 2 {
                full = self.shard.take_samples(std::mem::take(&mut full));
                for output in self.outputs.iter_mut() {
                    output.write(&full, &self.registry, &self.thresholds);
                }
            }
        });
    }
}

fn in_words(error: &sojourn_engine::RunError) -> String {
    match &error.hint {
        Some(hint) => format!("{error} ({hint})"),
        None => error.to_string(),
    }
}
