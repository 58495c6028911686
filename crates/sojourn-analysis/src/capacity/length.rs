//! How long a step is to be, and when it need not go on.

use super::{Settings, growth::SECONDS_MIN};

const SECOND_NS: u64 = 1_000_000_000;
/// Shortest steady phase, seconds: growth is told from the seconds of it.
const LEAST_S: f64 = 5.0;
/// Longest steady phase, unless journeys are so long that it must be longer.
const MOST_S: f64 = 120.0;
/// A coarse step at a low rate does not wait longer for its samples.
const COARSE_S: f64 = 60.0;
/// Arrivals of a coarse step.
const COARSE_SAMPLES: u64 = 300;
/// Journeys at p99 that a steady phase is long, at least.
const JOURNEYS: f64 = 5.0;
/// A run is in trouble only with so many journeys in flight.
const HOPELESS_IN_FLIGHT: u64 = 1_000;

/// What a step's length follows from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needs {
    pub(super) rate_per_s: f64,
    /// The shortest p99 of journeys that any step showed, nanoseconds.
    pub(super) base_ns: Option<u64>,
    /// Growth up to this share of the arrivals is none.
    pub(super) tolerance: f64,
    /// For a step near the limit: half-width of the growth times the root of the arrivals, as
    /// steps there have shown it.
    pub(super) spread: Option<f64>,
}

/// The steady phase of a step, nanoseconds.
pub(super) fn steady_ns(settings: &Settings, needs: &Needs) -> u64 {
    if let Some(forced_ns) = settings.step_ns {
        return forced_ns;
    }
    let samples = settings.samples.max(COARSE_SAMPLES) as f64;
    let by_samples_s = (samples / needs.rate_per_s).min(COARSE_S);
    let wanted = |spread: f64| (spread / needs.tolerance).powi(2) / needs.rate_per_s;
    let by_spread_s = needs.spread.map_or(0.0, |spread| 1.1 * wanted(spread));
    let by_journeys_s = JOURNEYS * needs.base_ns.unwrap_or(0) as f64 / 1e9;
    let length_s = by_samples_s.max(by_spread_s).max(by_journeys_s).max(LEAST_S);
    whole_ns(length_s.min(most_s(needs.base_ns)))
}

/// The longest steady phase, nanoseconds.
pub(super) fn most_ns(base_ns: Option<u64>) -> u64 {
    whole_ns(most_s(base_ns))
}

fn most_s(base_ns: Option<u64>) -> f64 {
    MOST_S.max(2.0 * JOURNEYS * base_ns.unwrap_or(0) as f64 / 1e9)
}

/// The warm-up before it, nanoseconds: until the pipeline is filled.
pub(super) fn warmup_ns(settings: &Settings, base_ns: Option<u64>) -> u64 {
    let filled_ns = base_ns.unwrap_or(settings.warmup_ns);
    whole_ns((filled_ns as f64 / 1e9).clamp(1.0, MOST_S))
}

/// Whole seconds, since levels are known once a second.
pub(super) fn whole_ns(seconds: f64) -> u64 {
    // The cast saturates.
    (seconds - 1e-9).ceil().max(1.0) as u64 * SECOND_NS
}

/// Whether a step that has gone on for `loaded_ns`, warm-up included, shows enough already: more
/// than a quarter of what arrived, besides what journeys at p99 explain, is still in flight. Going
/// on would only make the drain longer.
pub fn is_hopeless(
    warmup_ns: u64,
    loaded_ns: u64,
    journeys: (u64, u64),
    base_ns: Option<u64>,
) -> bool {
    let (started, in_flight) = journeys;
    let least_ns = warmup_ns + (SECONDS_MIN as u64 + 1) * SECOND_NS;
    let Some(base_ns) = base_ns.filter(|_| loaded_ns >= least_ns) else {
        return false;
    };
    let explained = 2.0 * base_ns as f64 / loaded_ns as f64;
    let share = in_flight as f64 / started.max(1) as f64;
    in_flight >= HOPELESS_IN_FLIGHT && share > 0.25 + explained
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEEDS: Needs = Needs { rate_per_s: 100.0, base_ns: None, tolerance: 0.025, spread: None };

    #[test]
    fn a_step_is_as_long_as_its_samples_its_journeys_and_its_noise_ask_for() {
        let settings = Settings::new(50.0);
        let length = |needs| steady_ns(&settings, &needs) / SECOND_NS;
        assert_eq!(length(NEEDS), 5);
        assert_eq!(length(Needs { rate_per_s: 20.0, ..NEEDS }), 15);
        assert_eq!(length(Needs { rate_per_s: 0.1, ..NEEDS }), 60);
        assert_eq!(length(Needs { base_ns: Some(8 * SECOND_NS), ..NEEDS }), 40);
        // A half-width of 2.8 / √n is 2.5 % at 12,544 arrivals.
        assert_eq!(length(Needs { spread: Some(2.8), rate_per_s: 1_000.0, ..NEEDS }), 14);
        assert_eq!(length(Needs { spread: Some(2.8), rate_per_s: 1.0, ..NEEDS }), 120);
        assert_eq!(
            length(Needs { base_ns: Some(20 * SECOND_NS), spread: Some(9.0), ..NEEDS }),
            200
        );
        let forced = Settings { step_ns: Some(7 * SECOND_NS), ..settings };
        assert_eq!(steady_ns(&forced, &NEEDS), 7 * SECOND_NS);
    }

    #[test]
    fn warm_ups_fill_the_pipeline() {
        let settings = Settings { warmup_ns: 3 * SECOND_NS, ..Settings::new(1.0) };
        assert_eq!(warmup_ns(&settings, None), 3 * SECOND_NS);
        assert_eq!(warmup_ns(&settings, Some(20_000_000)), SECOND_NS);
        assert_eq!(warmup_ns(&settings, Some(7_200_000_000)), 8 * SECOND_NS);
    }

    #[test]
    fn only_a_clear_excess_is_hopeless() {
        let base = Some(SECOND_NS / 10);
        let (warm, ten) = (SECOND_NS, 10 * SECOND_NS);
        assert!(is_hopeless(warm, ten, (20_000, 10_000), base));
        assert!(!is_hopeless(warm, ten, (20_000, 5_000), base), "a quarter may be a burst");
        assert!(!is_hopeless(warm, ten, (1_000, 900), base), "few");
        assert!(!is_hopeless(warm, 4 * SECOND_NS, (20_000, 10_000), base), "early");
        assert!(!is_hopeless(warm, ten, (20_000, 20_000), Some(8 * SECOND_NS)), "filling up");
        assert!(!is_hopeless(warm, ten, (20_000, 20_000), None), "nothing to compare with");
    }
}
