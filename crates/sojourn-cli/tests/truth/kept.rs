//! What a run file keeps, against the demo's own log: exactly the journeys that something befell,
//! each with exactly what befell it; and what `sojourn report` makes of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use serde_json::Value;
use sojourn_clock::MILLISECOND_NS;
use sojourn_demo::{Demo, DemoConfig, JourneyEnd, JourneyTruth, RelayConfig, Stage, TruthLog};
use sojourn_engine::{KeepBounds, RunOptions, Stop};
use sojourn_record::{JourneyRecord, RunFile, Verdict};
use sojourn_report::{ReportModel, model::KeptJourney, render};
use sojourn_testkit::{Output, sojourn};

use super::{PLAN, SEED, brokers::faults_of_messages, journeys::STAGES, log::Log, size};
use crate::common;

/// A run with all faults of messages, its file, and the log.
struct Told {
    folder: tempfile::TempDir,
    path: PathBuf,
    run: RunFile,
    log: Log,
}

fn run_demo(keep: KeepBounds) -> Told {
    let _turn = common::alone();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let truth_path = folder.path().join("truth.ndjson");
    let config = DemoConfig {
        seed: SEED,
        truth_path: Some(truth_path.clone()),
        relay: RelayConfig { poll_ms: 20, ..RelayConfig::default() },
        faults: faults_of_messages(),
        ..DemoConfig::default()
    };
    let demo = Demo::start(config).expect("the demo starts");
    let size = size();
    let numbers = [size.rate_per_s, size.warmup_s, size.steady_s].map(|number| number.to_string());
    let environment = [
        ("TARGET", demo.api_url()),
        ("KAFKA", demo.brokers()),
        ("WITHIN", "3000"),
        ("LINGER", "1000"),
        ("RATE", &numbers[0]),
        ("WARMUP", &numbers[1]),
        ("STEADY", &numbers[2]),
    ];
    let plan = common::plan(PLAN, &environment);
    let path = folder.path().join("run.sojourn");
    let mut options = RunOptions::new(path.clone(), "kept-run".to_owned());
    options.keep = keep;
    options.linger_ns = 1_000 * MILLISECOND_NS;
    let registry = common::registry();
    let summary = sojourn_engine::run(&plan, &options, &registry, &Stop::default(), &mut |_| {})
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(summary.verdict, Verdict::Pass, "{summary:?}");
    demo.stop().expect("the demo ends");
    let truth = TruthLog::read(&truth_path).expect("the log is readable");
    let run = RunFile::open(&path).unwrap_or_else(|error| panic!("{error}"));
    let log = Log::until_the_end_of(&run, &truth);
    Told { folder, path, run, log }
}

/// (stage, kind) of each message of a payment beyond the first of its stage.
fn repetitions(truth: &JourneyTruth) -> Vec<(&'static str, &'static str)> {
    let mut found = Vec::new();
    for stage in Stage::ALL {
        let mut messages = truth.stages[stage.index()].publications.iter();
        let Some(first) = messages.next() else { continue };
        for message in messages {
            let same_id = message.message_id == first.message_id;
            let kind = if same_id { "redelivery" } else { "republication" };
            found.push((STAGES[stage.index()], kind));
        }
    }
    found.sort_unstable();
    found
}

fn is_out_of_order(truth: &JourneyTruth) -> bool {
    Stage::ALL.into_iter().any(|stage| super::log::is_out_of_order(truth, stage))
}

/// Kept payments by key.
fn payments(run: &RunFile) -> BTreeMap<&str, &JourneyRecord> {
    let payments = run.journeys.iter().filter(|record| record.journey == "payment");
    let by_key: BTreeMap<_, _> =
        payments.clone().filter_map(|it| Some((it.key.as_deref()?, it))).collect();
    assert_eq!(by_key.len(), payments.count(), "a journey is kept twice, or without its key");
    by_key
}

fn keys<'a>(of: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    of.collect()
}

/// Keys of kept payments for which something holds.
fn kept<'a>(
    kept: &BTreeMap<&'a str, &JourneyRecord>,
    holds: impl Fn(&JourneyRecord) -> bool,
) -> BTreeSet<&'a str> {
    keys(kept.iter().filter(|(_, it)| holds(it)).map(|(key, _)| *key))
}

