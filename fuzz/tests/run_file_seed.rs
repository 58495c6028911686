//! The seed of `run_file` is made by our own writer, so that it is a file of today.

use std::fs;
use std::path::Path;

use fuzz::{Input, target};
use sojourn_metrics::{Kind, Recorder, SeriesKey, SeriesPhase, Store};
use sojourn_record::{Identity, JourneyRecord, RunFile, RunWriter, Summary};

const SECOND: u64 = 1_000_000_000;

/// Three seconds of every kind of series, a checkpoint, a journey, a summary.
fn write(path: &Path) {
    let identity = Identity { name: "fuzzed".to_owned(), ..Identity::default() };
    let mut writer = RunWriter::create(path, &identity).unwrap();
    let mut recorder = Recorder::new(0);
    recorder.start_at(0);
    let mut store = Store::new();
    let key = |metric: &str| SeriesKey::new(metric, &[("stage", "paid")], SeriesPhase::Steady);
    for second in 1..=3 {
        let kinds = [Kind::Counter, Kind::Gauge, Kind::Rate, Kind::Trend];
        let [count, level, rate, hop] =
            kinds.map(|kind| recorder.series(kind, key(&format!("{kind:?}"))));
        recorder.add(count, second);
        recorder.set(level, 0.5);
        recorder.rate(rate, true);
        for sample in 1..5 {
            recorder.record(hop, sample * sample * 12_345 * second);
        }
        let snapshot = recorder.take(second * SECOND, None);
        store.apply(&snapshot).unwrap();
        writer.interval(&[snapshot]).unwrap();
        if second == 2 {
            writer.checkpoint(&store).unwrap();
            writer.journey(&JourneyRecord { t2_ns: Some(9), ..JourneyRecord::default() }).unwrap();
        }
    }
    let summary: Summary = serde_json::from_str(SUMMARY).unwrap();
    writer.finish(&store, &summary).unwrap();
}

const SUMMARY: &str = r#"{"verdict":"pass","causes":[],"thresholds":[],"interrupted":false,
    "arrivals_end_ns":1,"load_end_ns":2,"end_ns":3,"drain_ns":null,"notes":[]}"#;

/// The file as the target takes it: records with short lengths, nothing compressed.
fn records_of(file: &[u8]) -> Vec<u8> {
    let mut records = b"00".to_vec();
    let mut rest = &file[8..];
    while let Some((header, after)) = rest.split_first_chunk::<9>() {
        let length = u32::from_le_bytes([header[1], header[2], header[3], header[4]]) as usize;
        let payload = &after[..length];
        rest = &after[length..];
        let mut content = Vec::new();
        if matches!(header[0], 4 | 5) {
            let mut decoder = flate2::read::DeflateDecoder::new(&payload[4..]);
            std::io::Read::read_to_end(&mut decoder, &mut content).unwrap();
        } else {
            content.extend_from_slice(payload);
        }
        records.push(header[0]);
        records.extend(u16::try_from(content.len()).unwrap().to_le_bytes());
        records.extend(content);
    }
    records
}

/// `SOJOURN_WRITE_SEEDS=1` writes the seed anew, when the format has changed.
#[test]
fn a_file_of_our_writer_is_a_seed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.sojourn");
    write(&path);
    assert_eq!(RunFile::open(&path).unwrap().intervals.len(), 3);
    let file = fs::read(&path).unwrap();
    let records = records_of(&file);
    if std::env::var_os("SOJOURN_WRITE_SEEDS").is_some() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/run_file");
        fs::write(corpus.join("three-seconds"), &records).unwrap();
    }
    let check = target("run_file").unwrap().check;
    check(Input::new(&records));
    for cut in [0, 50, 255] {
        check(Input::new(&[&[1 + 2, cut], file.as_slice()].concat()));
    }
}
