//! Run files against the snapshots they were written from: whole, cut off, damaged, merged.

use std::{fs, path::PathBuf, sync::LazyLock};

use proptest::prelude::*;
use sojourn_metrics::{
    Kind, Recorder, SeriesKey, SeriesPhase, Snapshot, Threshold, ThresholdOutcome, names,
};

use super::*;
use crate::{
    Cause, DuplicateInstant, DuplicateRecord, IntervalRow, KeptRecord, RunWriter, StageInstant,
    Verdict,
};

pub(super) const SECOND: u64 = 1_000_000_000;
/// Where the monotonic clock stood when the runs of these tests started.
const START: u64 = 77 * SECOND;

fn key(metric: &str, stage: &str) -> SeriesKey {
    SeriesKey::new(metric, &[("journey", "payment"), ("stage", stage)], SeriesPhase::Steady)
}

pub(super) fn identity(run_id: &str, start_unix_ns: u64) -> Identity {
    Identity {
        name: "payments".to_owned(),
        run_id: run_id.to_owned(),
        start_unix_ns,
        start_monotonic_ns: START,
        phases_ns: [0, 5 * SECOND, SECOND],
        ..Identity::default()
    }
}

fn summary(end_ns: u64) -> Summary {
    let threshold = Threshold::parse("journey.payment.p99 < 1s").unwrap();
    Summary {
        verdict: Verdict::Void,
        causes: vec![Cause { name: "missed arrivals".to_owned(), detail: "3 of 100".to_owned() }],
        thresholds: vec![ThresholdOutcome {
            threshold,
            measured: Some(f64::INFINITY),
            held: false,
        }],
        interrupted: false,
        arrivals_end_ns: end_ns - 1,
        load_end_ns: end_ns,
        end_ns,
        drain_ns: Some(1),
        notes: vec!["a note".to_owned()],
        fleet: None,
    }
}

pub(super) fn journey(id: u64) -> JourneyRecord {
    JourneyRecord {
        journey: "payment".to_owned(),
        id,
        t0_ns: 5,
        t2_ns: Some(9),
        stages: vec![StageInstant { name: "settled".to_owned(), seen_ns: None }],
        ..JourneyRecord::default()
    }
}

pub(super) fn duplicate(seen_ns: u64) -> DuplicateInstant {
    DuplicateInstant { stage: "settled".to_owned(), kind: "redelivery".to_owned(), seen_ns }
}

pub(super) fn again(id: u64, seen_ns: u64) -> DuplicateRecord {
    DuplicateRecord { id, duplicate: duplicate(seen_ns), message: None }
}

/// A journey that came again at 7 ns.
fn journey_again(id: u64) -> JourneyRecord {
    let also_kept_as = vec!["duplicated".to_owned()];
    JourneyRecord { duplicates: vec![duplicate(7)], also_kept_as, ..journey(id) }
}

/// The snapshots of two sources over `seconds`, second by second. New series keep coming.
pub(super) fn seconds(seconds: u64, salt: u64) -> Vec<[Snapshot; 2]> {
    let mut recorders = [0, 1].map(Recorder::new);
    recorders.iter_mut().for_each(|recorder| recorder.start_at(START));
    let mut taken = Vec::new();
    for second in 0..seconds {
        for (source, recorder) in recorders.iter_mut().enumerate() {
            let count = recorder.series(Kind::Counter, key(names::STAGE_REACHED, "settled"));
            let level = recorder.series(Kind::Gauge, key(names::STAGE_IN_FLIGHT, "settled"));
            let rate = recorder.series(Kind::Rate, key("checks", "settled"));
            let stage = format!("stage {}", second / 2);
            let hop = recorder.series(Kind::Trend, key(names::STAGE_HOP, &stage));
            recorder.add(count, second + salt);
            recorder.set(level, second as f64 + source as f64);
            recorder.rate(rate, second % 2 == 0);
            for sample in 0..20 {
                let spread = 1_000 * (sample + 1) * (second + 1) + salt * 17 + source as u64;
                recorder.record(hop, spread * spread);
            }
        }
        let end = START + (second + 1) * SECOND;
        taken.push(recorders.each_mut().map(|recorder| recorder.take(end, None)));
    }
    taken
}

fn store_of(seconds: &[[Snapshot; 2]]) -> Store {
    let mut store = Store::new();
    for snapshot in seconds.iter().flatten() {
        store.apply(snapshot).unwrap();
    }
    store
}

/// A directory that goes when the test ends, and the file in it.
pub(super) struct Place {
    _dir: tempfile::TempDir,
    pub(super) path: PathBuf,
}

pub(super) fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.sojourn");
    Place { _dir: dir, path }
}

/// Writes a run with a checkpoint each third second and a journey each second.
fn write(path: &Path, identity: &Identity, seconds: &[[Snapshot; 2]]) {
    let mut writer = RunWriter::create(path, identity).unwrap();
    for (at, snapshots) in seconds.iter().enumerate() {
        writer.interval(snapshots).unwrap();
        writer.journey(&journey(at as u64)).unwrap();
        writer.duplicate(&again(at as u64, 7)).unwrap();
        writer.kept(&KeptRecord::default()).unwrap();
        if at % 3 == 2 {
            writer.checkpoint(&store_of(&seconds[..=at])).unwrap();
        }
    }
    let end_ns = seconds.len() as u64 * SECOND;
    writer.finish(&store_of(seconds), &summary(end_ns)).unwrap();
}

