//! The shared RabbitMQ with an exchange of one's own.

use std::cell::Cell;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::sync::MutexGuard;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;
use sojourn_broker::Connect;
use sojourn_broker_amqp::Amqp;
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_conformance::{Abilities, Message, Rig, System, Wrong, dead_address, publish_all};
use sojourn_plan::{AmqpChannel, Channel, Connector, Decoder, Secret, Tls};
use sojourn_services::{RabbitMq, Service};

use crate::system;

/// The key that all messages of the script have.
const KEY: &str = "events";

pub(crate) struct AmqpRig {
    rabbit: MutexGuard<'static, RabbitMq>,
    exchange: String,
    /// The queue that keeps all messages.
    kept: String,
    /// The queue of the system's consumer.
    system: String,
    /// What the broker said of it with the latest message taken.
    said: Rc<Cell<Said>>,
}

impl AmqpRig {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let rig = Self {
            rabbit: system::rabbit(),
            exchange: format!("events.{number}"),
            kept: format!("kept.{number}"),
            system: format!("system.{number}"),
            said: Rc::default(),
        };
        let management = rig.management();
        management.exchange(&rig.exchange, "topic");
        // The consumers of the script are a group of this name.
        for queue in [&rig.kept, "conformance"] {
            management.queue(queue, &rig.exchange, KEY);
        }
        rig
    }

    fn management(&self) -> system::System {
        system::System::of(&self.rabbit)
    }

    fn settings(&self) -> AmqpChannel {
        system::channel(&self.rabbit, &self.exchange, &[KEY])
    }
}

impl Drop for AmqpRig {
    fn drop(&mut self) {
        // What a flood left would fill the broker that others use.
        if self.rabbit.instance().process().is_some() {
            let management = self.management();
            for path in [
                format!("queues/%2f/{}", self.kept),
                format!("queues/%2f/{}", self.system),
                "queues/%2f/conformance".to_owned(),
                format!("exchanges/%2f/{}", self.exchange),
            ] {
                management.ask("DELETE", &path, &Value::Null);
            }
        }
    }
}

fn channel(settings: AmqpChannel) -> Channel {
    Channel {
        name: "events".to_owned(),
        connector: Connector::Amqp(settings),
        decoder: Decoder::Auto,
        message_id: None,
        marker: None,
        backlog: Vec::new(),
    }
}

impl Rig for AmqpRig {
    fn connector(&self) -> &dyn Connect {
        &Amqp
    }

    fn channel(&self, through: Option<SocketAddr>) -> Channel {
        let mut settings = self.settings();
        if let Some(address) = through {
            settings.server.port = address.port();
        }
        channel(settings)
    }

    fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.rabbit.port()))
    }

    fn kill(&mut self) {
        self.rabbit.kill();
    }

    fn restart(&mut self) {
        self.rabbit.restart().unwrap();
    }

    fn publish(&mut self, messages: &[Message]) {
        publish_all(&Amqp, &self.channel(None), KEY, messages);
    }

    fn abilities(&self) -> Abilities {
        Abilities { flood: (30_000, 2_000), ..Abilities::default() }
    }

    fn wrong(&mut self) -> Vec<Wrong> {
        let address = self.address().to_string();
        let mut missing = self.settings();
        missing.exchange = format!("{}x", self.exchange);
        missing.management = Some(system::management(&self.rabbit));
        let mut password = self.settings();
        password.server.user = Some("guest".to_owned());
        password.server.password = Some(Secret::new("hunter2"));
        let mut vhost = self.settings();
        vhost.server.path = "nowhere".to_owned();
        let dead = dead_address();
        let mut nobody = self.settings();
        nobody.server.port = dead.port();
        let mut tls = self.settings();
        tls.server.tls = true;
        tls.server.trust = Tls { ca: self.rabbit.ca_file(), ..Tls::default() };
        let wrong = |what, settings, says: &[&str], secret: Option<&str>| Wrong {
            what,
            channel: channel(settings),
            says: says.iter().map(|word| (*word).to_owned()).collect(),
            secret: secret.map(str::to_owned),
        };
        let missing_name = missing.exchange.clone();
        let own = format!("`{}`", self.exchange);
        vec![
            wrong("the exchange", missing, &[&address, "amqp", &missing_name, &own], None),
            wrong("the password", password, &[&address, "amqp", "`guest`"], Some("hunter2")),
            wrong("the virtual host", vhost, &[&address, "amqp", "nowhere"], None),
            wrong("the address", nobody, &[&dead.to_string(), "amqp"], None),
            wrong("the port for TLS", tls, &[&address, "amqp", "TLS"], None),
        ]
    }

    fn system(&mut self) -> Option<Box<dyn System>> {
        let management = self.management();
        management.queue(&self.system, &self.exchange, KEY);
        let (queue, said) = (self.system.clone(), Rc::clone(&self.said));
        Some(Box::new(Own { management, queue, said }))
    }

    fn footprint(&mut self) -> Vec<String> {
        let mut names = self.management().queues();
        let (_, bindings) = self.management().ask("GET", "bindings", &Value::Null);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        names.extend(bindings.as_array().unwrap().iter().map(|binding| {
            format!("{} to {}", text(&binding["source"]), text(&binding["destination"]))
        }));
        names.sort();
        names
    }

    fn unacknowledged(&mut self) -> Vec<(&'static str, u64)> {
        let Said { ready, redelivered } = self.said.get();
        vec![("ready", ready), ("redelivered", redelivered)]
    }

    fn stored(&mut self) -> Option<Vec<u64>> {
        Some(numbers(&self.management().take(&self.kept, 100_000)))
    }

    fn backlog(&self) -> Option<String> {
        Some(self.system.clone())
    }
}

/// The system's own consumer, by the management.
struct Own {
    management: system::System,
    queue: String,
    said: Rc<Cell<Said>>,
}

/// What comes with a message.
#[derive(Clone, Copy, Default)]
struct Said {
    /// Messages left in the queue.
    ready: u64,
    /// Messages so far that were given to somebody before.
    redelivered: u64,
}

impl System for Own {
    fn take(&mut self, count: usize) -> Vec<u64> {
        let mut taken = Vec::new();
        let deadline_ns = now_ns() + 10 * SECOND_NS;
        while taken.len() < count && now_ns() < deadline_ns {
            let messages = self.management.take(&self.queue, count - taken.len());
            if messages.is_empty() {
                std::thread::sleep(Duration::from_millis(20));
            }
            let mut said = self.said.get();
            for message in &messages {
                said.ready = message["message_count"].as_u64().unwrap();
                said.redelivered += u64::from(message["redelivered"] == true);
            }
            self.said.set(said);
            taken.extend(numbers(&messages));
        }
        taken
    }
}

fn numbers(messages: &[Value]) -> Vec<u64> {
    let number = |message: &Value| {
        let payload: Value = serde_json::from_str(message["payload"].as_str()?).ok()?;
        payload.get("n")?.as_u64()
    };
    messages.iter().filter_map(number).collect()
}
