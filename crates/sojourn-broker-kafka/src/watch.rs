//! What librdkafka says of itself: errors, and statistics that the tap's health is read from.
//!
//! A statistics event is made every 500 ms, whatever the brokers do. [`Links`] reads from it which
//! connections are lost. *Behind* is the greatest of four: how long the event itself waited for us
//! to poll; how long the leader has said nothing (it answers a fetch every few milliseconds even
//! when there is nothing); how much longer than it may hold a fetch back an answer took to be here
//! as a whole, over a slow link; how long ago the broker first reported an end of a partition that
//! we have not yet read up to.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rdkafka::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::ConsumerContext;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use sojourn_clock::now_ns;

use crate::config::Redactor;
use crate::links::{Links, SILENT_NS_MAX, broker_of};
use crate::ready::refuses_credentials;
use crate::statistics::{Partition, Statistics, Topic};

/// A quiet client context. librdkafka calls it on the thread that polls, except for the log.
pub(crate) struct Watch {
    redactor: Redactor,
    /// Callbacks served: a poll that returned nothing may have served one instead of finding the
    /// queue empty.
    served: AtomicU64,
    /// A connection was lost that the tap has not heard of.
    lost: AtomicBool,
    health: Mutex<Health>,
}

/// What is known of the connection.
#[derive(Debug, Default)]
pub(crate) struct Health {
    /// Last error that librdkafka reported, in words, without secrets.
    pub(crate) last_error: Option<String>,
    /// Credentials were refused: trying again does not help.
    pub(crate) refused: bool,
    /// The connections to our leaders.
    pub(crate) links: Links,
    /// How long a broker may hold an empty answer back, nanoseconds.
    fetch_wait_ns: u64,
    /// How long a leader may leave a request without an answer, nanoseconds.
    silent_ns_max: u64,
    /// How late answers were, by the latest statistics: those of more than a second, so that who
    /// looks every second sees them all.
    late_ns: [u64; 3],
    /// Statistics were served that the tap has not looked at.
    pub(crate) news: bool,
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
    /// Up to where partitions were fetched and handed over, by the latest statistics.
    fetched: HashMap<(String, i32), i64>,
    /// Ends of partitions that we had not read up to when they were first reported: (end, when).
    ends: HashMap<(String, i32), (i64, u64)>,
}

impl Watch {
    /// `fetch_wait_ns`: how long a broker may hold an empty answer back.
    pub(crate) fn new(redactor: Redactor, fetch_wait_ns: u64) -> Self {
        let silent_ns_max = SILENT_NS_MAX.saturating_add(fetch_wait_ns);
        let health = Health { fetch_wait_ns, silent_ns_max, ..Health::default() };
        let health = Mutex::new(health);
        Self { redactor, served: AtomicU64::new(0), lost: AtomicBool::new(false), health }
    }

