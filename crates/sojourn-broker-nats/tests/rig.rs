//! A server of one's own for each promise, spoken to by the tests' plain client.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sojourn_broker::Connect;
use sojourn_broker_nats::Nats as Connector;
use sojourn_conformance::{Abilities, Message, Rig, System as Consumes, Wrong, dead_address};
use sojourn_plan::{Channel, Decoder, NatsChannel, Tls};
use sojourn_services::{Nats, NatsOptions, Service as _, USER, free_port};

use crate::support::with_login;
use crate::system::{Got, System};

const SUBJECT: &str = "events.numbered";
const STREAM: &str = "EVENTS";
const DURABLE: &str = "system";
/// Acknowledgements that are not read yet, at most.
const OPEN_MAX: usize = 500;

pub(crate) struct NatsRig {
    nats: Nats,
    monitor: u16,
    system: System,
    keeps: bool,
    /// Servers that ask for more.
    others: Vec<Nats>,
}

impl NatsRig {
    pub(crate) fn core() -> Self {
        Self::new(false)
    }

    pub(crate) fn stream() -> Self {
        let mut rig = Self::new(true);
        rig.system.stream(STREAM, &["events.>"]);
        rig
    }

    fn new(keeps: bool) -> Self {
        let monitor = free_port().unwrap();
        let lines = format!("http: \"127.0.0.1:{monitor}\"");
        let nats = Nats::start_configured(NatsOptions::default(), &lines).unwrap();
        let system = System::connect(nats.port());
        Self { nats, monitor, system, keeps, others: Vec::new() }
    }

    fn settings(&self) -> NatsChannel {
        let stream = self.keeps.then_some(STREAM);
        crate::support::channel(self.nats.port(), &[SUBJECT, "events.more.>"], stream)
    }

    /// What the server's monitor says.
    fn monitor(&self, path: &str) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.monitor)).unwrap();
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap()
    }
}

fn channel(settings: NatsChannel) -> Channel {
    Channel {
        name: "events".to_owned(),
        connector: sojourn_plan::Connector::Nats(settings),
        decoder: Decoder::Auto,
        message_id: None,
        marker: None,
        backlog: Vec::new(),
    }
}

impl Rig for NatsRig {
    fn connector(&self) -> &dyn Connect {
        &Connector
    }

    fn channel(&self, through: Option<SocketAddr>) -> Channel {
        let mut settings = self.settings();
        settings.server.port = through.unwrap_or_else(|| self.address()).port();
        channel(settings)
    }

    fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.nats.port()))
    }

    fn kill(&mut self) {
        self.nats.kill();
    }

    fn restart(&mut self) {
        self.nats.restart().unwrap();
        self.system = System::connect(self.nats.port());
    }

    fn publish(&mut self, messages: &[Message]) {
        let mut open = 0;
        if self.keeps {
            self.system.subscribe("_INBOX.kept", "");
        }
        for message in messages {
            let mut headers = vec![("sojourn-key", message.key.as_str())];
            for (name, value) in &message.headers {
                headers.push((name, std::str::from_utf8(value).unwrap()));
            }
            let reply = self.keeps.then_some("_INBOX.kept");
            self.system.publish_to(SUBJECT, reply, &headers, &message.payload);
            open += usize::from(self.keeps);
            while open > OPEN_MAX {
                assert_kept(&self.system.next());
                open -= 1;
            }
        }
        for _ in 0..open {
            assert_kept(&self.system.next());
        }
        match self.keeps {
            true => self.system.unsubscribe(),
            false => self.system.flush(),
        }
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            keeps_a_past: self.keeps,
            stall_noticed: Duration::from_secs(2),
            ..Abilities::default()
        }
    }

    fn wrong(&mut self) -> Vec<Wrong> {
        let start = |tls| Nats::start_with(NatsOptions { password: true, tls }).unwrap();
        self.others = vec![start(false), start(true)];
        let at = |port: u16| format!("127.0.0.1:{port}");
        let case = |what, settings: NatsChannel, says: &[&str], secret: Option<&str>| {
            let mut says: Vec<String> = says.iter().map(|word| (*word).to_owned()).collect();
            says.push("nats".to_owned());
            says.push(at(settings.server.port));
            let secret = secret.map(ToOwned::to_owned);
            Wrong { what, channel: channel(settings), says, secret }
        };
        let to = |port| {
            let mut settings = self.settings();
            settings.server.port = port;
            settings
        };
        let (password, tls) = (self.others[0].port(), self.others[1].port());
        let secure = |trust| {
            let mut settings = with_login(to(tls), USER, "hunter2");
            settings.server.tls = true;
            settings.server.trust = trust;
            settings
        };
        let ca = self.others[1].ca_file();
        let other_name =
            Tls { ca: ca.clone(), name: Some("elsewhere.test".to_owned()), ..Tls::default() };
        let mut wrong = vec![
            case(
                "the password",
                with_login(to(password), USER, "hunter2"),
                &["login", "password"][1..],
                Some("hunter2"),
            ),
            case("no password", to(password), &["login"], None),
            case("the address", to(dead_address().port()), &["running"], None),
            case("TLS not asked for", to(tls), &["tls://"], None),
            case("an authority not trusted", secure(Tls::default()), &["ca:"], Some("hunter2")),
            case("another name", secure(other_name), &["elsewhere.test"], Some("hunter2")),
            case(
                "the password by TLS",
                secure(Tls { ca, ..Tls::default() }),
                &["password"],
                Some("hunter2"),
            ),
        ];
        if self.keeps {
            let mut missing = self.settings();
            missing.stream = Some("EVENT".to_owned());
            wrong.push(case("the stream", missing, &["`EVENT`", "`EVENTS`"], None));
        }
        wrong
    }

    fn system(&mut self) -> Option<Box<dyn Consumes>> {
        let mut system = System::connect(self.nats.port());
        if self.keeps {
            system.durable_from(STREAM, DURABLE, "new");
        } else {
            system.subscribe("events.>", "system");
        }
        system.wait_at_most(5);
        Some(Box::new(Member { system, keeps: self.keeps }))
    }

    fn footprint(&mut self) -> Vec<String> {
        let mut names = Vec::new();
        let connections = self.monitor("/connz?subs=1");
        for connection in connections["connections"].as_array().unwrap() {
            let subjects = connection["subscriptions_list"].as_array();
            // Requests of this client's own come and go.
            let lasting = subjects
                .into_iter()
                .flatten()
                .filter(|subject| !subject.as_str().unwrap().starts_with("_INBOX.system."));
            names.extend(lasting.map(|subject| format!("subscription {subject}")));
        }
        if self.keeps {
            let consumers = self.system.ask(&format!("CONSUMER.NAMES.{STREAM}"), json!({}));
            names.extend(
                consumers["consumers"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|name| format!("consumer {name}")),
            );
            let streams = self.system.ask("STREAM.NAMES", json!({}));
            names.push(streams["streams"].to_string());
        }
        names.sort();
        names
    }

    fn stored(&mut self) -> Option<Vec<u64>> {
        if !self.keeps {
            return None;
        }
        let info = self.system.ask(&format!("STREAM.INFO.{STREAM}"), json!({}));
        let last = info["state"]["last_seq"].as_u64().unwrap();
        let mut numbers = Vec::new();
        for seq in 1..=last {
            let what = format!("STREAM.MSG.GET.{STREAM}");
            let message = self.system.ask(&what, json!({ "seq": seq }));
            let payload = STANDARD.decode(message["message"]["data"].as_str().unwrap()).unwrap();
            numbers.extend(number(&payload));
        }
        Some(numbers)
    }

    fn backlog(&self) -> Option<String> {
        self.keeps.then(|| DURABLE.to_owned())
    }
}

fn assert_kept(answer: &Got) {
    let answer: Value = serde_json::from_slice(&answer.payload).unwrap();
    assert!(answer["seq"].is_u64(), "{answer}");
}

fn number(payload: &[u8]) -> Option<u64> {
    let payload: Value = serde_json::from_slice(payload).ok()?;
    payload.get("n")?.as_u64()
}

/// The system's own member of a queue group, or of a durable consumer.
struct Member {
    system: System,
    keeps: bool,
}

impl Consumes for Member {
    fn take(&mut self, count: usize) -> Vec<u64> {
        if self.keeps {
            let taken = self.system.take(STREAM, DURABLE, count, count);
            return taken.iter().filter_map(|got| number(&got.payload)).collect();
        }
        let mut numbers = Vec::new();
        while numbers.len() < count && self.system.something_comes() {
            numbers.extend(number(&self.system.next().payload));
        }
        numbers
    }
}
