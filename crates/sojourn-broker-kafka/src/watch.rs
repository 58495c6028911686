//! What librdkafka says of itself: errors, and statistics that the tap's health is read from.
//!
//! Health, by each statistics event (every 500 ms, made by librdkafka whatever the brokers do):
//! - *unreachable*: a broker that leads one of our partitions has no connection. For more than a
//!   second, and the tap is lost.
//! - *behind*: the greatest of three. How long the event itself waited for us to poll. How long the
//!   leader has said nothing (it answers a fetch every few milliseconds even when there is
//!   nothing). How long ago the broker first reported an end of a partition that we have not yet
//!   read up to.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rdkafka::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::ConsumerContext;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use serde::Deserialize;
use sojourn_clock::now_ns;

use crate::config::Redactor;

/// States of a broker connection in which requests can be sent.
const UP: [&str; 2] = ["UP", "REAUTH"];

/// A quiet client context. librdkafka calls it on the thread that polls; the lock is never
/// contended.
pub(crate) struct Watch {
    redactor: Redactor,
    /// Callbacks served: a poll that returned nothing may have served one instead of finding the
    /// queue empty.
    served: AtomicU64,
    health: Mutex<Health>,
}

/// What is known of the connection.
#[derive(Debug, Default)]
pub(crate) struct Health {
    /// Last error that librdkafka reported, in words, without secrets.
    pub(crate) last_error: Option<String>,
    /// Credentials were refused: trying again does not help.
    pub(crate) refused: bool,
    /// Since when a leader of ours has no connection, and its name.
    pub(crate) unreachable: Option<(u64, String)>,
    /// How far the tap reads behind, nanoseconds: the worst of the statistics that the latest poll
    /// served, since after a pause several come at once.
    pub(crate) behind_ns: Option<u64>,
    /// Statistics were served since the poll began.
    served_in_poll: bool,
    /// Partitions that exist and are not assigned: (topic, partition).
    pub(crate) unassigned: Vec<(String, i32)>,
    /// Requests sent so far, by kind.
    #[cfg(test)]
    pub(crate) requests: HashMap<String, i64>,
    down_since_ns: HashMap<i32, u64>,
    /// Ends of partitions that we had not read up to when they were first reported: (end, when).
    ends: HashMap<(String, i32), (i64, u64)>,
}

impl Watch {
    pub(crate) fn new(redactor: Redactor) -> Self {
        Self { redactor, served: AtomicU64::new(0), health: Mutex::default() }
    }

    /// Callbacks served so far.
    pub(crate) fn served(&self) -> u64 {
        self.served.load(Ordering::Relaxed)
    }

    /// What is known of the connection.
    pub(crate) fn health(&self) -> MutexGuard<'_, Health> {
        // A panic elsewhere leaves facts behind, not a broken structure.
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the values of properties out of a text.
    pub(crate) fn redact(&self, text: &str) -> String {
        self.redactor.redact(text)
    }
}

impl ClientContext for Watch {
    fn log(&self, _level: RDKafkaLogLevel, _facility: &str, _message: &str) {
        // Errors come as errors too; the rest would only disturb the terminal.
        self.served.fetch_add(1, Ordering::Relaxed);
    }

    fn stats_raw(&self, statistics: &[u8]) {
        self.served.fetch_add(1, Ordering::Relaxed);
        // Statistics of another shape than we know say nothing of health; connection errors still
        // do.
        if let Ok(statistics) = serde_json::from_slice::<Statistics<'_>>(statistics) {
            self.health().update(&statistics, now_ns());
        }
    }

    fn error(&self, error: KafkaError, reason: &str) {
        self.served.fetch_add(1, Ordering::Relaxed);
        let mut health = self.health();
        match error.rdkafka_error_code() {
            // Says less than the errors that led to it.
            Some(RDKafkaErrorCode::AllBrokersDown) if health.last_error.is_some() => {}
            code => {
                health.refused |= matches!(
                    code,
                    Some(
                        RDKafkaErrorCode::Authentication
                            | RDKafkaErrorCode::SaslAuthenticationFailed
                    )
                );
                health.last_error = Some(self.redact(&plain_reason(reason)));
            }
        }
    }
}

impl ConsumerContext for Watch {}

impl Health {
    /// A poll begins: what statistics it serves belongs together.
    pub(crate) fn begin_poll(&mut self) {
        self.served_in_poll = false;
    }

