//! A Mosquitto of one's own for the script of promises.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use sojourn_broker::Connect;
use sojourn_broker_mqtt::Mqtt;
use sojourn_conformance::{Abilities, Message, Rig, System, Wrong, dead_address, publish_all};
use sojourn_plan::{Channel, Connector, Decoder, MqttChannel, MqttVersion, Secret, Server, Tls};
use sojourn_services::{Mosquitto, Service, USER};

use crate::passive::Client;
use crate::support::with_password;

const TOPIC: &str = "payments/1/events";

pub(crate) struct MqttRig {
    mosquitto: Mosquitto,
    version: MqttVersion,
    qos: u8,
}

impl MqttRig {
    pub(crate) fn five() -> Self {
        Self { mosquitto: Mosquitto::start().unwrap(), version: MqttVersion::V5, qos: 1 }
    }

    pub(crate) fn three() -> Self {
        Self { version: MqttVersion::V3, ..Self::five() }
    }

    /// Each message exactly once, by the protocol's own word.
    pub(crate) fn exactly_once(self) -> Self {
        Self { qos: 2, ..self }
    }

    fn settings(&self) -> MqttChannel {
        self.settings_at(self.address())
    }

    fn settings_at(&self, address: SocketAddr) -> MqttChannel {
        let (host, port) = (address.ip().to_string(), address.port());
        MqttChannel {
            server: Server { host, port, ..Server::default() },
            filters: vec![TOPIC.to_owned()],
            qos: self.qos,
            version: self.version,
            client_id: None,
        }
    }
}

fn channel(settings: MqttChannel) -> Channel {
    Channel {
        name: "events".to_owned(),
        connector: Connector::Mqtt(settings),
        decoder: Decoder::Auto,
        message_id: None,
        marker: None,
        backlog: Vec::new(),
    }
}

impl Rig for MqttRig {
    fn connector(&self) -> &dyn Connect {
        &Mqtt
    }

    fn channel(&self, through: Option<SocketAddr>) -> Channel {
        channel(self.settings_at(through.unwrap_or_else(|| self.address())))
    }

    fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.mosquitto.port()))
    }

    fn kill(&mut self) {
        self.mosquitto.kill();
    }

    fn restart(&mut self) {
        self.mosquitto.restart().unwrap();
    }

    fn publish(&mut self, messages: &[Message]) {
        publish_all(&Mqtt, &self.channel(None), TOPIC, messages);
    }

    fn abilities(&self) -> Abilities {
        let is_five = self.version == MqttVersion::V5;
        Abilities {
            keys: is_five,
            headers: is_five,
            stall_noticed: Duration::from_secs(2),
            ..Abilities::default()
        }
    }

    fn wrong(&mut self) -> Vec<Wrong> {
        let secret = "s3cret-t0ken";
        let mut password = with_password(&self.mosquitto, TOPIC);
        password.version = self.version;
        password.server.password = Some(Secret::new(secret));
        let mut nobody = password.clone();
        nobody.server = Server { user: None, password: None, ..nobody.server };
        let tls = |host: &str, trust: Tls| {
            let url = self.mosquitto.url_tls();
            let port = url.rsplit(':').next().unwrap().parse().unwrap();
            let server =
                Server { host: host.to_owned(), port, tls: true, trust, ..Server::default() };
            MqttChannel { server, ..self.settings() }
        };
        let ca = self.mosquitto.ca_file();
        let name = Some("elsewhere.example".to_owned());
        let port = |settings: &MqttChannel| settings.server.port.to_string();
        let wrong = |what, settings: MqttChannel, says: &[&str], secret: Option<&str>| {
            let mut says: Vec<_> = says.iter().map(|word| (*word).to_owned()).collect();
            says.extend(["mqtt".to_owned(), port(&settings)]);
            Wrong { what, channel: channel(settings), says, secret: secret.map(str::to_owned) }
        };
        vec![
            wrong("the password", password, &["not authorized"], Some(secret)),
            wrong("no user", nobody, &["not authorized", "user"], Some(USER)),
            wrong("nobody trusted", tls("localhost", Tls::default()), &["`ca`"], None),
            wrong(
                "another name",
                tls("127.0.0.1", Tls { ca: ca.clone(), name, ..Tls::default() }),
                &["elsewhere.example", "`name`"],
                None,
            ),
            wrong("nobody there", self.settings_at(dead_address()), &["refused"], None),
        ]
    }

    fn system(&mut self) -> Option<Box<dyn System>> {
        let mut client = Client::connect(self.mosquitto.port(), "system", false);
        client.subscribe(TOPIC);
        Some(Box::new(Own(client)))
    }

    fn footprint(&mut self) -> Vec<String> {
        // The broker's own counts, which it publishes once a second where they changed. They are
        // complete when the round that began after we came is followed by another.
        let mut client = Client::connect(self.mosquitto.port(), "looker", true);
        client.subscribe("$SYS/broker/#");
        let (mut counts, mut rounds) = (BTreeMap::new(), 0);
        while rounds < 2 {
            let (was_kept, topic, text) = client.take_whole();
            match topic.trim_start_matches("$SYS/broker/") {
                // Each round begins with it.
                "uptime" if !was_kept => rounds += 1,
                // Sessions, connected or kept.
                "clients/total" | "subscriptions/count" => drop(counts.insert(topic, text)),
                _ => {}
            }
        }
        assert_eq!(counts.len(), 2, "the broker tells its counts");
        counts.into_iter().map(|(topic, count)| format!("{topic}: {count}")).collect()
    }
}

struct Own(Client);

impl System for Own {
    fn take(&mut self, count: usize) -> Vec<u64> {
        (0..count).map_while(|_| self.0.try_take()).map(|text| number(&text)).collect()
    }
}

fn number(text: &str) -> u64 {
    let rest = text.split("\"n\":").nth(1).unwrap();
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}
