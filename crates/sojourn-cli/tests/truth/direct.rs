//! The same without a broker: the system posts its events to Sojourn's webhook, or streams them to
//! whoever has connected to its WebSocket or its server-sent events.
//!
//! Its own consumers are handed each event in memory, once it is on its way to Sojourn.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    sync::Arc,
    time::Duration,
};

use crossbeam_channel::{Receiver, Sender, bounded};
use sojourn_broker::{BrokerError, Consumer, Outcome, Publisher, RawMessage, Sink};
use sojourn_clock::{MILLISECOND_NS, now_ns};
use sojourn_demo::{Carrier, CarrierEnd};
use sojourn_testkit::{StreamMessage, StreamServer, free_port};

use super::brokers::{faults_of_messages, size_of_brokers};
use super::{Case, PLAN, examine_on};

/// Events that wait for the system's own consumers.
const QUEUE_MAX: usize = 10_000;

/// A message with copies of its parts.
#[derive(Clone, Debug)]
struct Event {
    headers: Vec<(String, Vec<u8>)>,
    payload: Vec<u8>,
}

impl Event {
    fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(known, _)| known == name)?;
        std::str::from_utf8(value).ok()
    }

    /// With its id in the document, where no header can carry it.
    fn with_its_id(&self) -> Vec<u8> {
        let mut document: serde_json::Value =
            serde_json::from_slice(&self.payload).expect("the demo publishes JSON");
        document["messageId"] = self.header("message-id").expect("every message has an id").into();
        document.to_string().into_bytes()
    }
}

/// How an event comes to Sojourn; errs in stable words.
type Way = Box<dyn FnMut(&Event) -> Result<(), String> + Send>;

/// Sends at once, so that each message has its outcome before the next is taken.
struct Direct {
    way: Way,
    /// Where the system's own consumers take events; of dead letters nobody does.
    own: Option<Sender<Event>>,
    outcomes: Vec<Outcome>,
}

impl Publisher for Direct {
    fn try_publish(
        &mut self,
        token: u64,
        _topic: &str,
        _key: Option<&[u8]>,
        headers: &[(&str, &[u8])],
        payload: &[u8],
    ) -> Result<(), String> {
        let copy = |(name, value): &(&str, &[u8])| ((*name).to_owned(), value.to_vec());
        let event =
            Event { headers: headers.iter().map(copy).collect(), payload: payload.to_vec() };
        let error = (self.way)(&event).err();
        let acked_ns = now_ns();
        if let (Some(own), None) = (&self.own, &error) {
            // At the demo's end they are gone before what was held back comes.
            drop(own.send(event));
        }
        self.outcomes.push(Outcome { token, acked_ns, error });
        Ok(())
    }

    fn poll(&mut self, outcomes: &mut Vec<Outcome>) {
        outcomes.append(&mut self.outcomes);
    }
}

/// The system's own consumers.
struct Own(Receiver<Event>);

impl Consumer for Own {
    fn consume(
        &mut self,
        messages_max: usize,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<usize, BrokerError> {
        let first = self.0.recv_timeout(timeout).ok();
        let events = first.into_iter().chain(self.0.try_iter()).take(messages_max);
        let mut taken = 0;
        for event in events {
            let headers = event.headers.iter();
            sink.message(&RawMessage {
                stamp_ns: now_ns(),
                topic: "own",
                key: None,
                headers: headers.map(|(name, value)| (name.as_str(), value.as_slice())).collect(),
                payload: &event.payload,
                position: None,
            });
            taken += 1;
        }
        Ok(taken)
    }

    fn commit(&mut self) -> Result<(), BrokerError> {
        Ok(())
    }

    fn assigned(&self) -> usize {
        1
    }

    fn leave(&mut self) {}
}

/// Posts over one connection that it keeps, each event after the last one's answer.
struct Poster {
    port: u16,
    path: &'static str,
    connection: Option<BufReader<TcpStream>>,
}

impl Poster {
    /// Where nobody listens there is nobody to be told: before the run, and after it. During the run
    /// the comparison would show it.
    fn post(&mut self, event: &Event) -> Result<(), String> {
        if self.connection.is_none() {
            let Ok(stream) = TcpStream::connect(("127.0.0.1", self.port)) else { return Ok(()) };
            let set = stream.set_nodelay(true);
            set.and_then(|()| stream.set_read_timeout(Some(Duration::from_secs(10))))
                .map_err(|error| error.to_string())?;
            self.connection = Some(BufReader::new(stream));
        }
        match self.exchange(event) {
            Ok(204) => Ok(()),
            Ok(status) => Err(format!("the webhook answers {status}")),
            // Closed at the run's end.
            Err(_) => {
                self.connection = None;
                Ok(())
            }
        }
    }

