//! NATS with JetStream.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use crate::certificates::Certificates;
use crate::exchange;
use crate::instance::{Instance, Launch};
use crate::place::{folder, free_port};
use crate::programs::find_program;
use crate::service::with_free_ports;
use crate::{Access, Detached, Kind, PASSWORD, Service, USER};

/// What a server asks of its clients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NatsOptions {
    /// Only [`USER`] with [`PASSWORD`] may connect.
    pub password: bool,
    /// Clients speak TLS, after the server's greeting as NATS has it.
    pub tls: bool,
}

/// A NATS server with JetStream.
#[derive(Debug)]
pub struct Nats {
    instance: Instance,
    port: u16,
    options: NatsOptions,
    ca: Option<PathBuf>,
}

impl Nats {
    /// Starts one that lets anybody in.
    ///
    /// # Errors
    /// It is not installed, or does not start; the text shows the end of its log.
    pub fn start() -> io::Result<Self> {
        Self::start_with(NatsOptions::default())
    }

    /// Starts one with passwords or TLS.
    ///
    /// # Errors
    /// It is not installed, or does not start; the text shows the end of its log.
    pub fn start_with(options: NatsOptions) -> io::Result<Self> {
        Self::start_configured(options, "")
    }

    /// The same with further lines of its configuration, such as users, limits and accounts.
    ///
    /// # Errors
    /// It is not installed, or does not start; the text shows the end of its log.
    pub fn start_configured(options: NatsOptions, lines: &str) -> io::Result<Self> {
        with_free_ports(|| Self::start_once(options, lines))
    }

    fn start_once(options: NatsOptions, lines: &str) -> io::Result<Self> {
        let program = find_program("nats-server")?;
        let folder = folder("nats")?;
        let port = free_port()?;
        let mut config = format!(
            "host: 127.0.0.1\nport: {port}\nserver_name: sojourn-test\n\
             jetstream {{ store_dir: \"{}\" }}\n",
            folder.path().join("jetstream").display()
        );
        let mut ca = None;
        if options.tls {
            let files = Certificates::make(folder.path())?;
            let (server, key) = (files.server.display(), files.key.display());
            writeln!(config, "tls {{ cert_file: \"{server}\", key_file: \"{key}\" }}")
                .map_err(io::Error::other)?;
            ca = Some(files.ca);
        }
        if options.password {
            writeln!(config, "authorization {{ user: {USER}, password: \"{PASSWORD}\" }}")
                .map_err(io::Error::other)?;
        }
        writeln!(config, "{lines}").map_err(io::Error::other)?;
        let file = folder.path().join("nats.conf");
        std::fs::write(&file, config)?;
        let launch = Launch::new(program).arg("--config").arg(file);
        // Whom further lines let in is not known here.
        let greets_only = options.tls || !lines.is_empty();
        let ready = move || if greets_only { greeting(port) } else { probe_with(port, options) };
        let instance = Instance::start("nats", folder, launch, ready)?;
        Ok(Self { instance, port, options, ca })
    }

    /// `nats://127.0.0.1:PORT` (`tls://localhost:PORT` with TLS), with the user where there is one.
    pub fn url(&self) -> String {
        let user =
            if self.options.password { format!("{USER}:{PASSWORD}@") } else { String::new() };
        let (scheme, host) =
            if self.options.tls { ("tls", "localhost") } else { ("nats", "127.0.0.1") };
        format!("{scheme}://{user}{host}:{}", self.port)
    }
}

impl Service for Nats {
    fn kind(&self) -> Kind {
        Kind::Nats
    }

    fn port(&self) -> u16 {
        self.port
    }

    fn accesses(&self) -> Vec<Access> {
        let name = match (self.options.password, self.options.tls) {
            (false, false) => "open",
            (true, false) => "password",
            (false, true) => "tls",
            (true, true) => "tls and password",
        };
        vec![Access { name, url: self.url() }]
    }

    fn ca_file(&self) -> Option<PathBuf> {
        self.ca.clone()
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

/// Whether one answers; of one with passwords or TLS, whether it says so.
pub(crate) fn probe(port: u16) -> io::Result<()> {
    let mut stream = exchange::connect(port)?;
    let info = info(&mut stream)?;
    if info.contains("\"auth_required\":true") || info.contains("\"tls_required\":true") {
        return Ok(());
    }
    ping(&mut stream, "{\"verbose\":false}")
}

fn probe_with(port: u16, options: NatsOptions) -> io::Result<()> {
    let mut stream = exchange::connect(port)?;
    info(&mut stream)?;
    if options.password {
        return ping(
            &mut stream,
            &format!("{{\"verbose\":false,\"user\":\"{USER}\",\"pass\":\"{PASSWORD}\"}}"),
        );
    }
    ping(&mut stream, "{\"verbose\":false}")
}

fn greeting(port: u16) -> io::Result<()> {
    info(&mut exchange::connect(port)?).map(drop)
}

fn info(stream: &mut std::net::TcpStream) -> io::Result<String> {
    let line = exchange::line(stream)?;
    if line.starts_with("INFO ") {
        return Ok(line);
    }
    Err(io::Error::other(format!("`{line}` is no NATS server's greeting")))
}

fn ping(stream: &mut std::net::TcpStream, connect: &str) -> io::Result<()> {
    exchange::expect(stream, format!("CONNECT {connect}\r\nPING\r\n").as_bytes(), b"PONG\r\n")
}
