//! When k6 2.2 began and ended iterations, beside when our plans say so.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::{Value, json};
use sojourn_k6::{
    executors::{Scenario, Span},
    options::{Options, Tier, Tiers, consolidate},
};

/// How late k6 may have been, milliseconds: its machine was busy, its clock counts whole ones.
const LATE_MS_MAX: i64 = 60;

/// Lines of k6's: virtual user, what, milliseconds.
type Lines = Vec<(String, String, i64)>;

fn golden(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/executors").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What one of four processes makes.
const SEGMENT: &str = "1/4:1/2";

/// Plans and what k6 did, of everything or of a segment.
fn scenarios(set: &str, segment: Option<&str>) -> Vec<(Scenario, Lines)> {
    let cases: Value = serde_json::from_str(&golden("cases.json")).expect("JSON");
    let options = json!({"scenarios": cases[set], "executionSegment": segment});
    let (script, _) = Options::from_json(Tier::Script, &options).expect("options");
    let all = consolidate(Tiers { script, ..Tiers::default() }).expect("plans");
    let mut lines: BTreeMap<String, Lines> = BTreeMap::new();
    let suffix = if segment.is_some() { "-segment" } else { "" };
    for line in golden(&format!("{set}{suffix}.txt")).lines() {
        let [name, user, what, ms] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let line = (user.to_owned(), what.to_owned(), ms.parse().expect("milliseconds"));
        lines.entry(name.to_owned()).or_default().push(line);
    }
    let plans = all.scenarios.into_iter();
    plans.map(|plan| (lines.remove(&plan.name).unwrap_or_default(), plan)).map(swap).collect()
}

fn swap<A, B>((a, b): (A, B)) -> (B, A) {
    (b, a)
}

fn ms(at_ns: u64) -> i64 {
    i64::try_from(at_ns / 1_000_000).expect("short")
}

fn is_soon_after(theirs_ms: i64, ours_ms: i64) -> bool {
    (-1..=LATE_MS_MAX).contains(&(theirs_ms - ours_ms))
}

#[test]
fn iterations_are_due_when_k6_begins_them() {
    for (plan, lines) in
        [None, Some(SEGMENT)].into_iter().flat_map(|segment| scenarios("arrivals", segment))
    {
        let mut starts = plan.starts().expect("arrivals");
        let ours: Vec<_> = (0..starts.count()).map(|k| starts.at(k).expect("counted")).collect();
        assert_eq!(starts.at(starts.count()), None);
        let mut theirs: Vec<_> = lines.iter().map(|(_, _, ms)| *ms).collect();
        theirs.sort_unstable();
        // One that is due at the very end k6 leaves out now and then, by a rounding or a race.
        let is_last_at_end = ours.last() == Some(&plan.duration_ns());
        let fewest = ours.len() - usize::from(is_last_at_end);
        let name = &plan.name;
        assert!((fewest..=ours.len()).contains(&theirs.len()), "{name}: {}", theirs.len());
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert!(is_soon_after(*theirs, ms(*ours)), "{name}: {theirs} for {}", ms(*ours));
        }
    }
}

/// Counts that k6 2.2 came to in several runs.
#[test]
fn counts_are_those_of_k6() {
    let counts: BTreeMap<_, _> = scenarios("arrivals", None)
        .into_iter()
        .map(|(plan, _)| (plan.name.clone(), plan.starts().expect("arrivals").count()))
        .collect();
    for (name, count) in [("c7", 71), ("c10", 51), ("c100", 301), ("c3", 16), ("c1", 2)] {
        assert_eq!(counts[name], count, "{name}");
    }
    for (name, count) in [("r10", 50), ("r10to0", 25), ("rsteep", 100), ("rwave", 81)] {
        assert_eq!(counts[name], count, "{name}");
    }
}

#[test]
fn users_run_when_k6_lets_them() {
    for (plan, lines) in
        [None, Some(SEGMENT)].into_iter().flat_map(|segment| scenarios("ramps", segment))
    {
        let mut ours: Vec<_> = (0..plan.slots()).flat_map(|slot| plan.spans(slot)).collect();
        // Which of k6's users has which slot is its own affair: compared in order of time.
        let mut users: BTreeMap<_, Vec<i64>> = BTreeMap::new();
        for (user, _, ms) in &lines {
            users.entry(user.clone()).or_default().push(*ms);
        }
        let mut theirs = Vec::new();
        for mut begins in users.into_values() {
            begins.sort_unstable();
            let parts = begins.chunk_by(|a, b| b - a < 250);
            theirs.extend(parts.map(|part| (part[0], part[part.len() - 1])));
        }
        theirs.sort_unstable();
        ours.sort_unstable_by_key(|span| span.start_ns);
        let name = &plan.name;
        assert_eq!(ours.len(), theirs.len(), "{name}: {ours:?} {theirs:?}");
        for (ours, (start_ms, _)) in ours.iter().zip(&theirs) {
            assert!(is_soon_after(*start_ms, ms(ours.start_ns)), "{name}: {start_ms} {ours:?}");
        }
        let mut ends: Vec<_> = theirs.iter().map(|(_, last_ms)| *last_ms).collect();
        ends.sort_unstable();
        ours.sort_unstable_by_key(|span| span.end_ns);
        for (ours, last_ms) in ours.iter().zip(&ends) {
            // Iterations take 100 ms: the last begins at most so long before the end.
            let before = ms(ours.end_ns) - last_ms;
            assert!((-5..=100 + LATE_MS_MAX).contains(&before), "{name}: {last_ms} {ours:?}");
        }
    }
}

