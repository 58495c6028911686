//! The clock, sleeps, and processor time that others take: what every figure's time rests on.

use std::time::Duration;

use sojourn_analysis::{check::Check, words};
use sojourn_clock::{MILLISECOND_NS, MachineCpu, machine_cpu, now_ns, request_short_slice};
use sojourn_metrics::nearest_rank;
use sojourn_plan::Plan;

/// Sleeps that are measured, and how long each is to be.
const SLEEPS: u32 = 200;
const SLEEP_NS: u64 = MILLISECOND_NS;
/// How long the clock is read again and again.
const READING_NS: u64 = 50 * MILLISECOND_NS;
/// Readings between two looks at how long it has been.
const READINGS: u32 = 1_000;
/// A reading that costs more is worth a word: a request takes some readings.
const READING_COST_NS_MAX: u64 = 500;
/// Processor time taken away, as a fraction, from which on it is worth a word.
const STOLEN_MAX: f64 = 0.02;

/// What a thread like a generator's has met.
#[derive(Clone, Debug, PartialEq)]
struct Measured {
    /// What one reading of the clock costs, at the median, nanoseconds.
    reading_ns: u64,
    /// How late sleeps ended, ascending, nanoseconds.
    late_ns: Vec<u64>,
}

/// Looks for half a second.
pub(super) fn checks(plan: &Plan, spin: bool) -> Vec<Check> {
    let before = machine_cpu();
    // On a thread of its own: it asks for what generators ask for.
    let thread = std::thread::Builder::new().spawn(measure);
    let measured = thread.ok().and_then(|thread| thread.join().ok());
    let after = machine_cpu();
    let Some(measured) = measured else {
        return vec![
            Check::failed("clock", "", "no thread could be made")
                .advised("allow this user more processes (ulimit -u)".to_owned()),
        ];
    };
    let file = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let source = std::fs::read_to_string(file).unwrap_or_default();
    vec![
        clock(source.trim(), measured.reading_ns),
        sleeps(&measured.late_ns, plan.health.lag_p99_max_ns, spin),
        stolen(before, after),
    ]
}

fn measure() -> Measured {
    request_short_slice();
    let mut costs_ns = Vec::new();
    let end_ns = now_ns() + READING_NS;
    loop {
        let from_ns = now_ns();
        for _ in 0..READINGS {
            std::hint::black_box(now_ns());
        }
        let to_ns = now_ns();
        costs_ns.push((to_ns - from_ns) / u64::from(READINGS + 1));
        if to_ns >= end_ns {
            break;
        }
    }
    let mut late_ns = Vec::new();
    for _ in 0..SLEEPS {
        let due_ns = now_ns() + SLEEP_NS;
        std::thread::sleep(Duration::from_nanos(SLEEP_NS));
        late_ns.push(now_ns().saturating_sub(due_ns));
    }
    costs_ns.sort_unstable();
    late_ns.sort_unstable();
    Measured { reading_ns: quantile(&costs_ns, 0.5), late_ns }
}

/// The nearest rank of ascending samples; zero of none.
fn quantile(ascending: &[u64], q: f64) -> u64 {
    let rank = nearest_rank(q, ascending.len() as u64);
    (rank as usize).checked_sub(1).and_then(|at| ascending.get(at)).copied().unwrap_or(0)
}

/// Whether the kernel lets a process read this source without a system call; `None`: not known.
fn is_read_in_process(source: &str) -> Option<bool> {
    match source {
        "tsc" | "kvm-clock" | "hyperv_clocksource_tsc_page" | "arch_sys_counter" => Some(true),
        "hpet" | "acpi_pm" | "jiffies" | "refined-jiffies" | "xen" | "pit" => Some(false),
        _ => None,
    }
}

