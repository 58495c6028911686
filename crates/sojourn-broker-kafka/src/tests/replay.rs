//! Reading stretches again.

use sojourn_broker::{PositionRange, Span};

use super::*;

const PATIENCE: Duration = Duration::from_nanos(PATIENCE_NS);

fn replay(tap: &mut KafkaTap, span: &Span) -> Result<Vec<Seen>, BrokerError> {
    let mut seen = Collect::default();
    let count = tap.replay(span, PATIENCE, &mut seen)?;
    assert_eq!(count, seen.0.len() as u64);
    Ok(seen.0)
}

fn range(partition: u64, from: u64, to: u64) -> PositionRange {
    PositionRange { partition, from, to }
}

/// Two topics of three and two partitions, with `count` messages each.
fn filled(count: usize) -> (Cluster, KafkaTap) {
    let cluster = cluster(&[("one", 3), ("two", 2)]);
    publish_many(&cluster, count);
    let tap = open(&cluster, &["one", "two"]);
    (cluster, tap)
}

fn publish_many(cluster: &Cluster, count: usize) {
    let keys: Vec<String> = (0..count).map(|number| number.to_string()).collect();
    let messages: Vec<_> = keys.iter().map(|key| (key.as_str(), "x")).collect();
    let mut publisher = publisher(cluster);
    for topic in ["one", "two"] {
        publish(&mut publisher, topic, &messages);
    }
}

/// Everything of these partitions.
fn everything() -> Span {
    let partitions = [0, 1, 2, 1 << 32, 1 << 32 | 1];
    Span::Positions(partitions.map(|partition| range(partition, 0, u64::MAX)).into())
}

#[test]
fn a_stretch_is_read_once_and_the_tap_goes_on_where_it_was() {
    let (cluster, mut tap) = filled(40);
    let all = replay(&mut tap, &everything()).unwrap();
    assert_eq!(all.len(), 80);
    let positions = |seen: &[Seen]| -> Vec<(u64, u64)> {
        let positions = seen.iter().map(|seen| seen.position.unwrap());
        positions.map(|position| (position.partition, position.offset)).collect()
    };
    // Every partition's messages in their order, from the first offset without a gap.
    for partition in [0, 1, 2, 1 << 32, 1 << 32 | 1] {
        let own = positions(&all).into_iter().filter(|(of, _)| *of == partition);
        let offsets: Vec<u64> = own.map(|(_, offset)| offset).collect();
        assert!(offsets.len() > 4 && offsets.iter().copied().eq(0..offsets.len() as u64));
    }
    let some = [range(1, 2, 4), range(1 << 32, 0, 1), range(1 << 32 | 1, 3, 3)];
    let part = replay(&mut tap, &Span::Positions(some.into())).unwrap();
    let mut part = positions(&part);
    part.sort_unstable();
    assert_eq!(part, [(1, 2), (1, 3), (1 << 32, 0)]);
    // What came meanwhile is still to come, and nothing else.
    publish_many(&cluster, 5);
    let live = read(&mut tap, 10);
    assert!(live.iter().all(|seen| all.iter().all(|old| old.position != seen.position)));
    assert_eq!(replay(&mut tap, &everything()).unwrap().len(), 90);
}

#[test]
fn a_tap_need_not_be_open_to_read_the_past() {
    let (cluster, _open) = filled(10);
    let mut tap = KafkaTap::new(settings(&cluster.bootstrap_servers(), &["two"]));
    let seen = replay(&mut tap, &Span::Positions(vec![range(0, 0, u64::MAX)])).unwrap();
    assert!(!seen.is_empty() && seen.iter().all(|seen| seen.topic == "two"));
    assert!(tap.poll(Duration::ZERO, &mut Collect::default()).is_err(), "still not open");
}

#[test]
fn what_was_never_there_is_an_error_or_nothing() {
    let (_cluster, mut tap) = filled(3);
    for partition in [3, 7 << 32, 1 << 32 | 2, u64::MAX] {
        let error = replay(&mut tap, &Span::Positions(vec![range(partition, 0, 1)])).unwrap_err();
        assert!(error.message.contains("there is no partition"), "{error}");
    }
    let beyond = Span::Positions(vec![range(0, 1_000, 2_000), range(1, 5, 1)]);
    assert_eq!(replay(&mut tap, &beyond).unwrap(), []);
    let future = Span::Time { from_unix_ms: 32_503_680_000_000, to_unix_ms: u64::MAX };
    assert_eq!(replay(&mut tap, &future).unwrap(), []);
    assert!(tap.replay(&everything(), Duration::ZERO, &mut Collect::default()).is_err());
}

#[test]
fn a_stretch_that_was_deleted_is_an_error() {
    let cluster = cluster(&[("events", 1)]);
    let mut tap = open(&cluster, &["events"]);
    // The mock keeps 5 MB of a partition.
    let large = "x".repeat(500_000);
    publish(&mut publisher(&cluster), "events", &[("k", large.as_str()); 30]);
    let error = replay(&mut tap, &Span::Positions(vec![range(0, 0, 30)])).unwrap_err();
    assert!(error.message.contains("deleted"), "{error}");
    assert_eq!(replay(&mut tap, &Span::Positions(vec![range(0, 27, 30)])).unwrap().len(), 3);
}
