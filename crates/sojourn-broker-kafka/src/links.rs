//! Connections to the brokers that lead our partitions: when one was lost, and whether it is back.
//!
//! librdkafka connects again by itself and tells of it in two ways: at once in its log, from its
//! own threads, though it leaves out what it has said within half a minute; and in its statistics,
//! by the connection's state, by a count of disconnections, and by how long a request has waited
//! for an answer.

use std::collections::HashMap;

use sojourn_clock::SECOND_NS;

use crate::statistics::Statistics;

/// How long a request that a leader holds back by intent may wait beyond that.
pub(crate) const SILENT_NS_MAX: u64 = SECOND_NS;

/// States of a broker connection in which requests can be sent.
const UP: [&str; 2] = ["UP", "REAUTH"];

/// The connections, by the latest statistics and log.
#[derive(Debug, Default)]
pub(crate) struct Links {
    by_broker: HashMap<i32, Link>,
    /// Leaders of our partitions.
    leaders: HashMap<(String, i32), i32>,
    losses: Vec<Loss>,
    made_ns: u64,
    /// Failures before the first statistics said who leads; as many as there are brokers.
    early: HashMap<i32, u64>,
}

#[derive(Debug, Default)]
struct Link {
    name: String,
    disconnects: i64,
    /// When it was seen to be lost, while it is.
    lost_ns: Option<u64>,
}

/// A connection that was lost, and may be back already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    pub(crate) broker: i32,
    /// The last instant at which it is known to have worked.
    pub(crate) from_ns: u64,
    /// It was seen as it happened, not only by the next statistics.
    pub(crate) exact: bool,
}

impl Links {
    /// A connection failed, says the log. Whether it is one that matters.
    pub(crate) fn failed(&mut self, broker: i32, now_ns: u64) -> bool {
        let Some(link) = self.by_broker.get_mut(&broker) else {
            if self.made_ns == 0 {
                self.early.entry(broker).or_insert(now_ns);
            }
            return false;
        };
        if link.lost_ns.is_none() {
            link.lost_ns = Some(now_ns);
            self.losses.push(Loss { broker, from_ns: now_ns, exact: true });
        }
        true
    }

    /// Reading begins: what failed before is past.
    pub(crate) fn begin(&mut self) {
        self.early.clear();
    }

    /// Takes statistics in, of which it is known when they were made. `silent_ns_max`: how long a
    /// request may go without an answer.
    pub(crate) fn update(&mut self, statistics: &Statistics<'_>, made_ns: u64, silent_ns_max: u64) {
        self.leaders.clear();
        for (topic, found) in &statistics.topics {
            let ours = found.partitions.values().filter(|partition| partition.desired);
            // Negative: the topic's unassigned messages, or no leader.
            let led = ours.filter(|it| it.partition >= 0 && it.leader >= 0);
            self.leaders
                .extend(led.map(|it| ((topic.clone().into_owned(), it.partition), it.leader)));
        }
        let leads = |id: i32| self.leaders.values().any(|leader| *leader == id);
        self.by_broker.retain(|id, _| leads(*id));
        for broker in statistics.brokers.values().filter(|broker| leads(broker.nodeid)) {
            let known = self.by_broker.contains_key(&broker.nodeid);
            let link = self.by_broker.entry(broker.nodeid).or_default();
            let age_ns = |us: i64| u64::try_from(us).ok().map(|us| us.saturating_mul(1_000));
            let heard_ns = age_ns(broker.rxidle).map(|age_ns| made_ns.saturating_sub(age_ns));
            let asked_ns = age_ns(broker.txidle).map(|age_ns| made_ns.saturating_sub(age_ns));
            // Nothing since the request was sent, and nothing since an earlier answer.
            let silent_since = heard_ns.max(asked_ns).filter(|_| broker.waitresp_cnt > 0);
            let silent =
                silent_since.is_some_and(|since| made_ns.saturating_sub(since) > silent_ns_max);
            let well = UP.contains(&broker.state.as_ref()) && !silent;
            let from_ns = match (silent, heard_ns) {
                (true, Some(heard_ns)) => heard_ns,
                _ if known => self.made_ns,
                _ => made_ns,
            };
            let loss = Loss { broker: broker.nodeid, from_ns, exact: silent };
            let early_ns = self.early.remove(&broker.nodeid).filter(|_| !known);
            match link.lost_ns {
                None if early_ns.is_some() => {
                    link.lost_ns = early_ns.filter(|at| !well || heard_ns <= Some(*at));
                    let from_ns = early_ns.unwrap_or(made_ns);
                    self.losses.push(Loss { from_ns, exact: true, ..loss });
                }
                None if !well => {
                    link.lost_ns = Some(made_ns);
                    self.losses.push(loss);
                }
                None if known && broker.disconnects > link.disconnects => self.losses.push(loss),
                Some(seen_ns) if well && heard_ns > Some(seen_ns) => link.lost_ns = None,
                _ => {}
            }
            link.disconnects = broker.disconnects;
            link.name = broker.nodename.to_string();
        }
        self.early.clear();
        self.made_ns = made_ns;
    }