    /// Whether a connection was lost that [`Links::take_losses`] has not told of.
    pub(crate) fn has_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// The losses are going to be taken.
    pub(crate) fn losses_are_taken(&self) {
        self.lost.store(false, Ordering::Release);
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
    /// On librdkafka's own threads. Errors come as errors too; the rest would only disturb the
    /// terminal.
    fn log(&self, _level: RDKafkaLogLevel, facility: &str, message: &str) {
        self.served.fetch_add(1, Ordering::Relaxed);
        let Some(reason) = failure_in(facility, message) else { return };
        let now_ns = now_ns();
        let mut health = self.health();
        if let Some(broker) = broker_of(message)
            && health.links.failed(broker, now_ns)
        {
            self.lost.store(true, Ordering::Release);
        }
        health.last_error = Some(self.redact(&plain_reason(reason)));
    }

    fn stats_raw(&self, statistics: &[u8]) {
        self.served.fetch_add(1, Ordering::Relaxed);
        // Statistics of another shape than we know say nothing of health; connection errors still
        // do.
        if let Ok(statistics) = serde_json::from_slice::<Statistics<'_>>(statistics)
            && self.health().update(&statistics, now_ns())
        {
            self.lost.store(true, Ordering::Release);
        }
    }

    fn error(&self, error: KafkaError, reason: &str) {
        self.served.fetch_add(1, Ordering::Relaxed);
        let mut health = self.health();
        match error.rdkafka_error_code() {
            // Says less than the errors that led to it.
            Some(RDKafkaErrorCode::AllBrokersDown) if health.last_error.is_some() => {}
            code => {
                health.refused |= refuses_credentials(code);
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

    /// Takes statistics in that were handed over at `now_ns`; whether a connection was lost.
    pub(crate) fn update(&mut self, statistics: &Statistics<'_>, now_ns: u64) -> bool {
        let made_ns = statistics.ts.saturating_mul(1_000).min(now_ns);
        let mut behind_ns = now_ns - made_ns;
        self.unassigned.clear();
        let (mut leaders, mut answers_ns) = (Vec::new(), 0);
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
        for broker in statistics.brokers.values() {
            if leaders.contains(&broker.nodeid) {
                let silent_us = u64::try_from(broker.rxidle).unwrap_or(0);
                behind_ns = behind_ns.max(silent_us.saturating_mul(1_000));
                let answer_us = u64::try_from(broker.rtt.max).unwrap_or(0);
                let late_ns = answer_us.saturating_mul(1_000).saturating_sub(self.fetch_wait_ns);
                answers_ns = answers_ns.max(late_ns);
            }
        }
        self.late_ns.rotate_right(1);
        self.late_ns[0] = answers_ns;
        behind_ns = behind_ns.max(self.late_ns.into_iter().max().unwrap_or(0));
        self.links.update(statistics, made_ns, self.silent_ns_max);
        self.news = true;
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
        self.links.has_losses()
    }

    /// Whether a partition was read up to this offset, though nothing may have been handed over of
    /// its last part: markers of transactions, or what a compaction left out.
    pub(crate) fn has_read(&self, topic: &str, partition: i32, offset: i64) -> bool {
        self.fetched.get(&(topic.to_owned(), partition)).is_some_and(|next| *next >= offset)
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
        self.fetched.insert(name.clone(), position);
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

/// Why a connection has failed, if that is what librdkafka logs: behind the names of the thread and
/// the broker.
pub(crate) fn failure_in<'m>(facility: &str, message: &'m str) -> Option<&'m str> {
    let reason = message.split_once("]: ").map_or(message, |(_, reason)| reason);
    (facility == "FAIL").then_some(reason)
}

/// librdkafka's reason without its prefix (`127.0.0.1:1/bootstrap: `) and its timing (` (after 0ms
/// …`).
pub(crate) fn plain_reason(reason: &str) -> String {
    let reason = match reason.split_once(": ") {
        Some((broker, rest)) if broker.contains('/') => rest,
        _ => reason,
    };
    let end = reason.find(" (after ").unwrap_or(reason.len());
    reason[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::statistics::example;

    const SECOND_US: u64 = 1_000_000;

    /// Statistics made at `second`, served `late_us` later.
    fn update(health: &mut Health, second: u64, late_us: u64, change: serde_json::Value) {
        let text = example(second, &change);
        let statistics: Statistics<'_> = serde_json::from_str(&text).unwrap();
        health.begin_poll();
        health.update(&statistics, (second * SECOND_US + late_us) * 1_000);
    }

    const NEXT: &str = "/topics/t/partitions/0/next_offset";
    const HELD: &str = "/topics/t/partitions/0/fetchq_cnt";
    const END: &str = "/topics/t/partitions/0/ls_offset";

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
    fn answers_that_come_late_as_a_whole_count_as_behind_for_a_second() {
        let mut health = Health { fetch_wait_ns: 5_000_000, ..Health::default() };
        update(&mut health, 1, 0, json!({ "/brokers/b/rtt/max": 2 * SECOND_US }));
        for second in 2..4 {
            assert_eq!(health.behind_ns, Some(1_995_000_000));
            update(&mut health, second, 0, json!({ "/brokers/b/rtt/max": 4_000 }));
        }
        update(&mut health, 4, 0, json!({}));
        assert_eq!(health.behind_ns, Some(10_000), "the silence of the example");
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