#[test]
fn a_whole_file_gives_back_what_was_written() {
    let place = place();
    let written = seconds(8, 1);
    write(&place.path, &identity("a", 0), &written);
    let run = RunFile::open(&place.path).unwrap();
    assert_eq!(run.identity, identity("a", 0));
    assert_eq!(run.store, store_of(&written));
    assert_eq!(run.summary, Some(summary(8 * SECOND)));
    assert_eq!(run.cut_off, None);
    assert_eq!(run.journeys.iter().map(|j| j.id).collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
    assert_eq!(run.journeys[3], journey_again(3));
    assert_eq!(run.kept, Some(KeptRecord::default()));
    assert_eq!(run.intervals.len(), 8);
    let mut summed = Store::new();
    for (at, interval) in run.intervals.iter().enumerate() {
        let second = at as u64;
        assert_eq!((interval.start_ns, interval.end_ns), (second * SECOND, (second + 1) * SECOND));
        let delta = run.delta(at).unwrap();
        let rows = &Interval::of(interval.start_ns, interval.end_ns, &delta).rows;
        let mut found = interval.rows.clone();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(&found, rows);
        summed.append(&delta);
    }
    assert_eq!(summed, run.store);
    let level = run.intervals[4].rows.iter().find(|(key, _)| key.metric == names::STAGE_IN_FLIGHT);
    assert_eq!(level.unwrap().1, IntervalRow::Gauge([9.0; 3]));
    assert_eq!(run.delta(99).unwrap(), Store::new());
}

/// Reads a file that ends early or was damaged, and holds what was read against what was written.
fn check_partial(bytes: &[u8], written: &[[Snapshot; 2]]) {
    let place = place();
    fs::write(&place.path, bytes).unwrap();
    let Ok(run) = RunFile::open(&place.path) else {
        return;
    };
    assert_eq!(run.identity, identity("a", 0));
    let whole = run.intervals.len();
    assert!(whole <= written.len());
    assert_eq!(run.store, store_of(&written[..whole]), "{whole} seconds");
    for (at, interval) in run.intervals.iter().enumerate() {
        let expected = at as u64 * SECOND;
        assert_eq!(interval.start_ns, expected);
    }
    // Journeys after a damaged second are kept: they stand for themselves.
    assert!(run.journeys.len() <= written.len());
}

/// The bytes of a whole file.
fn bytes_of(written: &[[Snapshot; 2]]) -> Vec<u8> {
    let place = place();
    write(&place.path, &identity("a", 0), written);
    fs::read(&place.path).unwrap()
}

#[test]
fn every_cut_leaves_whole_seconds() {
    let written = seconds(4, 1);
    let bytes = bytes_of(&written);
    let identity_end = 8 + 9 + serde_json::to_vec(&identity("a", 0)).unwrap().len();
    let place = place();
    let mut seen = 0;
    for cut in 0..=bytes.len() {
        fs::write(&place.path, &bytes[..cut]).unwrap();
        match RunFile::open(&place.path) {
            Ok(run) => {
                assert!(cut >= identity_end);
                let whole = run.intervals.len();
                // More bytes never give less.
                assert!(whole >= seen, "{cut}");
                seen = whole;
                assert_eq!(run.store, store_of(&written[..whole]), "{cut}");
                assert_eq!(run.summary.is_some(), cut == bytes.len());
            }
            Err(error) => {
                assert!(cut < identity_end, "{cut}: {error}");
                assert!(error.to_string().contains("run.sojourn"), "{error}");
            }
        }
    }
    assert_eq!(seen, written.len());
}

#[test]
fn a_cut_is_said_in_words_with_its_place() {
    let written = seconds(4, 1);
    let bytes = bytes_of(&written);
    let place = place();
    fs::write(&place.path, &bytes[..bytes.len() - 3]).unwrap();
    let run = RunFile::open(&place.path).unwrap();
    let words = run.cut_off.unwrap();
    assert!(words.contains("at byte") && words.contains("not read"), "{words}");
    assert_eq!((run.summary, run.intervals.len()), (None, 4));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn damage_loses_seconds_but_never_lies_or_panics(
        at in any::<prop::sample::Index>(), flip in 1u8.., cut in any::<prop::sample::Index>(),
    ) {
        static WHOLE: LazyLock<(Vec<[Snapshot; 2]>, Vec<u8>)> = LazyLock::new(|| {
            let written = seconds(7, 1);
            let bytes = bytes_of(&written);
            (written, bytes)
        });
        let (written, mut bytes) = (&WHOLE.0, WHOLE.1.clone());
        let length = bytes.len();
        bytes[at.index(length)] ^= flip;
        check_partial(&bytes, written);
        bytes.truncate(cut.index(length));
        check_partial(&bytes, written);
    }

    #[test]
    fn noise_is_no_run_file(noise in prop::collection::vec(any::<u8>(), 0..300), with_magic: bool) {
        let place = place();
        let magic: &[u8] = if with_magic { crate::format::MAGIC } else { &[] };
        fs::write(&place.path, [magic, &noise].concat()).unwrap();
        let is_refused = matches!(RunFile::open(&place.path), Err(ReadError::Format { .. }));
        prop_assert!(is_refused);
    }
}

#[test]
fn other_files_are_refused_in_words() {
    let place = place();
    let check = |bytes: &[u8], words: &str| {
        fs::write(&place.path, bytes).unwrap();
        let error = RunFile::open(&place.path).unwrap_err().to_string();
        assert!(error.contains("run.sojourn") && error.contains(words), "{error}");
    };
    check(b"", "0 bytes");
    check(b"<html><body>", "does not begin as one");
    check(b"SOJOURN\x02 and more", "format version 2");
    check(b"SOJOURN\x01", "cut off at its very start");
    let missing = RunFile::open(Path::new("/nonexistent/x.sojourn")).unwrap_err();
    assert!(missing.to_string().contains("/nonexistent/x.sojourn"), "{missing}");
}

#[test]
fn unknown_records_are_passed_over() {
    let written = seconds(2, 1);
    let mut bytes = bytes_of(&written);
    // A record of type 200 with the payload "hi": its checksum as the format defines it.
    let head = [200u8, 2, 0, 0, 0];
    let crc32 = crc32fast::hash(&[&head[..], b"hi"].concat());
    bytes.extend([&head[..], &crc32.to_le_bytes(), b"hi"].concat());
    let place = place();
    fs::write(&place.path, &bytes).unwrap();
    let run = RunFile::open(&place.path).unwrap();
    assert_eq!((run.cut_off, run.intervals.len()), (None, 2));
}

#[test]
fn a_full_disk_is_an_error_that_names_the_file() {
    // Linux's device that is always full.
    let error = RunWriter::create(Path::new("/dev/full"), &identity("a", 0)).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    assert!(error.to_string().contains("/dev/full"), "{error}");
    let nowhere = RunWriter::create(Path::new("/nonexistent/x.sojourn"), &identity("a", 0));
    assert!(nowhere.unwrap_err().to_string().contains("/nonexistent/x.sojourn"));
}

#[test]
fn runs_merge_as_if_they_had_been_one() {
    let place_a = place();
    let place_b = place();
    let (a, b) = (seconds(6, 1), seconds(5, 40));
    // The second started 2.3 seconds before the first.
    let unix = 1_000 * SECOND;
    let offset = 2_300_000_000;
    write(&place_a.path, &identity("a", unix + offset), &a);
    write(&place_b.path, &identity("b", unix), &b);
    let open = |place: &Place| RunFile::open(&place.path).unwrap();
    let merged = RunFile::merge(vec![open(&place_a), open(&place_b)]).unwrap();
    assert_eq!(merged.identity.run_id, "a");
    assert_eq!(merged.identity.start_unix_ns, unix);
    let mut expected = store_of(&a);
    expected.merge(&store_of(&b));
    assert_eq!(merged.store, expected);
    // a's seconds have their middles at 2.8, 3.8 …, b's at 0.5, 1.5 …: eight seconds in all, and
    // the figures of second 3 are those of a's 1 and b's 3 together.
    assert_eq!(merged.intervals.len(), 8);
    let (of_a, of_b) = (open(&place_a).delta(1).unwrap(), open(&place_b).delta(3).unwrap());
    let mut both = of_a.clone();
    both.merge(&of_b);
    assert_eq!(merged.intervals[3], Interval::of(3 * SECOND, 4 * SECOND, &both));
    assert_eq!(merged.delta(3).unwrap(), both);
    let settled = key(names::STAGE_IN_FLIGHT, "settled");
    assert_eq!(merged.delta(3).unwrap().gauge(&settled), Some((3.0 + 7.0, 10.0, 10.0)));
    assert_eq!(merged.journeys.len(), 11);
    assert_eq!(merged.journeys[0].t0_ns, 5 + offset);
    assert_eq!(merged.journeys[6].t0_ns, 5);
    let whole = merged.summary.clone().unwrap();
    assert_eq!(whole.verdict, Verdict::Void);
    assert_eq!(whole.end_ns, 6 * SECOND + offset);
    // Merged once more with a third: samples of all three files.
    let again = RunFile::merge(vec![merged, open(&place_b)]).unwrap();
    both.merge(&of_b);
    assert_eq!(again.delta(3).unwrap(), both);
}

#[test]
fn runs_apart_in_time_do_not_merge() {
    let place_a = place();
    let place_b = place();
    write(&place_a.path, &identity("a", 0), &seconds(2, 1));
    write(&place_b.path, &identity("b", 4 * SECOND), &seconds(2, 1));
    let runs = [&place_a, &place_b].map(|place| RunFile::open(&place.path).unwrap());
    let words = RunFile::merge(runs.to_vec()).unwrap_err();
    assert!(words.contains("run b starts 2.0 s after run a has ended"), "{words}");
    assert!(RunFile::merge(vec![]).is_err());
}