    /// Takes statistics in that were handed over at `now_ns`.
    pub(crate) fn update(&mut self, statistics: &Statistics<'_>, now_ns: u64) {
        let made_ns = statistics.ts.saturating_mul(1_000).min(now_ns);
        let mut behind_ns = now_ns - made_ns;
        self.unassigned.clear();
        let mut leaders = Vec::new();
        for (topic, Topic { partitions }) in &statistics.topics {
            for partition in partitions.values().filter(|partition| partition.partition >= 0) {
                if partition.desired {
                    // −1 while there is none: then no one can publish to it either.
                    leaders.extend(Some(partition.leader).filter(|leader| *leader >= 0));
                    behind_ns = behind_ns.max(self.end_unread_ns(topic, partition, made_ns));
                } else if partition.leader >= 0 {
                    self.unassigned.push((topic.to_string(), partition.partition));
                }
            }
        }
        let mut unreachable: Option<(u64, String)> = None;
        for broker in statistics.brokers.values() {
            if !leaders.contains(&broker.nodeid) {
                self.down_since_ns.remove(&broker.nodeid);
            } else if UP.contains(&broker.state.as_ref()) {
                self.down_since_ns.remove(&broker.nodeid);
                let silent_us = u64::try_from(broker.rxidle).unwrap_or(0);
                behind_ns = behind_ns.max(silent_us.saturating_mul(1_000));
            } else {
                let since_ns = *self.down_since_ns.entry(broker.nodeid).or_insert(made_ns);
                if unreachable.as_ref().is_none_or(|(other_ns, _)| since_ns < *other_ns) {
                    unreachable = Some((since_ns, broker.nodename.to_string()));
                }
            }
        }
        self.unreachable = unreachable;
        let earlier_ns = self.behind_ns.filter(|_| self.served_in_poll);
        self.behind_ns = Some(behind_ns.max(earlier_ns.unwrap_or(0)));
        self.served_in_poll = true;
        #[cfg(test)]
        {
            self.requests.clear();
            for broker in statistics.brokers.values() {
                for (kind, sent) in &broker.req {
                    *self.requests.entry(kind.to_string()).or_default() += sent;
                }
            }
        }
    }

    /// How long an end of the partition has been known without being read up to, nanoseconds.
    fn end_unread_ns(&mut self, topic: &str, partition: &Partition, made_ns: u64) -> u64 {
        // Under read_committed the last stable offset; the same as the end without transactions.
        let end = if partition.ls_offset >= 0 { partition.ls_offset } else { partition.hi_offset };
        // With nothing held for us, all that was fetched has been handed over. The fetch position
        // passes transaction markers, which no one is handed.
        let position =
            if partition.fetchq_cnt == 0 { partition.next_offset } else { partition.app_offset };
        let name = (topic.to_owned(), partition.partition);
        let reached = |end: i64| end < 0 || position < 0 || position >= end;
        match self.ends.get(&name) {
            Some((known, since_ns)) if !reached(*known) => made_ns.saturating_sub(*since_ns),
            _ if reached(end) => {
                self.ends.remove(&name);
                0
            }
            _ => {
                self.ends.insert(name, (end, made_ns));
                0
            }
        }
    }
}

/// librdkafka's reason without its prefix (`127.0.0.1:1/bootstrap: `) and its timing (` (after 0ms
/// …`).
fn plain_reason(reason: &str) -> String {
    let reason = match reason.split_once(": ") {
        Some((broker, rest)) if broker.contains('/') => rest,
        _ => reason,
    };
    let end = reason.find(" (after ").unwrap_or(reason.len());
    reason[..end].to_owned()
}

/// The part of librdkafka's statistics (its STATISTICS.md) that health is read from.
#[derive(Debug, Deserialize)]
pub(crate) struct Statistics<'a> {
    /// When they were made, CLOCK_MONOTONIC microseconds.
    ts: u64,
    #[serde(borrow)]
    brokers: HashMap<Cow<'a, str>, Broker<'a>>,
    #[serde(borrow)]
    topics: HashMap<Cow<'a, str>, Topic>,
}

#[derive(Debug, Deserialize)]
struct Broker<'a> {
    nodeid: i32,
    #[serde(borrow)]
    nodename: Cow<'a, str>,
    #[serde(borrow)]
    state: Cow<'a, str>,
    /// Microseconds since anything was received; −1 where nothing ever was.
    rxidle: i64,
    #[cfg(test)]
    #[serde(borrow)]
    req: HashMap<Cow<'a, str>, i64>,
}

#[derive(Debug, Deserialize)]
struct Topic {
    partitions: HashMap<String, Partition>,
}

#[derive(Debug, Deserialize)]
struct Partition {
    partition: i32,
    leader: i32,
    desired: bool,
    fetchq_cnt: i64,
    next_offset: i64,
    app_offset: i64,
    hi_offset: i64,
    ls_offset: i64,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SECOND_US: u64 = 1_000_000;

