//! Runs without a terminal: a line of progress every ten seconds, or none.

use std::time::Duration;

use sojourn_testkit::{Output, sojourn};

use super::Charges;

const RATE: f64 = 20.0;
const SECONDS: u64 = 24;

/// A line of progress.
#[derive(Debug)]
struct Line {
    stretch: String,
    elapsed_s: f64,
    planned_s: f64,
    rate_per_s: f64,
    started: f64,
}

/// Reads `steady   10/24 s      20/s  started 200  completed …`; none of what is no such line.
fn line(text: &str) -> Option<Line> {
    let (before, after) = text.split_once("  started ")?;
    let words: Vec<&str> = before.split_whitespace().collect();
    let [stretch, span, "s", rate] = words[..] else { return None };
    let (elapsed, planned) = span.split_once('/')?;
    Some(Line {
        stretch: stretch.to_owned(),
        elapsed_s: elapsed.parse().ok()?,
        planned_s: planned.parse().ok()?,
        rate_per_s: rate.strip_suffix("/s")?.parse().ok()?,
        started: after.split_whitespace().next()?.parse().ok()?,
    })
}

fn run(charges: &Charges, flags: &[&str]) -> Output {
    let plan = format!(
        "name: long\ntarget: {}\n\
         journeys: {{ look: {{ root: {{ http: GET /, expect: {{ status: 404 }} }} }} }}\n\
         load: {{ rate: {RATE}/s, steady: {SECONDS}s }}\n\
         health: {{ lag_p99_max: 10s, silent_max: 60s }}\n",
        charges.target()
    );
    std::fs::write(charges.path().join("long.yaml"), plan).unwrap();
    let name = format!("run{}.sojourn", flags.len());
    let all = ["run", "long.yaml", "-o", &name].into_iter().chain(flags.iter().copied());
    let run = sojourn(all).in_dir(charges.path()).timeout(Duration::from_secs(180));
    run.env("XDG_RUNTIME_DIR", charges.path().join("run")).run().unwrap()
}

#[test]
fn without_a_terminal_a_line_comes_every_ten_seconds() {
    let charges = Charges::start();
    std::thread::scope(|scope| {
        let off = scope.spawn(|| run(&charges, &["--live", "off"]));
        let output = run(&charges, &["--quiet"]);
        assert_eq!(output.code, Some(0), "{output}");
        // Nothing that moves a cursor.
        assert!(!output.stderr.contains(['\r', '\u{1b}']), "{output}");
        let lines: Vec<Line> = output.stderr.lines().filter_map(line).collect();
        let steady: Vec<&Line> = lines.iter().filter(|it| it.stretch == "steady").collect();
        let [.., first, second] = steady[..] else { panic!("{lines:?}: {output}") };
        assert_eq!(second.elapsed_s - first.elapsed_s, 10.0, "{lines:?}");
        // No more than one each ten seconds, and one where a stretch begins.
        assert!(lines.len() <= 2 + 4, "{lines:?}");
        for line in [first, second] {
            assert_eq!((line.planned_s, line.rate_per_s), (SECONDS as f64, RATE), "{line:?}");
            // A second is one of the line's own, and a busy machine's another.
            let expected = RATE * line.elapsed_s;
            assert!((line.started - expected).abs() <= 2.0 * RATE, "{line:?}");
        }
        let off = off.join().unwrap();
        assert_eq!(off.code, Some(0), "{off}");
        assert_eq!(off.stderr.lines().filter_map(line).count(), 0, "{off}");
    });
}