/// Keys of the log's payments for which something holds.
fn logged(log: &Log, holds: impl Fn(&JourneyTruth) -> bool) -> BTreeSet<&str> {
    keys(log.journeys.iter().filter(|(_, it)| holds(it)).map(|(key, _)| key.as_str()))
}

#[test]
fn exactly_what_befell_is_kept() {
    let messages = KeepBounds { messages_bytes: 32 << 20, ..KeepBounds::default() };
    let told = run_demo(messages);
    let of_run = payments(&told.run);
    let ends = |ends: &'static [JourneyEnd]| move |it: &JourneyTruth| ends.contains(&it.end());
    let lost = logged(&told.log, ends(&[JourneyEnd::Dropped, JourneyEnd::Stopped]));
    let failed = logged(&told.log, ends(&[JourneyEnd::DeadLettered]));
    assert!(!lost.is_empty() && !failed.is_empty());
    assert_eq!(kept(&of_run, |it| it.class == "lost"), lost);
    assert_eq!(kept(&of_run, |it| it.class == "failed"), failed);

    let completes = |it: &JourneyTruth| it.end() == JourneyEnd::Completed;
    let again = logged(&told.log, |it| completes(it) && !repetitions(it).is_empty());
    assert!(again.len() > 5, "{again:?}");
    let completed = |it: &JourneyRecord| it.class == "completed" || it.class == "late";
    let is_again = |it: &JourneyRecord| completed(it) && !it.duplicates.is_empty();
    assert_eq!(kept(&of_run, is_again), again);
    let disordered = logged(&told.log, |it| completes(it) && is_out_of_order(it));
    assert!(!disordered.is_empty());
    assert_eq!(kept(&of_run, |it| completed(it) && it.negative_hops > 0), disordered);

    let mut after_the_end = 0;
    for (key, record) in &of_run {
        let truth = &told.log.journeys[*key];
        let mut found: Vec<(&str, &str)> =
            record.duplicates.iter().map(|it| (it.stage.as_str(), it.kind.as_str())).collect();
        found.sort_unstable();
        if completed(record) {
            assert_eq!(found, repetitions(truth), "{key}");
        }
        after_the_end += record.duplicates.iter().filter(|it| it.seen_ns > record.end_ns).count();
        messages_are_its_own(record, key);
    }
    // Most of a journey's last events come again after it is complete.
    assert!(after_the_end > 0);
    assert_counts(&told.run, 0);
}

/// Every stage reached and every duplicate has its message, which names the payment.
fn messages_are_its_own(record: &JourneyRecord, key: &str) {
    let reached = record.stages.iter().filter(|stage| stage.seen_ns.is_some()).count();
    assert_eq!(record.messages.len(), reached + record.duplicates.len(), "{record:?}");
    let id = key.strip_prefix("pay:").unwrap_or(key);
    for message in &record.messages {
        let head = message.head.as_ref().expect("all are still held");
        assert!(head.is_text && head.body.contains(id), "{key}: {message:?}");
    }
}

/// The counts of the file agree with the ledger and with what is there.
fn assert_counts(run: &RunFile, not_kept_least: u64) {
    let counts = run.kept.as_ref().expect("the run ended in order");
    let mut not_kept = 0;
    for count in &counts.classes {
        let found = run.journeys.iter().filter(|it| it.is_kept_as(&count.class)).count() as u64;
        assert_eq!(found, count.kept, "{}", count.class);
        not_kept += count.not_kept;
        if ["lost", "failed", "late", "root_failed"].contains(&count.class.as_str()) {
            let metric = format!("journeys.{}", count.class);
            let figures = run.store.series().filter(|(key, _)| key.metric == metric);
            let all: u64 = figures.map(|(key, _)| run.store.counter(key)).sum();
            assert_eq!(count.kept + count.not_kept, all, "{}", count.class);
        }
    }
    assert!(not_kept >= not_kept_least);
}

