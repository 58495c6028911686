//! The original StatsD, by its authors.

use std::io::{self, Read, Write};
use std::path::PathBuf;

use crate::exchange;
use crate::instance::{Instance, Launch};
use crate::modules::STATSD;
use crate::place::{folder, free_port};
use crate::programs::find_program;
use crate::service::with_free_ports;
use crate::{Access, Detached, Kind, Service};

/// Longer than any test: figures are flushed when it is stopped, and not before.
const FLUSH_MS: u32 = 86_400_000;

/// A StatsD that adds up what comes over UDP until it is stopped, and then writes all of it, with
/// the percentiles 50 and 90, to its log, as it does at every flush otherwise.
#[derive(Debug)]
pub struct Statsd {
    instance: Instance,
    /// For lines over UDP.
    lines_port: u16,
    admin_port: u16,
}

impl Statsd {
    /// Starts one.
    ///
    /// # Errors
    /// It is not installed, or does not start; the text shows the end of its log.
    pub fn start() -> io::Result<Self> {
        with_free_ports(Self::start_once)
    }

    fn start_once() -> io::Result<Self> {
        let program = STATSD.file("stats.js")?;
        let node = find_program("node")?;
        let folder = folder("statsd")?;
        let (lines_port, admin_port) = (free_port()?, free_port()?);
        let file = folder.path().join("config.js");
        let config = format!(
            "{{ address: \"127.0.0.1\", port: {lines_port}, mgmt_address: \"127.0.0.1\", \
             mgmt_port: {admin_port}, flushInterval: {FLUSH_MS}, percentThreshold: [50, 90], \
             backends: [\"./backends/console\"], automaticConfigReload: false }}\n"
        );
        std::fs::write(&file, config)?;
        let launch = Launch::new(node).arg(program).arg(file);
        let instance = Instance::start("statsd", folder, launch, move || probe(admin_port))?;
        Ok(Self { instance, lines_port, admin_port })
    }

    /// `127.0.0.1:PORT`, for lines over UDP.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.lines_port)
    }

    /// What it has by now: `counters`, `gauges` or `timers`, as Node shows an object.
    ///
    /// # Errors
    /// It does not answer.
    pub fn list(&self, what: &str) -> io::Result<String> {
        ask(self.admin_port, what, "END\n\n")
    }
}

impl Service for Statsd {
    fn kind(&self) -> Kind {
        Kind::Statsd
    }

    /// Of its administration, since what comes over UDP has no answer.
    fn port(&self) -> u16 {
        self.admin_port
    }

    fn accesses(&self) -> Vec<Access> {
        vec![
            Access { name: "udp", url: self.address() },
            Access { name: "administration", url: format!("127.0.0.1:{}", self.admin_port) },
        ]
    }

    fn ca_file(&self) -> Option<PathBuf> {
        None
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

/// Whether one answers at the port of its administration.
pub(crate) fn probe(port: u16) -> io::Result<()> {
    match ask(port, "health", "\n")?.trim() {
        "health: up" => Ok(()),
        other => Err(io::Error::other(format!("it answers `{other}`"))),
    }
}

/// Its answer to a command, up to its end.
fn ask(port: u16, command: &str, end: &str) -> io::Result<String> {
    let mut stream = exchange::connect(port)?;
    stream.write_all(format!("{command}\n").as_bytes())?;
    let (mut answer, mut piece) = (Vec::new(), [0; 4096]);
    while !answer.ends_with(end.as_bytes()) {
        match stream.read(&mut piece)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => answer.extend_from_slice(&piece[..read]),
        }
    }
    let text = String::from_utf8_lossy(&answer).into_owned();
    Ok(text.trim_end_matches(end).to_owned())
}