    /// The answer's status.
    fn exchange(&mut self, event: &Event) -> std::io::Result<u16> {
        let closed = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
        let connection = self.connection.as_mut().ok_or_else(closed)?;
        let mut request = format!(
            "POST {} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n",
            self.path,
            self.port,
            event.payload.len()
        )
        .into_bytes();
        for (name, value) in &event.headers {
            request.extend_from_slice(name.as_bytes());
            request.extend_from_slice(b": ");
            request.extend_from_slice(value);
            request.extend_from_slice(b"\r\n");
        }
        request.extend_from_slice(b"\r\n");
        request.extend_from_slice(&event.payload);
        connection.get_mut().write_all(&request)?;
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if connection.read_line(&mut head)? == 0 {
                return Err(closed());
            }
        }
        let head = head.to_ascii_lowercase();
        let of = |name: &str| Some(head.split_once(name)?.1.split("\r\n").next()?.trim());
        let length = of("content-length:").and_then(|it| it.parse().ok()).unwrap_or(0);
        connection.take(length).read_to_end(&mut Vec::new())?;
        of("http/1.1 ").and_then(|it| it.get(..3)?.parse().ok()).ok_or_else(closed)
    }
}

/// The plan of all cases with these two channels, and the same faults on their way.
fn agree(name: &'static str, events: &str, dead_letters: &str, ways: [&dyn Fn() -> Way; 2]) {
    let (head, rest) = PLAN.split_once("channels:").expect("channels");
    let (_, rest) = rest.split_once("journeys:").expect("journeys");
    let text = format!(
        "{head}channels:\n  events: {{ {events} }}\n  dead-letters: {{ {dead_letters} }}\n\
         journeys:{rest}"
    );
    let carrier = |_: &[(&str, &str)]| {
        let (to_own, own) = bounded(QUEUE_MAX);
        let end = |way: Way, own| {
            let publisher = Box::new(Direct { way, own, outcomes: Vec::new() });
            CarrierEnd { publisher, topic: String::new() }
        };
        Carrier {
            name: name.to_owned(),
            events: end(ways[0](), Some(to_own)),
            dead_letters: end(ways[1](), None),
            consumer: Box::new(Own(own)),
        }
    };
    let expected = &["completed", "lost", "failed", "redelivery", "republication", "out of order"];
    // What is written to a socket is delivered at once, as the log has it.
    let case = Case { waking_ns: 5 * MILLISECOND_NS, ..Case::new(name, faults_of_messages()) };
    examine_on(Some(&carrier), &text, &size_of_brokers(), case, expected);
}

#[test]
fn webhook() {
    let ports = [free_port().expect("a port"), free_port().expect("a port")];
    let paths = ["/hooks/events", "/hooks/dead"];
    let of = |n: usize| {
        let (port, path) = (ports[n], paths[n]);
        format!("webhook: {{ listen: \"127.0.0.1:{port}\", path: {path}, respond: 204 }}")
    };
    let post = |n: usize| -> Way {
        let mut poster = Poster { port: ports[n], path: paths[n], connection: None };
        Box::new(move |event| poster.post(event))
    };
    agree("webhook", &of(0), &of(1), [&|| post(0), &|| post(1)]);
}

/// A message is its data alone, so its id stands there.
#[test]
fn websocket() {
    let server = Arc::new(StreamServer::start().expect("a port"));
    let of = |path: &str| {
        let address = server.address();
        format!("websocket: {{ url: \"ws://{address}{path}\" }}, message_id: $.messageId")
    };
    let send = |path: &'static str| -> Way {
        let server = Arc::clone(&server);
        Box::new(move |event| {
            let data = event.with_its_id();
            server.send(path, &StreamMessage { data: &data, ..StreamMessage::default() });
            Ok(())
        })
    };
    let (events, dead) = ("/events/payments", "/events/dead");
    agree("websocket", &of(events), &of(dead), [&|| send(events), &|| send(dead)]);
}

/// An event has an id of its own.
#[test]
fn sse() {
    let server = Arc::new(StreamServer::start().expect("a port"));
    let of = |path: &str| {
        let address = server.address();
        let url = format!("http://{address}{path}");
        format!("sse: {{ url: \"{url}\", silence: 2s }}, message_id: header.id")
    };
    let send = |path: &'static str| -> Way {
        let server = Arc::clone(&server);
        Box::new(move |event| {
            let (name, id) = (event.header("type"), event.header("message-id"));
            server.send(path, &StreamMessage { name, id, data: &event.payload });
            Ok(())
        })
    };
    let (events, dead) = ("/events/payments", "/events/dead");
    agree("sse", &of(events), &of(dead), [&|| send(events), &|| send(dead)]);
}
