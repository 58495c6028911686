//! Mosquitto with three listeners: open, with passwords, with TLS.

use std::io;
use std::path::PathBuf;
use std::process::Command;

use crate::certificates::Certificates;
use crate::exchange;
use crate::instance::{Instance, Launch};
use crate::place::{folder, free_port};
use crate::programs::find_program;
use crate::service::with_free_ports;
use crate::{Access, Detached, Kind, PASSWORD, Service, USER};

/// A Mosquitto, which speaks MQTT 3.1.1 and 5 on every listener and keeps sessions and retained
/// messages over an orderly restart. Its counts below `$SYS` are a second old at most.
#[derive(Debug)]
pub struct Mosquitto {
    instance: Instance,
    ports: Ports,
    ca: PathBuf,
}

#[derive(Debug, Clone, Copy)]
struct Ports {
    open: u16,
    password: u16,
    tls: u16,
}

impl Mosquitto {
    /// Starts one.
    ///
    /// # Errors
    /// It is not installed, or does not start; the text shows the end of its log.
    pub fn start() -> io::Result<Self> {
        with_free_ports(|| Self::start_once(""))
    }

    /// Starts one that drops nothing, however much a subscriber has not taken. Others drop what is
    /// beyond a thousand messages, without a word.
    ///
    /// # Errors
    /// As for [`Self::start`].
    pub fn dropping_nothing() -> io::Result<Self> {
        with_free_ports(|| Self::start_once("max_queued_messages 0\n"))
    }

    fn start_once(more: &str) -> io::Result<Self> {
        let program = find_program("mosquitto")?;
        let folder = folder("mosquitto")?;
        let ports = Ports { open: free_port()?, password: free_port()?, tls: free_port()? };
        let files = Certificates::make(folder.path())?;
        let passwords = folder.path().join("passwords");
        let status = Command::new(find_program("mosquitto_passwd")?)
            .args(["-b", "-c"])
            .arg(&passwords)
            .args([USER, PASSWORD])
            .status()?;
        if !status.success() {
            return Err(io::Error::other(format!("mosquitto_passwd ended with {status}")));
        }
        // Started by root it would change to a user who may not read this folder.
        let config = format!(
            "per_listener_settings true\nuser root\npersistence true\n\
             persistence_location {}/\nlog_dest stdout\nsys_interval 1\n{more}\
             listener {} 127.0.0.1\nallow_anonymous true\n\
             listener {} 127.0.0.1\nallow_anonymous false\npassword_file {}\n\
             listener {} 127.0.0.1\nallow_anonymous true\ncertfile {}\nkeyfile {}\n",
            folder.path().display(),
            ports.open,
            ports.password,
            passwords.display(),
            ports.tls,
            files.server.display(),
            files.key.display(),
        );
        let file = folder.path().join("mosquitto.conf");
        std::fs::write(&file, config)?;
        let launch = Launch::new(program).arg("-c").arg(file);
        let ready = move || {
            exchange::connect(ports.tls)?;
            connect(ports.password, true)?;
            probe(ports.open)
        };
        let instance = Instance::start("mosquitto", folder, launch, ready)?;
        Ok(Self { instance, ports, ca: files.ca })
    }

    /// `mqtt://127.0.0.1:PORT`, for anybody.
    pub fn url(&self) -> String {
        format!("mqtt://127.0.0.1:{}", self.ports.open)
    }

    /// `mqtt://USER:PASSWORD@127.0.0.1:PORT`, which nobody else may use.
    pub fn url_with_password(&self) -> String {
        format!("mqtt://{USER}:{PASSWORD}@127.0.0.1:{}", self.ports.password)
    }

    /// `mqtts://localhost:PORT`, for anybody.
    pub fn url_tls(&self) -> String {
        format!("mqtts://localhost:{}", self.ports.tls)
    }

    /// The port that asks for a password.
    pub fn port_with_password(&self) -> u16 {
        self.ports.password
    }
}

impl Service for Mosquitto {
    fn kind(&self) -> Kind {
        Kind::Mosquitto
    }

    fn port(&self) -> u16 {
        self.ports.open
    }

    fn accesses(&self) -> Vec<Access> {
        vec![
            Access { name: "open", url: self.url() },
            Access { name: "password", url: self.url_with_password() },
            Access { name: "tls", url: self.url_tls() },
        ]
    }

    fn ca_file(&self) -> Option<PathBuf> {
        Some(self.ca.clone())
    }

    fn instance(&self) -> &Instance {
        &self.instance
    }

    fn instance_mut(&mut self) -> &mut Instance {
        &mut self.instance
    }

    fn detach(self: Box<Self>) -> Detached {
        Detached { processes: self.instance.detach().into_iter().collect() }
    }
}

/// Whether one answers.
pub(crate) fn probe(port: u16) -> io::Result<()> {
    connect(port, false)
}

/// CONNECT of MQTT 3.1.1 (section 3.1 there) with a clean session, and its CONNACK.
fn connect(port: u16, password: bool) -> io::Result<()> {
    let mut body = b"\x00\x04MQTT\x04".to_vec();
    body.push(if password { 0xc2 } else { 0x02 });
    body.extend([0, 10]);
    let fields: &[&str] = if password { &["", USER, PASSWORD] } else { &[""] };
    for field in fields {
        // All of them are shorter than 256 bytes.
        body.extend([0, u8::try_from(field.len()).unwrap_or(u8::MAX)]);
        body.extend(field.as_bytes());
    }
    let mut packet = vec![0x10, u8::try_from(body.len()).unwrap_or(u8::MAX)];
    packet.extend(body);
    exchange::expect(&mut exchange::connect(port)?, &packet, &[0x20, 2, 0, 0])
}
