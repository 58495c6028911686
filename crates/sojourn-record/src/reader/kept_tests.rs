//! Kept journeys: one each, however often and whenever something is told of them.

use super::{tests::*, *};
use crate::{
    DuplicateInstant, DuplicateRecord, KeptCount, KeptRecord, MessageHead, MessageSample, RunWriter,
};

fn sample(seen_ns: u64, body: Option<&str>) -> MessageSample {
    let head = body.map(|body| MessageHead { body: body.to_owned(), ..MessageHead::default() });
    MessageSample { stage: "settled".to_owned(), seen_ns, head }
}

#[test]
fn records_of_one_journey_are_one_journey() {
    let place = place();
    let mut writer = RunWriter::create(&place.path, &identity("a", 0)).unwrap();
    let as_ = |role: &str| JourneyRecord { kept_as: role.to_owned(), ..journey(5) };
    let first = JourneyRecord {
        duplicates: vec![duplicate(10)],
        messages: vec![sample(10, None)],
        ..as_("late")
    };
    writer.journey(&first).unwrap();
    writer.journey(&journey(6)).unwrap();
    let message = Some(sample(20, Some("b")));
    let later = DuplicateRecord { message, ..again(5, 20) };
    writer.duplicate(&later).unwrap();
    // What was told before is no news; of a journey that is not there, nothing is known.
    writer.duplicate(&later).unwrap();
    writer.duplicate(&again(77, 20)).unwrap();
    let messages = vec![sample(10, Some("a"))];
    writer.journey(&JourneyRecord { messages, ..as_("slowest") }).unwrap();
    writer.journey(&as_("sample")).unwrap();
    drop(writer);
    let run = RunFile::open(&place.path).unwrap();
    assert_eq!(run.cut_off, None);
    let [of_five, _six] = run.journeys.as_slice() else { panic!("{:?}", run.journeys) };
    let roles = ["late", "duplicated", "slowest", "sample"];
    assert!(roles.iter().all(|role| of_five.is_kept_as(role)), "{of_five:?}");
    assert_eq!(of_five.also_kept_as.len(), 3);
    assert_eq!(of_five.duplicates, [duplicate(10), duplicate(20)]);
    assert_eq!(of_five.messages, [sample(10, Some("a")), sample(20, Some("b"))]);
}

/// A journey as files of before had it.
#[test]
fn a_record_of_before_is_read() {
    let old = r#"{"journey":"payment","id":3,"key":"k","class":"lost","phase":"steady",
        "kept_as":"lost","t0_ns":5,"t1_ns":6,"t2_ns":null,"end_ns":9,"steps":[],
        "stages":[{"name":"settled","seen_ns":null}],"reason":null}"#;
    let record: JourneyRecord = serde_json::from_str(old).unwrap();
    assert_eq!((record.id, record.negative_hops, record.duplicates.len()), (3, 0, 0));
    // And a journey to which nothing new befell is written as before.
    let text = serde_json::to_string(&record).unwrap();
    assert!(!text.contains("duplicates") && !text.contains("messages"), "{text}");
}

#[test]
fn a_merged_run_has_both_counts_and_later_instants() {
    let places = [place(), place()];
    for (at, place) in places.iter().enumerate() {
        let start_unix_ns = at as u64 * SECOND;
        let mut writer =
            RunWriter::create(&place.path, &identity(&at.to_string(), start_unix_ns)).unwrap();
        for snapshots in seconds(4, 1) {
            writer.interval(&snapshots).unwrap();
        }
        writer.journey(&JourneyRecord { duplicates: vec![duplicate(7)], ..journey(1) }).unwrap();
        let classes = vec![KeptCount { class: "lost".to_owned(), kept: 1, not_kept: 2 }];
        writer.kept(&KeptRecord { classes, each_max: 1, duplicates_beyond: 4 }).unwrap();
    }
    let runs = places.iter().map(|place| RunFile::open(&place.path).unwrap()).collect();
    let merged = RunFile::merge(runs).unwrap();
    let seen: Vec<u64> = merged.journeys.iter().map(|it| it.duplicates[0].seen_ns).collect();
    assert_eq!(seen, [7, SECOND + 7]);
    let kept = merged.kept.unwrap();
    assert_eq!((kept.classes[0].kept, kept.classes[0].not_kept), (2, 4));
    assert_eq!((kept.each_max, kept.duplicates_beyond), (1, 8));
}

/// Foreign files may say anything.
#[test]
fn a_journey_with_endless_duplicates_stays_bounded() {
    let mut record = journey(1);
    for seen_ns in 0..20_000 {
        let stage = "settled".to_owned();
        record.add_duplicate(DuplicateInstant { stage, kind: String::new(), seen_ns });
    }
    assert_eq!((record.duplicates.len(), record.duplicates_beyond), (10_000, 10_000));
}