/// When iterations of 5 s begin and end by a plan, slot after slot.
fn walk(spans: &[Span]) -> (Vec<i64>, Vec<i64>) {
    const ITERATION_NS: u64 = 5_000_000_000;
    let (mut begins, mut ends) = (Vec::new(), Vec::new());
    let mut free_ns = 0;
    for span in spans {
        let mut at_ns = span.start_ns.max(free_ns);
        while at_ns < span.end_ns {
            begins.push(ms(at_ns));
            at_ns = (at_ns + ITERATION_NS).min(span.cut_ns);
            ends.push(ms(at_ns));
        }
        free_ns = at_ns;
    }
    (begins, ends)
}

#[test]
fn iterations_are_cut_when_k6_cuts_them() {
    for (plan, lines) in scenarios("graces", None) {
        let mut ours = (Vec::new(), Vec::new());
        for slot in 0..plan.slots() {
            let (begins, ends) = walk(&plan.spans(slot));
            // Of `each` and `all` none has time for a second one.
            ours.0.extend(begins);
            ours.1.extend(ends);
        }
        ours.0.sort_unstable();
        let name = &plan.name;
        let of = |what: &str| {
            let lines = lines.iter().filter(|(_, kind, _)| kind == what);
            let mut all: Vec<_> = lines.map(|(_, _, ms)| *ms).collect();
            all.sort_unstable();
            all
        };
        let begins = of("begin");
        assert_eq!(ours.0.len(), begins.len(), "{name}: {ours:?} {begins:?}");
        for (ours, theirs) in ours.0.iter().zip(&begins) {
            assert!(is_soon_after(*theirs, *ours), "{name}: {theirs} for {ours}");
        }
        // A user that is cut at the very end may not get to say so.
        for theirs in of("end") {
            let is_ours = ours.1.iter().any(|ours| is_soon_after(theirs, *ours));
            assert!(is_ours, "{name}: {theirs} is none of {:?}", ours.1);
        }
    }
}

/// Numbers of users and iterations in the whole test, as k6 2.2 showed them to a segment's script.
#[test]
fn a_segments_numbers_are_those_of_k6() {
    let stages = json!([{"duration": "1s", "target": 20}]);
    let options = json!({
        "executionSegment": SEGMENT,
        "executionSegmentSequence": "0,1/4,1/2,1",
        "scenarios": {
            "shared": {"executor": "shared-iterations", "vus": 6, "iterations": 30},
            "each": {"executor": "per-vu-iterations", "vus": 6, "iterations": 3},
            "looping": {"executor": "constant-vus", "vus": 6, "duration": "1s"},
            "arrivals": {
                "executor": "constant-arrival-rate",
                "rate": 20, "duration": "1s", "preAllocatedVUs": 7,
            },
            "ramp": {
                "executor": "ramping-arrival-rate",
                "startRate": 20, "stages": stages, "preAllocatedVUs": 7,
            },
        },
    });
    let (script, _) = Options::from_json(Tier::Script, &options).expect("options");
    let all = consolidate(Tiers { script, ..Tiers::default() }).expect("plans");
    let users: Vec<_> = (1..6).filter_map(|n| all.users.number(n - 1)).map(|n| n + 1).collect();
    assert_eq!(users, [4, 8, 12, 16, 20]);
    for plan in &all.scenarios {
        let numbers: Vec<_> = (0..3).filter_map(|k| plan.stripes.number(k)).collect();
        let expected = match plan.name.as_str() {
            "shared" => [5, 11, 17],
            "arrivals" | "ramp" => [3, 10, 17],
            _ => [3, 7, 11],
        };
        assert_eq!(numbers, expected, "{}", plan.name);
    }
    let shared = all.scenarios.iter().find(|plan| plan.name == "shared").expect("shared");
    assert_eq!((shared.slots(), shared.iterations()), (1, Some(5)));
}
