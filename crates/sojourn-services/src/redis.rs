//! Redis, open or with users.

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
pub struct RedisOptions {
    /// Only [`USER`] with [`PASSWORD`] may do anything.
    pub password: bool,
}

/// A Redis server with a plain and a TLS port; it knows [`USER`], and keeps an append-only file,
/// so that nothing it has answered for is lost when it is killed.
#[derive(Debug)]
pub struct Redis {
    instance: Instance,
    port: u16,
    tls_port: u16,
    options: RedisOptions,
    ca: PathBuf,
}

impl Redis {
    /// Starts one that also lets anybody in.
    ///
    /// # Errors
    /// It is not installed, or does not start; the text shows the end of its log.
    pub fn start() -> io::Result<Self> {
        Self::start_with(RedisOptions::default())
    }

    /// Starts one that asks for passwords, or not.
    ///
    /// # Errors
    /// It is not installed, or does not start; the text shows the end of its log.
    pub fn start_with(options: RedisOptions) -> io::Result<Self> {
        with_free_ports(|| Self::start_once(options))
    }

    fn start_once(options: RedisOptions) -> io::Result<Self> {
        let program = find_program("redis-server")?;
        let folder = folder("redis")?;
        let (port, tls_port) = (free_port()?, free_port()?);
        let files = Certificates::make(folder.path())?;
        let default = if options.password { "off" } else { "on nopass ~* &* +@all" };
        let config = format!(
            "bind 127.0.0.1\nport {port}\ntls-port {tls_port}\ntls-cert-file {}\n\
             tls-key-file {}\ntls-ca-cert-file {}\ntls-auth-clients no\ndir {}\n\
             appendonly yes\nappendfsync always\nsave \"\"\nuser default {default}\n\
             user {USER} on >{PASSWORD} ~* &* +@all\n",
            files.server.display(),
            files.key.display(),
            files.ca.display(),
            folder.path().display(),
        );
        let file = folder.path().join("redis.conf");
        std::fs::write(&file, config)?;
        let launch = Launch::new(program).arg(file);
        let ready = move || if options.password { log_in(port) } else { probe(port) };
        let instance = Instance::start("redis", folder, launch, ready)?;
        Ok(Self { instance, port, tls_port, options, ca: files.ca })
    }

    /// `redis://127.0.0.1:PORT`, with the user if there is no way in without.
    pub fn url(&self) -> String {
        if self.options.password {
            return self.url_with_password();
        }
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// `redis://USER:PASSWORD@127.0.0.1:PORT`.
    pub fn url_with_password(&self) -> String {
        format!("redis://{USER}:{PASSWORD}@127.0.0.1:{}", self.port)
    }

    /// `rediss://USER:PASSWORD@localhost:PORT`, with the port for TLS.
    pub fn url_tls(&self) -> String {
        format!("rediss://{USER}:{PASSWORD}@localhost:{}", self.tls_port)
    }
}

impl Service for Redis {
    fn kind(&self) -> Kind {
        Kind::Redis
    }

    fn port(&self) -> u16 {
        self.port
    }

    fn accesses(&self) -> Vec<Access> {
        let mut accesses = vec![
            Access { name: "password", url: self.url_with_password() },
            Access { name: "tls", url: self.url_tls() },
        ];
        if !self.options.password {
            accesses.insert(0, Access { name: "open", url: self.url() });
        }
        accesses
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

/// Whether one answers; of one that asks for a password, whether it does ask.
pub(crate) fn probe(port: u16) -> io::Result<()> {
    let mut stream = exchange::connect(port)?;
    io::Write::write_all(&mut stream, b"PING\r\n")?;
    let line = exchange::line(&mut stream)?;
    if line == "+PONG" || line.starts_with("-NOAUTH") {
        return Ok(());
    }
    Err(io::Error::other(format!("the server answers `{line}`")))
}

fn log_in(port: u16) -> io::Result<()> {
    let request = format!("AUTH {USER} {PASSWORD}\r\nPING\r\n");
    exchange::expect(&mut exchange::connect(port)?, request.as_bytes(), b"+OK\r\n+PONG\r\n")
}
