//! Processors that the process may use, against the threads that a run keeps busy.

use sojourn_analysis::{check::Check, words};
use sojourn_plan::{Plan, StageSource};

use super::cgroup::Allowance;
use crate::{
    RunOptions, coordinator::taps::is_only_published_to, resources::parse::allowed_processors,
};

/// Looks at affinity and quota.
pub(super) fn check(plan: &Plan, options: &RunOptions, allowance: &Allowance) -> Check {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let allowed = allowed_processors(&status)
        .map(u64::from)
        .or_else(|| Some(std::thread::available_parallelism().ok()?.get() as u64));
    match allowed {
        Some(allowed) => judge(allowed, allowance.processors, &Threads::of(plan, options)),
        None => Check::skipped("processors", "", "the system does not tell how many there are"),
    }
}

/// The threads of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Threads {
    generators: u64,
    taps: u64,
    /// Poller and backlog.
    beside: u64,
    /// Generators never sleep.
    spin: bool,
}

impl Threads {
    fn of(plan: &Plan, options: &RunOptions) -> Self {
        let heard = (0..plan.channels.len()).filter(|&index| !is_only_published_to(plan, index));
        let mut stages = plan.journeys.iter().flat_map(|journey| &journey.stages);
        let polls = stages.any(|stage| matches!(stage.source, StageSource::Poll(_)));
        let backlog = plan.channels.iter().any(|channel| !channel.backlog.is_empty());
        Self {
            generators: options.threads.into(),
            taps: heard.count() as u64,
            beside: u64::from(polls) + u64::from(backlog),
            spin: options.client.spin,
        }
    }

    fn in_words(&self) -> String {
        // The observer is one, whatever is observed.
        let others = self.taps + self.beside + 1;
        let spinning = if self.spin { " that never sleep" } else { "" };
        format!(
            "{}{spinning} and {}",
            words::plural(self.generators, "generator", "generators"),
            words::plural(others, "thread beside", "threads beside"),
        )
    }
}

fn judge(allowed: u64, quota: Option<f64>, threads: &Threads) -> Check {
    let usable = quota.map_or(allowed as f64, |quota| quota.min(allowed as f64));
    let quota = quota.filter(|quota| *quota < allowed as f64);
    let quota = quota.map_or_else(String::new, |quota| {
        format!(", a quota of {} (cpu.max)", words::number(quota))
    });
    let found = format!("{allowed} allowed{quota}; the run has {}", threads.in_words());
    // Each generator may fill one; whatever is beside them shares one.
    let wanted = threads.generators + 1;
    if wanted as f64 <= usable {
        return Check::passed("processors", "", found);
    }
    let advice = match threads.generators {
        1 => "give it two: events and answers are stamped late where they wait for a processor"
            .to_owned(),
        _ => format!("use fewer --threads, or {wanted} processors: one more than generators"),
    };
    Check::warned("processors", "", found).advised(advice)
}

#[cfg(test)]
mod tests {
    use sojourn_analysis::check::Finding;

    use super::*;

    #[test]
    fn a_list_of_processors_is_counted() {
        let of = |list: &str| allowed_processors(&format!("Name:\tx\nCpus_allowed_list:\t{list}"));
        assert_eq!(of("0-3,8\n"), Some(5));
        assert_eq!(of("0\n"), Some(1));
        for wrong in ["", "a", "3-1", "1-"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
        assert_eq!(allowed_processors("Name: x\n"), None);
    }

    #[test]
    fn a_generator_wants_a_processor_and_what_is_beside_it_another() {
        let threads = |generators| Threads { generators, taps: 2, beside: 0, spin: false };
        let check = judge(2, None, &threads(1));
        assert_eq!(check.outcome, Finding::Passed);
        assert_eq!(check.found, "2 allowed; the run has 1 generator and 3 threads beside");
        assert_eq!(judge(1, None, &threads(1)).outcome, Finding::Warned);
        assert_eq!(judge(2, None, &threads(2)).outcome, Finding::Warned);
        // A quota binds as fewer processors do; a larger one is not worth a word.
        let bound = judge(8, Some(1.5), &threads(1));
        assert_eq!(bound.outcome, Finding::Warned);
        assert!(bound.found.contains("a quota of 1.50 (cpu.max)"), "{bound:?}");
        let wide = judge(8, Some(16.0), &threads(4));
        assert!(wide.outcome == Finding::Passed && !wide.found.contains("quota"), "{wide:?}");
    }
}