#[test]
fn what_there_is_no_room_for_is_counted_and_said() {
    let told = run_demo(KeepBounds { each_max: 1, slowest: 3, messages_bytes: 0 });
    assert_counts(&told.run, 3);
    let completes = |it: &JourneyTruth| it.end() == JourneyEnd::Completed;
    let again = logged(&told.log, |it| completes(it) && !repetitions(it).is_empty());
    let counts = told.run.kept.clone().expect("counts");
    let duplicated = counts.classes.iter().find(|it| it.class == "duplicated").expect("a class");
    // Those of payments that did not complete come on top.
    assert!(duplicated.kept + duplicated.not_kept >= again.len() as u64);
    let slowest = told.run.journeys.iter().filter(|it| it.is_kept_as("slowest"));
    assert_eq!(slowest.filter(|it| it.journey == "payment").count(), 3);
    let text = render::text(&ReportModel::from_run(&told.run), false);
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("journeys are not in the file, cap 1)"), "{text}");
    assert!(told.run.journeys.iter().all(|it| it.messages.is_empty()));
}

fn report(folder: &Path, arguments: &[&str]) -> Output {
    sojourn([&["report"], arguments].concat()).in_dir(folder).run().expect("an end")
}

/// The NDJSON, the JSON report, the page and `--journey` tell the same of the same journeys.
#[test]
fn every_report_tells_the_same() {
    let told = run_demo(KeepBounds::default());
    let folder = told.folder.path();
    let written = report(folder, &["run.sojourn", "--report", "audit.ndjson"]);
    assert_eq!((written.code, written.stdout.as_str()), (Some(0), ""), "{written}");
    let text = std::fs::read_to_string(folder.join("audit.ndjson")).expect("a file");
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    let (header, journeys) = lines.split_first().expect("a header");
    assert_eq!((&header["record"], &header["run_id"]), (&"audit".into(), &"kept-run".into()));
    assert_eq!(header["journeys"], journeys.len());
    assert_eq!(journeys.len(), told.run.journeys.len());

    let model = ReportModel::from_run(&told.run);
    let of_model: Vec<&KeptJourney> =
        model.journeys.iter().flat_map(|journey| &journey.kept).collect();
    assert!(of_model.len() > 20);
    for kept in of_model {
        let mut expected = serde_json::to_value(kept).expect("serialisable");
        expected["record"] = "journey".into();
        assert!(journeys.contains(&expected), "{expected}");
    }

    let lost = told.run.journeys.iter().find(|it| it.class == "lost").expect("a lost one");
    let key = lost.key.as_deref().expect("a key");
    let shown = report(folder, &["run.sojourn", "--journey", key]);
    assert_eq!(shown.code, Some(0), "{shown}");
    for words in [key, "lost, not complete after 4.00 s", "not seen", "since t0"] {
        assert!(shown.stdout.contains(words), "{words}: {shown}");
    }
    assert!(shown.stdout.lines().all(|line| line.chars().count() <= 100), "{shown}");
    let json = report(folder, &["run.sojourn", "--journey", key, "--format", "json"]);
    let json: Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(json[0]["journeys"][0]["key"], key);
    let line = &journeys.iter().find(|it| it["key"] == key).expect("its line")["spans"];
    assert_eq!(&json[0]["journeys"][0]["spans"], line);

    // Two files, and the beginning of a key.
    std::fs::copy(&told.path, folder.join("again.sojourn")).expect("a copy");
    let both = ["run.sojourn", "again.sojourn", "--journey"];
    let twice = report(folder, &[&both[..], &[key, "--format", "ndjson"]].concat());
    assert_eq!(twice.stdout.lines().count(), 4, "{twice}");
    let begins = report(folder, &[&both[..], &[&key[..key.len() - 2]]].concat());
    assert!(begins.stdout.contains("no such key") && begins.stdout.contains(key), "{begins}");
    let all = report(folder, &["run.sojourn", "--journey", "pay:"]);
    assert!(all.stdout.contains("more: give more of the key"), "{all}");

    let page = report(folder, &["run.sojourn", "--journey", key, "--output", "one.html"]);
    assert_eq!(page.code, Some(0), "{page}");
    let page = std::fs::read_to_string(folder.join("one.html")).expect("a page");
    assert!(page.contains(key) && !page.contains(" src="));
    let whole = report(folder, &["run.sojourn", "--format", "html"]).stdout;
    assert!(whole.contains(&format!("id=\"journey-{key}\"")) && whole.len() < 1_000_000);

    let absent = report(folder, &["run.sojourn", "--journey", "nobody"]);
    assert_eq!(absent.code, Some(2), "{absent}");
    for words in ["no kept journey has the key", " slowest", "--keep all", "--keep-slowest"] {
        assert!(absent.stderr.contains(words), "{words}: {absent}");
    }
}
