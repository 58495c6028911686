//! StatsD over UDP: counters, gauges, and timers as an even sample.
//!
//! The format is that of <https://github.com/statsd/statsd/blob/master/docs/metric_types.md>, with
//! DogStatsD's tags (`|#name:value`), which Datadog, Telegraf, Vector and others read.
//!
//! A timer's samples of a second are sent as the values at up to fifty ranks in equal distance,
//! each with the rate of fifty to all. So the receiver counts as many as there were, and
//! percentiles are right to a fiftieth of the ranks whether or not it weighs them.

use std::{
    fmt::Write,
    net::{ToSocketAddrs, UdpSocket},
    time::Duration,
};

use crate::{
    failure::{Failure, Took},
    frame::{Frame, Point, Value},
    names::Unit,
    outlet::Output,
};

/// Most bytes of a datagram: fits an Ethernet frame whatever it is tunnelled through.
const DATAGRAM_BYTES_MAX: usize = 1_400;

/// A socket that lines go to, as many in a datagram as fit.
#[derive(Debug)]
pub struct Datagrams {
    socket: UdpSocket,
}

impl Datagrams {
    /// To `HOST:PORT`.
    ///
    /// # Errors
    /// There is no such address, or no socket.
    pub fn new(address: &str) -> Result<Self, String> {
        let unknown = |error: std::io::Error| format!("{address}: {error}");
        let peer = address.to_socket_addrs().map_err(unknown)?.next();
        let peer = peer.ok_or_else(|| format!("{address} has no address"))?;
        let own = if peer.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let socket = UdpSocket::bind(own).and_then(|socket| {
            socket.connect(peer)?;
            Ok(socket)
        });
        Ok(Self { socket: socket.map_err(unknown)? })
    }

    /// Sends lines, none of which is longer than a datagram.
    ///
    /// # Errors
    /// The network refuses one: those behind it are not sent.
    pub fn send(&self, lines: impl IntoIterator<Item = String>) -> Result<(), Failure> {
        let mut datagram = String::new();
        for line in lines {
            if datagram.len() + line.len() + 1 > DATAGRAM_BYTES_MAX {
                self.flush(&mut datagram)?;
            }
            if !datagram.is_empty() {
                datagram.push('\n');
            }
            datagram.push_str(&line);
        }
        self.flush(&mut datagram)
    }

    fn flush(&self, datagram: &mut String) -> Result<(), Failure> {
        if !datagram.is_empty() {
            let sent = self.socket.send(datagram.as_bytes());
            datagram.clear();
            // What was sent cannot be taken back, so the frame is not tried again.
            sent.map_err(|error| Failure::Never(error.to_string()))?;
        }
        Ok(())
    }
}

/// The server.
pub(crate) struct Statsd {
    datagrams: Datagrams,
}

impl Statsd {
    pub(crate) fn new(address: &str) -> Result<Self, String> {
        Ok(Self { datagrams: Datagrams::new(address)? })
    }
}

impl Output for Statsd {
    fn send(&mut self, frame: &Frame, _: Duration) -> Result<Took, Failure> {
        let mut lines = Vec::new();
        frame.changed().for_each(|point| write_lines(point, &mut lines));
        self.datagrams.send(lines)?;
        Ok(Took::All)
    }
}

fn write_lines(point: &Point, lines: &mut Vec<String>) {
    let series = &point.series;
    let name = &series.exported.dotted;
    let mut tags = String::new();
    for (at, (name, value)) in series.labels.iter().enumerate() {
        let before = if at == 0 { "|#" } else { "," };
        // Writing to a string cannot fail.
        let _ignored = write!(tags, "{before}{name}:{}", tag(value));
    }
    match &point.value {
        Value::Count { added, .. } => lines.push(format!("{name}:{added}|c{tags}")),
        Value::Level(level) => {
            let level = series.scaled(*level);
            // A sign would mean a change by so much; zero first makes it a level.
            if level < 0.0 {
                lines.push(format!("{name}:0|g{tags}"));
            }
            lines.push(format!("{name}:{level}|g{tags}"));
        }
        Value::Spread { second: Some(second), .. } => {
            // Timers are milliseconds; what is no time is a histogram, the same in another name.
            let (kind, per_ms) = match series.exported.unit {
                Unit::Seconds => ("ms", 1e3),
                Unit::Bytes | Unit::None => ("h", 1.0),
            };
            let rate = second.even.len() as f64 / second.count as f64;
            for value in &second.even {
                let value = series.scaled(*value as f64) * per_ms;
                let rate = if rate < 1.0 { format!("|@{rate}") } else { String::new() };
                lines.push(format!("{name}:{value}|{kind}{rate}{tags}"));
            }
        }
        Value::Spread { second: None, .. } => {}
    }
}

/// A value without what means something in a line.
fn tag(value: &str) -> String {
    let is_special = |c: char| matches!(c, ',' | '|' | '#' | ':' | '@') || c.is_control();
    value.chars().map(|c| if is_special(c) { '_' } else { c }).collect()
}
