//! A server of streams for the script of promises.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use sojourn_broker::Connect;
use sojourn_broker_stream::{Sse, WebSocket};
use sojourn_clock::SECOND_NS;
use sojourn_conformance::{Abilities, Message, Rig, System, Wrong, dead_address};
use sojourn_plan::{
    Channel, Connector, Decoder, Secret, Server, SseChannel, Tls, WebSocketChannel,
};
use sojourn_services::{Mosquitto, Service};
use sojourn_testkit::{StreamMessage, StreamServer};

use crate::support::at;

const PATH: &str = "events/payments";
const SECRET: &str = "s3cret-t0ken";

pub(crate) struct StreamRig {
    server: StreamServer,
    is_websocket: bool,
    /// A server with TLS and a certificate for `localhost`, of whatever protocol.
    secured: Option<Mosquitto>,
}

impl StreamRig {
    pub(crate) fn sse() -> Self {
        Self { server: StreamServer::start().unwrap(), is_websocket: false, secured: None }
    }

    pub(crate) fn websocket() -> Self {
        Self { is_websocket: true, ..Self::sse() }
    }

    /// A channel of the rig's kind, with a secret that must never be shown.
    fn of(&self, server: Server) -> Channel {
        let headers = vec![("Authorization".to_owned(), Secret::new(format!("Bearer {SECRET}")))];
        let connector = match self.is_websocket {
            true => {
                let settings = WebSocketChannel { server, headers, ..WebSocketChannel::default() };
                Connector::WebSocket(settings)
            }
            // The server sends comments several times a second.
            false => Connector::Sse(SseChannel {
                server,
                headers,
                silence_ns: Some(2 * SECOND_NS),
                ..SseChannel::default()
            }),
        };
        Channel {
            name: "events".to_owned(),
            connector,
            decoder: Decoder::Auto,
            message_id: None,
            marker: None,
            backlog: Vec::new(),
        }
    }

    fn that_cannot_work(&self, what: &'static str, server: Server, says: &[&str]) -> Wrong {
        let word = if self.is_websocket { "websocket" } else { "sse" };
        let port = server.port.to_string();
        let says = says.iter().copied().chain([word, port.as_str()]).map(str::to_owned).collect();
        Wrong { what, channel: self.of(server), says, secret: Some(SECRET.to_owned()) }
    }
}

impl Rig for StreamRig {
    fn connector(&self) -> &dyn Connect {
        if self.is_websocket { &WebSocket } else { &Sse }
    }

    fn channel(&self, through: Option<SocketAddr>) -> Channel {
        self.of(at(through.unwrap_or_else(|| self.address()).port(), PATH))
    }

    fn address(&self) -> SocketAddr {
        self.server.address()
    }

    fn kill(&mut self) {
        self.server.kill();
    }

    fn restart(&mut self) {
        self.server.restart().unwrap();
    }

    fn publish(&mut self, messages: &[Message]) {
        for message in messages {
            let id = message.number.to_string();
            let message =
                StreamMessage { name: Some("numbered"), id: Some(&id), data: &message.payload };
            self.server.send(&format!("/{PATH}"), &message);
        }
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            keys: false,
            headers: false,
            binary: self.is_websocket,
            // Server-sent events have no way to ask.
            sees_late_messages: self.is_websocket,
            ..Abilities::default()
        }
    }

    fn wrong(&mut self) -> Vec<Wrong> {
        let port = self.address().port();
        let tls_port = {
            let secured = self.secured.insert(Mosquitto::start().unwrap());
            secured.url_tls().rsplit(':').next().unwrap().parse().unwrap()
        };
        let ca = self.secured.as_ref().and_then(|secured| secured.ca_file());
        let tls = |host: &str, trust: Tls| Server {
            host: host.to_owned(),
            tls: true,
            trust,
            ..at(tls_port, PATH)
        };
        let name = Some("elsewhere.example".to_owned());
        let elsewhere = tls("127.0.0.1", Tls { ca, name, ..Tls::default() });
        let word = |what, server, says: &[&str]| self.that_cannot_work(what, server, says);
        vec![
            word("the authorization", at(port, "secret/events"), &["401", "`headers`"]),
            word("the path", at(port, "elsewhere"), &["404", "path"]),
            word("nobody trusted", tls("localhost", Tls::default()), &["`ca`"]),
            word("another name", elsewhere, &["elsewhere.example", "`name`"]),
            word("nobody there", at(dead_address().port(), PATH), &["refused"]),
        ]
    }

    fn system(&mut self) -> Option<Box<dyn System>> {
        let stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        if self.is_websocket {
            let url = format!("ws://{}/{PATH}", self.address());
            let (socket, _) = tungstenite::client(url, stream).unwrap();
            return Some(Box::new(WebSocketClient(socket)));
        }
        let mut reader = BufReader::new(stream);
        reader.get_mut().write_all(format!("GET /{PATH} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
        }
        Some(Box::new(SseClient(reader)))
    }

    fn footprint(&mut self) -> Vec<String> {
        vec![format!("{} clients", self.server.clients(&format!("/{PATH}")))]
    }
}

struct WebSocketClient(tungstenite::WebSocket<TcpStream>);

impl System for WebSocketClient {
    fn take(&mut self, count: usize) -> Vec<u64> {
        let next = |_| number(self.0.read().ok()?.to_text().unwrap());
        (0..count).map_while(next).collect()
    }
}

struct SseClient(BufReader<TcpStream>);

impl System for SseClient {
    fn take(&mut self, count: usize) -> Vec<u64> {
        let mut numbers = Vec::new();
        while numbers.len() < count {
            let mut line = String::new();
            if self.0.read_line(&mut line).unwrap_or(0) == 0 {
                break;
            }
            numbers.extend(line.strip_prefix("data: ").and_then(number));
        }
        numbers
    }
}

fn number(text: &str) -> Option<u64> {
    let rest = text.split("\"n\":").nth(1)?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}
