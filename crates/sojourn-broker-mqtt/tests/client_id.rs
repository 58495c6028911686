//! Whose session it is: the channel's `client_id`, by the broker's own log.

use std::time::Duration;

use sojourn_broker::{Consumer, Tap};
use sojourn_broker_mqtt::MqttConsumer;
use sojourn_plan::{MqttChannel, MqttVersion};
use sojourn_services::{Mosquitto, Service};

use crate::passive::Client;
use crate::support::{
    Keep, channel, opened, poll_to_end, poll_until, publish, publisher, wait_for,
};

const ID: &str = "orders-tap";

fn named(mosquitto: &Mosquitto, version: MqttVersion) -> MqttChannel {
    MqttChannel { client_id: Some(ID.to_owned()), version, ..channel(mosquitto, "jobs") }
}

/// Ends the broker: it writes its log then. Ids of the clients that had connected, in their order,
/// of those that begin so.
fn connected(mosquitto: &mut Mosquitto) -> Vec<String> {
    mosquitto.stop();
    let log = std::fs::read_to_string(mosquitto.instance().log()).unwrap();
    let ids = log.lines().filter_map(|line| {
        let (_, rest) = line.split_once("New client connected from ")?;
        rest.split(" as ").nth(1)?.split(' ').next()
    });
    ids.filter(|id| id.starts_with(ID)).map(str::to_owned).collect()
}

#[test]
fn publishers_and_consumers_leave_the_taps_session_alone() {
    for version in [MqttVersion::V5, MqttVersion::V3] {
        let mut mosquitto = Mosquitto::start().unwrap();
        let way = named(&mosquitto, version);
        let mut tap = opened(&way);
        let mut publishers = [publisher(&way), publisher(&way)];
        let (mut member, mut taken) = (None, Keep::default());
        // The older version shares nothing.
        if version == MqttVersion::V5 {
            let member = member.insert(MqttConsumer::new(&way, "workers").unwrap());
            member.consume(1, Duration::ZERO, &mut taken).unwrap();
        }
        let [first, second] = &mut publishers;
        publish(first, "jobs", &["one"]);
        publish(second, "jobs", &["two", "end"]);
        if let Some(member) = &mut member {
            wait_for(|| {
                member.consume(5, Duration::from_millis(20), &mut taken).unwrap();
                member.commit().unwrap();
                taken.0.len() == 3
            });
        }
        let mut keep = Keep::default();
        poll_to_end(&mut tap, &mut keep);
        assert_eq!(keep.texts(), ["one", "two"]);
        assert!(tap.take_gaps().is_empty());
        let mut ids = connected(&mut mosquitto);
        assert_eq!(ids[0], ID);
        let of =
            |kind: &str| ids.iter().filter(|id| id.starts_with(&format!("{ID}-{kind}"))).count();
        assert_eq!((of("p"), of("c")), (2, usize::from(member.is_some())), "{ids:?}");
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 3 + usize::from(member.is_some()), "each is another: {ids:?}");
    }
}

/// Who comes with the tap's id takes its session over, which the tap says: a stretch is missing.
#[test]
fn a_client_with_the_same_id_takes_the_taps_session_over() {
    for version in [MqttVersion::V5, MqttVersion::V3] {
        let mut mosquitto = Mosquitto::start().unwrap();
        let way = named(&mosquitto, version);
        let mut tap = opened(&way);
        let mut other = Client::connect(mosquitto.port(), "somebody-else", true);
        let mut keep = Keep::default();
        other.publish("jobs", b"one");
        poll_until(&mut tap, &mut keep, |_, keep| keep.0.len() == 1);
        assert!(tap.take_gaps().is_empty(), "another id takes nothing over");
        let _same = Client::connect(mosquitto.port(), ID, true);
        let mut gaps = Vec::new();
        wait_for(|| {
            tap.poll(Duration::from_millis(20), &mut keep).unwrap();
            gaps.extend(tap.take_gaps());
            !gaps.is_empty()
        });
        // It has come back under its own id.
        other.publish("jobs", b"two");
        poll_until(&mut tap, &mut keep, |_, keep| keep.0.len() == 2);
        assert_eq!(keep.texts(), ["one", "two"]);
        assert_eq!(connected(&mut mosquitto), [ID; 3], "the tap, the other, the tap again");
    }
}
