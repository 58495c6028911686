//! What Sojourn's series are called outside: the one definition, which docs/outputs.md repeats.

use sojourn_metrics::{Kind, names};

/// What an exported value is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// A count, a share, or what the labels say.
    None,
}

/// A metric's name outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Exported {
    /// As Prometheus has it: `sojourn_stage_hop_seconds`, `sojourn_journeys_started_total`.
    pub name: String,
    /// As OpenTelemetry has it, without unit: `sojourn.stage.hop`, `sojourn.journeys.started`.
    pub dotted: String,
    /// Unit of the exported value.
    pub unit: Unit,
    /// How many of the series' own units make one exported unit: 10⁹ for nanoseconds to seconds.
    pub per_unit: f64,
}

/// The name outside of a metric of this kind.
///
/// `sojourn_`, the dotted name with underscores, its unit in place of `_ms` or `_s`, and `_total`
/// for what only adds up. Trends are nanoseconds unless their name says bytes, or they count
/// answers.
pub fn exported(kind: Kind, metric: &str) -> Exported {
    let (stem, unit, per_unit) = match kind {
        Kind::Trend if metric == names::ANSWERS_PER_SECOND => (metric, Unit::None, 1.0),
        Kind::Trend => match metric.strip_suffix("_bytes") {
            Some(stem) => (stem, Unit::Bytes, 1.0),
            None => (metric, Unit::Seconds, 1e9),
        },
        Kind::Gauge => {
            let ending = |ending, unit, per_unit| {
                metric.strip_suffix(ending).map(|stem| (stem, unit, per_unit))
            };
            ending("_ms", Unit::Seconds, 1e3)
                .or_else(|| ending("_s", Unit::Seconds, 1.0))
                .or_else(|| ending("_bytes", Unit::Bytes, 1.0))
                .unwrap_or((metric, Unit::None, 1.0))
        }
        Kind::Counter | Kind::Rate => (metric, Unit::None, 1.0),
    };
    let suffix = match (kind, unit) {
        (Kind::Counter | Kind::Rate, _) => "_total",
        (_, Unit::Seconds) => "_seconds",
        (_, Unit::Bytes) => "_bytes",
        (_, Unit::None) => "",
    };
    Exported {
        name: format!("sojourn_{}{suffix}", label(stem)),
        dotted: format!("sojourn.{stem}"),
        unit,
        per_unit,
    }
}

/// A name of letters, digits and underscores.
pub fn label(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_conventions() {
        for (kind, metric, name, dotted) in [
            (Kind::Trend, names::STAGE_HOP, "sojourn_stage_hop_seconds", "sojourn.stage.hop"),
            (
                Kind::Trend,
                names::STEP_RECEIVED_BYTES,
                "sojourn_step_received_bytes",
                "sojourn.step.received",
            ),
            (
                Kind::Trend,
                names::ANSWERS_PER_SECOND,
                "sojourn_answers_per_second",
                "sojourn.answers.per_second",
            ),
            (
                Kind::Counter,
                names::JOURNEYS_STARTED,
                "sojourn_journeys_started_total",
                "sojourn.journeys.started",
            ),
            (
                Kind::Gauge,
                names::HEALTH_STALL_MS,
                "sojourn_health_stall_seconds",
                "sojourn.health.stall",
            ),
            (
                Kind::Gauge,
                names::HEALTH_MEMORY_BYTES,
                "sojourn_health_memory_bytes",
                "sojourn.health.memory",
            ),
            (Kind::Gauge, names::HEALTH_CPU, "sojourn_health_cpu", "sojourn.health.cpu"),
        ] {
            let exported = exported(kind, metric);
            assert_eq!((exported.name.as_str(), exported.dotted.as_str()), (name, dotted));
        }
        let stall = exported(Kind::Gauge, names::HEALTH_STALL_MS);
        assert_eq!(2_500.0 / stall.per_unit, 2.5);
    }
}
