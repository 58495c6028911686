//! The part of librdkafka's statistics that connections and health are read from.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;

/// What one statistics event holds: librdkafka's STATISTICS.md explains each field.
#[derive(Debug, Deserialize)]
pub(crate) struct Statistics<'a> {
    /// When they were made, CLOCK_MONOTONIC microseconds.
    pub(crate) ts: u64,
    #[serde(borrow)]
    pub(crate) brokers: HashMap<Cow<'a, str>, Broker<'a>>,
    #[serde(borrow)]
    pub(crate) topics: HashMap<Cow<'a, str>, Topic>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Broker<'a> {
    pub(crate) nodeid: i32,
    #[serde(borrow)]
    pub(crate) nodename: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) state: Cow<'a, str>,
    /// Microseconds since anything was received; −1 where nothing ever was.
    pub(crate) rxidle: i64,
    /// Microseconds since anything was sent; −1 where nothing ever was.
    pub(crate) txidle: i64,
    /// Requests without an answer.
    pub(crate) waitresp_cnt: i64,
    /// How long requests waited for their answers.
    pub(crate) rtt: Window,
    /// Connections that ended so far.
    pub(crate) disconnects: i64,
    #[cfg(test)]
    #[serde(borrow)]
    pub(crate) req: HashMap<Cow<'a, str>, i64>,
}

/// A distribution since the statistics before, microseconds.
#[derive(Debug, Deserialize)]
pub(crate) struct Window {
    pub(crate) max: i64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Topic {
    pub(crate) partitions: HashMap<String, Partition>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Partition {
    pub(crate) partition: i32,
    pub(crate) leader: i32,
    pub(crate) desired: bool,
    pub(crate) fetchq_cnt: i64,
    pub(crate) next_offset: i64,
    pub(crate) app_offset: i64,
    pub(crate) hi_offset: i64,
    pub(crate) ls_offset: i64,
}

/// Statistics of one broker and one partition, made at `second`, with values changed by their path.
#[cfg(test)]
pub(crate) fn example(second: u64, change: &serde_json::Value) -> String {
    let mut statistics = serde_json::json!({
        "ts": second * 1_000_000,
        "brokers": {
            "b": { "nodeid": 1, "nodename": "h:1", "state": "UP", "rxidle": 10, "txidle": 10,
                   "waitresp_cnt": 1, "rtt": { "max": 300 }, "disconnects": 0, "req": {} },
            // The bootstrap connection has no number; it is closed once the real one is known.
            "boot": { "nodeid": -1, "nodename": "h:1", "state": "DOWN", "rxidle": -1,
                      "txidle": -1, "waitresp_cnt": 0, "rtt": { "max": 0 }, "disconnects": 0,
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
    statistics.to_string()
}
