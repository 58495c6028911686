//! The system's own consumers notice nothing. They are played by a client that shares no code with
//! the connector.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use sojourn_services::{Mosquitto, Service};

use crate::support::{Keep, channel, opened, poll_until};

/// A client of MQTT 3.1.1, written out byte by byte.
pub(crate) struct Client(TcpStream);

impl Client {
    pub(crate) fn connect(port: u16, id: &str, clean: bool) -> Self {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut packet = vec![0x10, u8::try_from(12 + id.len()).unwrap()];
        packet.extend(b"\0\x04MQTT\x04");
        packet.extend([if clean { 2 } else { 0 }, 0, 0]);
        packet.extend([0, u8::try_from(id.len()).unwrap()]);
        packet.extend(id.as_bytes());
        stream.write_all(&packet).unwrap();
        let mut answer = [0; 4];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!((answer[0], answer[3]), (0x20, 0));
        Self(stream)
    }

    pub(crate) fn subscribe(&mut self, filter: &str) {
        let mut packet = vec![0x82, u8::try_from(5 + filter.len()).unwrap(), 0, 1, 0];
        packet.push(u8::try_from(filter.len()).unwrap());
        packet.extend(filter.as_bytes());
        packet.push(1);
        self.0.write_all(&packet).unwrap();
        assert_eq!(self.packet(), (0x90, vec![0, 1, 1]));
    }

    fn publish_as(&mut self, first: u8, topic: &str, payload: &[u8]) {
        let length = u8::try_from(4 + topic.len() + payload.len()).unwrap();
        let mut packet = vec![first, length, 0, u8::try_from(topic.len()).unwrap()];
        packet.extend(topic.as_bytes());
        packet.extend([0, 9]);
        packet.extend(payload);
        self.0.write_all(&packet).unwrap();
        assert_eq!(self.packet(), (0x40, vec![0, 9]));
    }

    pub(crate) fn publish(&mut self, topic: &str, payload: &[u8]) {
        self.publish_as(0x32, topic, payload);
    }

    pub(crate) fn publish_retained(&mut self, topic: &str, payload: &[u8]) {
        self.publish_as(0x33, topic, payload);
    }

    /// The next packet: type and flags, and the rest; short ones only.
    fn packet(&mut self) -> (u8, Vec<u8>) {
        let mut head = [0; 2];
        self.0.read_exact(&mut head).unwrap();
        assert!(head[1] < 128);
        let mut body = vec![0; head[1].into()];
        self.0.read_exact(&mut body).unwrap();
        (head[0], body)
    }

    /// The next message's payload, acknowledged; none if none comes within some seconds.
    pub(crate) fn try_take(&mut self) -> Option<String> {
        self.0.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let some = self.0.peek(&mut [0]).is_ok_and(|count| count > 0);
        self.0.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        some.then(|| self.take())
    }

    /// The next message's payload, acknowledged.
    fn take(&mut self) -> String {
        self.take_whole().2
    }

    /// The next message, acknowledged: whether it had been kept, topic, payload.
    pub(crate) fn take_whole(&mut self) -> (bool, String, String) {
        let (first, body) = self.packet();
        assert_eq!(first & 0xf6, 0x32, "a message of QoS 1, not sent before");
        let payload_at = 4 + usize::from(body[1]);
        self.0.write_all(&[0x40, 2, body[payload_at - 2], body[payload_at - 1]]).unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (first & 1 == 1, text(&body[2..payload_at - 2]), text(&body[payload_at..]))
    }
}

#[test]
fn the_systems_own_consumers_get_the_same_with_and_without_taps() {
    let mosquitto = Mosquitto::start().unwrap();
    let port = mosquitto.port();
    // One of its own, one with a session that is kept, two that share the work.
    let mut own = Client::connect(port, "own", true);
    own.subscribe("jobs");
    let mut kept = Client::connect(port, "kept", false);
    kept.subscribe("jobs");
    let mut workers = ["one", "two"].map(|id| Client::connect(port, id, true));
    for worker in &mut workers {
        worker.subscribe("$share/workers/jobs");
    }
    let mut producer = Client::connect(port, "producer", true);
    for with_taps in [false, true] {
        let mut taps = Vec::new();
        if with_taps {
            taps = vec![opened(&channel(&mosquitto, "jobs")), opened(&channel(&mosquitto, "#"))];
        }
        // The kept session is away for half of them.
        drop(kept);
        let texts: Vec<_> = (0..10).map(|number| format!("{number}")).collect();
        for text in &texts[..5] {
            producer.publish("jobs", text.as_bytes());
        }
        kept = Client::connect(port, "kept", false);
        for text in &texts[5..] {
            producer.publish("jobs", text.as_bytes());
        }
        let taken: Vec<_> = (0..10).map(|_| own.take()).collect();
        assert_eq!(taken, texts, "with taps: {with_taps}");
        // What was on its way when the session's connection closed comes again behind the others.
        let mut taken: Vec<_> = (0..10).map(|_| kept.take()).collect();
        taken.sort();
        assert_eq!(taken, texts, "with taps: {with_taps}");
        for tap in &mut taps {
            let mut keep = Keep::default();
            poll_until(tap, &mut keep, |_, keep| keep.0.len() == 10);
            assert_eq!(keep.texts(), texts);
        }
        drop(taps);
        // Each job went to one of the workers: by turns, so five to each.
        let mut done: Vec<_> =
            workers.iter_mut().flat_map(|worker| (0..5).map(|_| worker.take())).collect();
        done.sort();
        assert_eq!(done, texts, "with taps: {with_taps}");
    }
}
