//! Prometheus, which takes remote writes and may scrape.

use std::io;
use std::path::PathBuf;

use crate::exchange;
use crate::instance::{Instance, Launch};
use crate::place::{folder, free_port};
use crate::programs::find_program;
use crate::service::with_free_ports;
use crate::{Access, Detached, Kind, Service};

/// A Prometheus of one's own, with a receiver of remote writes.
#[derive(Debug)]
pub struct Prometheus {
    instance: Instance,
    port: u16,
}

impl Prometheus {
    /// Starts one with this configuration (YAML), which may be empty.
    ///
    /// # Errors
    /// It is not installed, or does not start; the text shows the end of its log.
    pub fn start(config: &str) -> io::Result<Self> {
        with_free_ports(|| Self::start_once(config, &[]))
    }

    /// Starts one that takes native histograms, without a configuration.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_with_native_histograms() -> io::Result<Self> {
        with_free_ports(|| Self::start_once("", &["--enable-feature=native-histograms"]))
    }

    fn start_once(config: &str, flags: &[&str]) -> io::Result<Self> {
        let program = find_program("prometheus")?;
        let folder = folder("prometheus")?;
        let port = free_port()?;
        let file = folder.path().join("prometheus.yml");
        std::fs::write(&file, config)?;
        let launch = flags.iter().fold(Launch::new(program), |launch, flag| launch.arg(flag));
        let launch = launch
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .arg("--web.enable-remote-write-receiver");
        let instance = Instance::start("prometheus", folder, launch, move || probe(port))?;
        Ok(Self { instance, port })
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Its answer, in JSON, to an expression, evaluated now.
    ///
    /// # Errors
    /// It does not answer.
    pub fn query(&self, expression: &str) -> io::Result<String> {
        let query = exchange::encoded(expression);
        exchange::http_body(self.port, &format!("GET /api/v1/query?query={query}"), "")
    }
}

impl Service for Prometheus {
    fn kind(&self) -> Kind {
        Kind::Prometheus
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

/// Whether one is ready.
pub(crate) fn probe(port: u16) -> io::Result<()> {
    match exchange::http_status(port, "GET /-/ready", "")? {
        200 => Ok(()),
        status => Err(io::Error::other(format!("it is not ready: {status}"))),
    }
}
