//! Promise: the backlog told is what waits.

use std::time::Duration;

use sojourn_broker::{Figure, Reading};

use crate::Rig;
use crate::account::messages;
use crate::patience::wait_for;

/// Nothing waits, then what was put there, then what the system has left of it; asking changes
/// nothing.
pub fn the_backlog_is_what_waits(rig: &mut dyn Rig) {
    let Some(name) = rig.backlog() else { return };
    let mut system = rig.system().unwrap();
    let channel = rig.channel_with_backlog(&name);
    let mut backlog = rig.connector().backlog(&channel).unwrap().unwrap();
    let mut read = |expected: f64| {
        let mut last = Vec::new();
        // Brokers count with a delay.
        let waiting = wait_for(&format!("{expected} waiting for `{name}`"), || {
            last.clear();
            backlog.read(Duration::from_secs(5), &mut last).unwrap();
            last.iter()
                .find(|reading| is_waiting(reading))
                .filter(|it| it.value == expected)
                .cloned()
        });
        assert!(waiting.of.contains(&name), "{waiting:?}");
        for reading in &last {
            assert!(reading.value >= 0.0 && reading.value.is_finite(), "{reading:?}");
        }
    };
    read(0.0);
    rig.publish(&messages(0..25));
    read(25.0);
    assert_eq!(system.take(10).len(), 10);
    read(15.0);
    read(15.0);
    assert_eq!(system.take(15).len(), 15);
    read(0.0);
    // A name that the broker does not know.
    let channel = rig.channel_with_backlog("no-such-name-anywhere");
    let asked = rig.connector().backlog(&channel).map(|backlog| backlog.unwrap());
    let mut readings = Vec::new();
    let read = asked.and_then(|mut backlog| backlog.read(Duration::from_secs(5), &mut readings));
    match read {
        Err(error) => crate::cut::assert_names(&error, &["no-such-name-anywhere".to_owned()]),
        // A group that nobody has joined yet has committed nothing.
        Ok(()) => assert!(readings.iter().all(|reading| reading.of.contains("no-such-name"))),
    }
}

/// A server that is away is an error, and the figures come again when it is back.
pub fn the_backlog_outlives_a_restart(rig: &mut dyn Rig) {
    let Some(name) = rig.backlog() else { return };
    let system = rig.system().unwrap();
    let channel = rig.channel_with_backlog(&name);
    let mut backlog = rig.connector().backlog(&channel).unwrap().unwrap();
    let mut readings = Vec::new();
    wait_for("a first reading", || {
        backlog.read(Duration::from_secs(5), &mut readings).unwrap();
        readings.iter().find(|reading| is_waiting(reading)).cloned()
    });
    drop(system);
    rig.kill();
    let mut none = Vec::new();
    let error = backlog.read(Duration::from_secs(2), &mut none).unwrap_err();
    let word = channel.connector.word().to_owned();
    crate::cut::assert_names(&error, &[word, rig.address().port().to_string()]);
    rig.restart();
    wait_for("a reading after the restart", || {
        let mut readings = Vec::new();
        backlog.read(Duration::from_secs(5), &mut readings).ok()?;
        readings.iter().find(|reading| is_waiting(reading)).cloned()
    });
}

fn is_waiting(reading: &Reading) -> bool {
    matches!(reading.figure, Figure::Waiting)
}