    /// Whether there are losses to be taken.
    pub(crate) fn has_losses(&self) -> bool {
        !self.losses.is_empty()
    }

    /// Losses since the last call.
    pub(crate) fn take_losses(&mut self) -> Vec<Loss> {
        std::mem::take(&mut self.losses)
    }

    /// Partitions that this broker leads.
    pub(crate) fn led_by(&self, broker: i32) -> impl Iterator<Item = (&str, i32)> {
        let led = self.leaders.iter().filter(move |(_, leader)| **leader == broker);
        led.map(|((topic, partition), _)| (topic.as_str(), *partition))
    }

    /// Whether a partition can be read now: its leader is known and connected.
    pub(crate) fn reaches(&self, topic: &str, partition: i32) -> bool {
        let leader = self.leaders.get(&(topic.to_owned(), partition));
        let link = leader.and_then(|leader| self.by_broker.get(leader));
        link.is_some_and(|link| link.lost_ns.is_none())
    }

    /// Names of the brokers that are away.
    pub(crate) fn lost(&self) -> String {
        let lost = self.by_broker.values().filter(|link| link.lost_ns.is_some());
        let mut names: Vec<_> = lost.map(|link| link.name.as_str()).collect();
        names.sort_unstable();
        names.join(", ")
    }
}

