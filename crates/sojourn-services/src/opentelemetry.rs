//! A receiver of OTLP made of OpenTelemetry's and gRPC's own packages for Python.

use std::io;
use std::path::PathBuf;

use crate::exchange;
use crate::instance::{Instance, Launch};
use crate::place::{folder, free_port};
use crate::service::with_free_ports;
use crate::wheels::OPENTELEMETRY;
use crate::{Access, Detached, Kind, Service};

/// Takes metrics and traces over gRPC and over HTTP, plain or compressed by gzip, and tells what it
/// took. What the protocol's definition does not allow it refuses, and says why. It keeps all in
/// memory: a restart loses it.
#[derive(Debug)]
pub struct OpenTelemetry {
    instance: Instance,
    grpc_port: u16,
    http_port: u16,
}

impl OpenTelemetry {
    /// Starts one.
    ///
    /// # Errors
    /// It is not installed, or does not start; the text shows the end of its log.
    pub fn start() -> io::Result<Self> {
        with_free_ports(Self::start_once)
    }

    fn start_once() -> io::Result<Self> {
        let python = OPENTELEMETRY.python()?;
        let folder = folder("opentelemetry")?;
        let (grpc_port, http_port) = (free_port()?, free_port()?);
        let file = folder.path().join("opentelemetry.py");
        std::fs::write(&file, include_str!("opentelemetry.py"))?;
        // Apart from what else this user's Python has.
        let launch = Launch::new(python)
            .arg("-I")
            .arg(file)
            .arg(grpc_port.to_string())
            .arg(http_port.to_string());
        let ready = move || probe(http_port);
        let instance = Instance::start("opentelemetry", folder, launch, ready)?;
        Ok(Self { instance, grpc_port, http_port })
    }

    /// `http://127.0.0.1:PORT`, for OTLP over gRPC.
    pub fn grpc_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.grpc_port)
    }

    /// `http://127.0.0.1:PORT`, for OTLP over HTTP.
    pub fn http_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.http_port)
    }

    /// What it has, as an array in JSON: `points`, `spans`, `requests` or `refused`, in the order
    /// in which they came.
    ///
    /// # Errors
    /// It does not answer.
    pub fn list(&self, what: &str) -> io::Result<String> {
        exchange::http_body(self.http_port, &format!("GET /{what}"), "")
    }
}

impl Service for OpenTelemetry {
    fn kind(&self) -> Kind {
        Kind::OpenTelemetry
    }

    fn port(&self) -> u16 {
        self.http_port
    }

    fn accesses(&self) -> Vec<Access> {
        vec![
            Access { name: "grpc", url: self.grpc_url() },
            Access { name: "http", url: self.http_url() },
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

/// Whether one answers over HTTP, which it does last.
pub(crate) fn probe(port: u16) -> io::Result<()> {
    match exchange::http_status(port, "GET /requests", "")? {
        200 => Ok(()),
        status => Err(io::Error::other(format!("it answers {status}"))),
    }
}