    /// Statistics of one broker and one partition, made at `second`, served `late_us` later.
    fn update(health: &mut Health, second: u64, late_us: u64, change: serde_json::Value) {
        let mut statistics = json!({
            "ts": second * SECOND_US,
            "brokers": {
                "b": { "nodeid": 1, "nodename": "h:1", "state": "UP", "rxidle": 10, "req": {} },
                // The bootstrap connection has no number; it is closed once the real one is known.
                "boot": { "nodeid": -1, "nodename": "h:1", "state": "DOWN", "rxidle": -1,
                          "req": {} },
            },
            "topics": { "t": { "partitions": {
                "0": { "partition": 0, "leader": 1, "desired": true, "fetchq_cnt": 0,
                       "next_offset": 10, "app_offset": 10, "hi_offset": 10, "ls_offset": 10 },
                "-1": { "partition": -1, "leader": -1, "desired": false, "fetchq_cnt": 0,
                        "next_offset": 0, "app_offset": -1001, "hi_offset": -1001,
                        "ls_offset": -1001 },
            } } },
        });
        for (path, value) in change.as_object().unwrap() {
            *statistics.pointer_mut(path).unwrap() = value.clone();
        }
        let text = statistics.to_string();
        let statistics: Statistics<'_> = serde_json::from_str(&text).unwrap();
        health.begin_poll();
        health.update(&statistics, (second * SECOND_US + late_us) * 1_000);
    }

    const STATE: &str = "/brokers/b/state";
    const LEADER: &str = "/topics/t/partitions/0/leader";
    const NEXT: &str = "/topics/t/partitions/0/next_offset";
    const HELD: &str = "/topics/t/partitions/0/fetchq_cnt";
    const END: &str = "/topics/t/partitions/0/ls_offset";

    #[test]
    fn a_leader_is_unreachable_from_when_it_was_first_seen_so() {
        let mut health = Health::default();
        update(&mut health, 1, 0, json!({}));
        assert_eq!(health.unreachable, None);
        for (second, state) in [(2, "CONNECT"), (3, "DOWN"), (4, "APIVERSION_QUERY")] {
            update(&mut health, second, 0, json!({ STATE: state }));
            assert_eq!(health.unreachable, Some((2 * 1_000_000_000, "h:1".to_owned())));
        }
        update(&mut health, 5, 0, json!({}));
        assert_eq!(health.unreachable, None);
        update(&mut health, 6, 0, json!({ STATE: "DOWN" }));
        assert_eq!(health.unreachable, Some((6 * 1_000_000_000, "h:1".to_owned())));
        // A partition without leader makes no broker, nor the bootstrap connection, ours.
        update(&mut health, 7, 0, json!({ STATE: "DOWN", LEADER: -1 }));
        assert_eq!(health.unreachable, None);
    }

    #[test]
    fn behind_is_the_age_of_the_oldest_end_not_read_up_to() {
        let mut health = Health::default();
        let mut behind = |second, change| {
            update(&mut health, second, 0, change);
            health.behind_ns.unwrap() / 1_000_000_000
        };
        assert_eq!(behind(1, json!({})), 0);
        // A moving end that is always reached by the next time is being kept up with.
        for second in 2..6 {
            assert_eq!(behind(second, json!({ END: 5 * second + 10, NEXT: 5 * second + 5 })), 0);
        }
        assert_eq!(behind(6, json!({ END: 100, NEXT: 40 })), 0);
        assert_eq!(behind(7, json!({ END: 200, NEXT: 60 })), 1);
        assert_eq!(behind(8, json!({ END: 300, NEXT: 99 })), 2);
        assert_eq!(behind(9, json!({ END: 400, NEXT: 150 })), 0);
        assert_eq!(behind(10, json!({ END: 400, NEXT: 300 })), 1);
        // Fetched but held: what counts is what was handed over.
        assert_eq!(behind(11, json!({ END: 400, NEXT: 400, HELD: 7 })), 2);
        assert_eq!(behind(12, json!({ END: 400, NEXT: 400 })), 0);
    }

    #[test]
    fn silence_and_late_polls_count_as_behind() {
        let mut health = Health::default();
        update(&mut health, 1, 0, json!({ "/brokers/b/rxidle": 3 * SECOND_US }));
        assert_eq!(health.behind_ns, Some(3_000_000_000));
        update(&mut health, 2, 700_000, json!({}));
        assert_eq!(health.behind_ns, Some(700_000_000));
    }

    #[test]
    fn reasons_lose_prefix_and_timing() {
        for (reason, plain) in [
            (
                "127.0.0.1:1/bootstrap: Connect to ipv4#127.0.0.1:1 failed: \
                 Connection refused (after 0ms in state CONNECT)",
                "Connect to ipv4#127.0.0.1:1 failed: Connection refused",
            ),
            ("1/1 brokers are down", "1/1 brokers are down"),
            ("x: y", "x: y"),
        ] {
            assert_eq!(plain_reason(reason), plain);
        }
    }
}