/// The number of the broker whose connection failed, by librdkafka's log:
/// `[thrd:127.0.0.1:9092/1]: 127.0.0.1:9092/1: Disconnected (after …`.
pub(crate) fn broker_of(message: &str) -> Option<i32> {
    let message = message.split_once("]: ").map_or(message, |(_, rest)| rest);
    let (name, _) = message.split_once(": ")?;
    name.rsplit_once('/')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::statistics::example;

    const SECOND: u64 = SECOND_NS;

    fn update(links: &mut Links, second: u64, change: serde_json::Value) -> Vec<Loss> {
        let text = example(second, &change);
        let statistics: Statistics<'_> = serde_json::from_str(&text).unwrap();
        links.update(&statistics, second * SECOND, SILENT_NS_MAX);
        links.take_losses()
    }

    fn loss(from_ns: u64, exact: bool) -> Vec<Loss> {
        vec![Loss { broker: 1, from_ns, exact }]
    }

    const STATE: &str = "/brokers/b/state";
    const DISCONNECTS: &str = "/brokers/b/disconnects";

    #[test]
    fn a_failure_in_the_log_is_a_loss_until_an_answer_comes_after_it() {
        let mut links = Links::default();
        assert!(!links.failed(1, SECOND), "not ours yet");
        links.begin();
        assert_eq!(update(&mut links, 1, json!({})), []);
        assert!(links.reaches("t", 0) && !links.reaches("t", 1));
        assert!(links.failed(1, SECOND + 7) && links.failed(1, SECOND + 8));
        assert!(!links.failed(2, SECOND + 7), "no leader of ours");
        assert_eq!(links.take_losses(), loss(SECOND + 7, true));
        assert_eq!((links.reaches("t", 0), links.lost()), (false, "h:1".to_owned()));
        assert_eq!(update(&mut links, 2, json!({ STATE: "CONNECT", DISCONNECTS: 1 })), []);
        assert!(!links.reaches("t", 0));
        assert_eq!(update(&mut links, 3, json!({ DISCONNECTS: 1 })), []);
        assert_eq!((links.reaches("t", 0), links.lost()), (true, String::new()));
        assert_eq!(links.led_by(1).collect::<Vec<_>>(), [("t", 0)]);
    }

    #[test]
    fn a_failure_before_the_first_statistics_is_a_loss_once_reading_has_begun() {
        let mut links = Links::default();
        links.failed(1, 5);
        links.begin();
        links.failed(1, 7);
        links.failed(2, 8);
        assert_eq!(update(&mut links, 1, json!({ DISCONNECTS: 2 })), loss(7, true));
        assert!(links.reaches("t", 0), "back already");
        let mut links = Links::default();
        links.failed(1, 7);
        assert_eq!(update(&mut links, 1, json!({ STATE: "DOWN" })), loss(7, true));
        assert!(!links.reaches("t", 0));
    }

    #[test]
    fn what_the_log_leaves_out_is_seen_by_the_statistics() {
        let mut links = Links::default();
        assert_eq!(update(&mut links, 1, json!({ DISCONNECTS: 4 })), []);
        assert_eq!(update(&mut links, 2, json!({ DISCONNECTS: 5 })), loss(SECOND, false));
        assert!(links.reaches("t", 0), "lost and back between two statistics");
        assert_eq!(update(&mut links, 3, json!({ DISCONNECTS: 5 })), []);
        let down = json!({ STATE: "DOWN", DISCONNECTS: 6 });
        assert_eq!(update(&mut links, 4, down.clone()), loss(3 * SECOND, false));
        assert_eq!(update(&mut links, 5, down), [], "told once");
        assert!(!links.reaches("t", 0));
    }

    #[test]
    fn silence_counts_only_while_an_answer_is_due() {
        let quiet = |waiting: u64| {
            json!({ "/brokers/b/rxidle": 3_000_000, "/brokers/b/txidle": 2_999_000,
                    "/brokers/b/waitresp_cnt": waiting })
        };
        let mut links = Links::default();
        assert_eq!(update(&mut links, 10, quiet(0)), [], "nothing was asked");
        let fresh = json!({ "/brokers/b/rxidle": 3_000_000, "/brokers/b/waitresp_cnt": 1 });
        assert_eq!(update(&mut links, 11, fresh), [], "asked just now");
        assert_eq!(update(&mut links, 12, quiet(1)), loss(9 * SECOND, true));
        // Still the old connection without an answer.
        assert_eq!(update(&mut links, 13, quiet(0)), []);
        assert!(!links.reaches("t", 0));
        assert_eq!(update(&mut links, 14, json!({})), []);
        assert!(links.reaches("t", 0));
    }

    #[test]
    fn the_logs_broker() {
        for (message, broker) in [
            ("[thrd:127.0.0.1:9092/1]: 127.0.0.1:9092/1: Disconnected (after 1ms in state UP)", 1),
            ("h.example:9092/12: Connect to ipv4#1.2.3.4:9092 failed: refused", 12),
            ("[thrd:sasl_ssl://[::1]:9/3]: sasl_ssl://[::1]:9/3: Receive failed: reset", 3),
        ] {
            assert_eq!(broker_of(message), Some(broker), "{message}");
        }
        for message in ["", "h:1/bootstrap: x", "[thrd:a]: GroupCoordinator: h:1: x", "a/1"] {
            assert_eq!(broker_of(message), None, "{message}");
        }
    }
}