fn clock(source: &str, reading_ns: u64) -> Check {
    let cost = format!("{} a reading", words::duration(reading_ns as f64));
    let name = if source.is_empty() { "source not told" } else { source };
    let found = match is_read_in_process(source) {
        Some(true) => format!("{name}, read without a system call, {cost}"),
        Some(false) => format!("{name}, read by a system call, {cost}"),
        None => format!("{name}, {cost}"),
    };
    let is_slow = is_read_in_process(source) == Some(false) || reading_ns > READING_COST_NS_MAX;
    if !is_slow {
        return Check::passed("clock", "", found);
    }
    Check::warned("clock", "", found).advised(
        "every request costs so much more: have the kernel use tsc or kvm-clock (`clocksource=`)"
            .to_owned(),
    )
}

fn sleeps(late_ns: &[u64], limit_ns: u64, spin: bool) -> Check {
    let (p50_ns, p99_ns) = (quantile(late_ns, 0.5), quantile(late_ns, 0.99));
    let found = format!(
        "sleeps of {} end {} late at p50, {} at p99; lag may be {}",
        words::duration(SLEEP_NS as f64),
        words::duration(p50_ns as f64),
        words::duration(p99_ns as f64),
        words::duration(limit_ns as f64),
    );
    match p99_ns > limit_ns {
        true if spin => Check::passed("sleep", "", format!("{found}; --spin does without")),
        true => Check::warned("sleep", "", found).advised(
            "a run would be void by its lag: leave this machine to Sojourn, or use --spin"
                .to_owned(),
        ),
        false => Check::passed("sleep", "", found),
    }
}

fn stolen(before: Option<MachineCpu>, after: Option<MachineCpu>) -> Check {
    let (Some(before), Some(after)) = (before, after) else {
        return Check::skipped("steal", "", "/proc/stat does not tell");
    };
    let share = after.since(&before).stolen_share();
    let found = format!("{} of processor time taken by the hypervisor", words::percent(share));
    match share > STOLEN_MAX {
        true => Check::warned("steal", "", found)
            .advised("lag will show it: use a machine whose processors are its own".to_owned()),
        false => Check::passed("steal", "", found),
    }
}

#[cfg(test)]
mod tests {
    use sojourn_analysis::check::Finding;

    use super::*;

    #[test]
    fn slow_clocks_are_warned_of() {
        for (source, cost_ns, outcome) in [
            ("tsc", 25, Finding::Passed),
            ("kvm-clock", 40, Finding::Passed),
            ("tsc", 900, Finding::Warned),
            ("hpet", 900, Finding::Warned),
            ("acpi_pm", 100, Finding::Warned),
            ("", 30, Finding::Passed),
        ] {
            let check = clock(source, cost_ns);
            assert_eq!(check.outcome, outcome, "{check:?}");
            assert_eq!(check.advice.is_some(), outcome == Finding::Warned, "{check:?}");
            assert!(check.found.contains(source), "{check:?}");
        }
    }

    #[test]
    fn late_sleeps_are_held_against_the_lag_that_may_be() {
        let late_ns: Vec<u64> = (1..=200).map(|n| n * 1_000).collect();
        let check = sleeps(&late_ns, 198_000, false);
        assert_eq!(check.outcome, Finding::Passed);
        assert!(check.found.contains("100 µs late at p50, 198 µs at p99"), "{check:?}");
        assert_eq!(sleeps(&late_ns, 197_999, false).outcome, Finding::Warned);
        assert_eq!(sleeps(&late_ns, 197_999, true).outcome, Finding::Passed);
        assert_eq!(quantile(&[], 0.5), 0);
    }

    #[test]
    fn stolen_time_is_warned_of_by_its_share() {
        let at = |all, stolen| Some(MachineCpu { all, idle: 0, stolen });
        assert_eq!(stolen(at(100, 0), at(200, 2)).outcome, Finding::Passed);
        assert_eq!(stolen(at(100, 0), at(200, 3)).outcome, Finding::Warned);
        assert_eq!(stolen(at(100, 0), at(100, 0)).outcome, Finding::Passed);
        assert_eq!(stolen(None, at(1, 1)).outcome, Finding::Skipped);
    }

    #[test]
    fn a_thread_measures_itself() {
        let measured = measure();
        assert_eq!(measured.late_ns.len(), SLEEPS as usize);
        assert!(measured.late_ns.is_sorted() && measured.reading_ns > 0);
    }
}
