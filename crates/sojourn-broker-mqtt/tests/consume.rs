//! Members of a shared subscription share the messages, and acknowledge when asked.

use std::time::Duration;

use sojourn_broker::Consumer;
use sojourn_broker_mqtt::MqttConsumer;
use sojourn_plan::MqttChannel;
use sojourn_services::Mosquitto;

use crate::support::{Keep, channel, opened, poll_to_end, publish, publisher, wait_for};

const TICK: Duration = Duration::from_millis(20);

#[test]
fn two_members_share_what_a_tap_sees_whole() {
    let mosquitto = Mosquitto::start().unwrap();
    for qos in 0..=2 {
        let way = MqttChannel { qos, ..channel(&mosquitto, "jobs/+") };
        let mut members = [(); 2].map(|()| MqttConsumer::new(&way, "workers").unwrap());
        let mut keeps = [(); 2].map(|()| Keep::default());
        assert_eq!(members[0].assigned(), 0);
        for (member, keep) in members.iter_mut().zip(&mut keeps) {
            assert_eq!(member.consume(5, Duration::ZERO, keep).unwrap(), 0);
            assert_eq!(member.assigned(), 1);
        }
        let mut tap = opened(&way);
        let texts: Vec<_> = (0..60).map(|number| number.to_string()).collect();
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        publish(&mut publisher(&way), "jobs/1", &texts);
        publish(&mut publisher(&way), "jobs/2", &["end"]);
        wait_for(|| {
            for (member, keep) in members.iter_mut().zip(&mut keeps) {
                assert!(member.consume(5, TICK, keep).unwrap() <= 5);
                member.commit().unwrap();
            }
            keeps.iter().map(|keep| keep.0.len()).sum::<usize>() == 61
        });
        let mut all: Vec<_> = keeps.iter().flat_map(Keep::texts).collect();
        assert!(keeps.iter().all(|keep| keep.0.len() >= 20), "one member has nearly all");
        all.sort_by_key(|text| text.parse::<u32>().unwrap_or(u32::MAX));
        assert_eq!(all[..60], texts);
        let mut keep = Keep::default();
        poll_to_end(&mut tap, &mut keep);
        assert_eq!(keep.texts(), texts);
        for member in &mut members {
            member.leave();
            assert!(member.consume(1, Duration::ZERO, &mut keep).is_err());
            assert!(member.commit().is_err());
        }
    }
}

#[test]
fn what_is_not_committed_counts_against_the_brokers_window() {
    // Mosquitto gives a member twenty messages that it has not acknowledged.
    let mosquitto = Mosquitto::start().unwrap();
    let way = channel(&mosquitto, "jobs");
    let mut member = MqttConsumer::new(&way, "workers").unwrap();
    let mut keep = Keep::default();
    member.consume(1, Duration::ZERO, &mut keep).unwrap();
    let texts: Vec<_> = (0..30).map(|number| number.to_string()).collect();
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    publish(&mut publisher(&way), "jobs", &texts);
    wait_for(|| {
        member.consume(100, TICK, &mut keep).unwrap();
        keep.0.len() >= 20
    });
    assert_eq!(member.consume(100, Duration::from_millis(100), &mut keep).unwrap(), 0);
    member.commit().unwrap();
    wait_for(|| {
        member.consume(100, TICK, &mut keep).unwrap();
        keep.0.len() >= 30
    });
    assert_eq!(keep.texts(), texts);
}
