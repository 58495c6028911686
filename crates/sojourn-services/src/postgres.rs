//! PostgreSQL with logical decoding.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;

use crate::certificates::Certificates;
use crate::exchange;
use crate::instance::{Instance, Launch};
use crate::place::{folder, free_port, give_away};
use crate::programs::find_program;
use crate::service::with_free_ports;
use crate::{Access, Detached, Kind, PASSWORD, Service, USER};

/// The superuser, who needs no password.
const OPEN_USER: &str = "open";
/// Debian's `nobody`: Postgres refuses to run as root.
const NOBODY: u32 = 65_534;

/// A PostgreSQL with `wal_level=logical` and TLS. Its database is `postgres`; user `open` needs no
/// password, [`USER`] does (SCRAM), and both are superusers.
#[derive(Debug)]
pub struct Postgres {
    instance: Instance,
    port: u16,
    ca: PathBuf,
}

impl Postgres {
    /// Starts one.
    ///
    /// # Errors
    /// It is not installed, or does not start; the text shows the end of its log.
    pub fn start() -> io::Result<Self> {
        with_free_ports(Self::start_once)
    }

    fn start_once() -> io::Result<Self> {
        let initdb = find_program("initdb")?;
        let postgres = initdb.with_file_name("postgres");
        let folder = folder("postgres")?;
        let port = free_port()?;
        let files = Certificates::make(folder.path())?;
        let user = rustix::process::geteuid().is_root().then_some(NOBODY);
        let data = folder.path().join("data");
        std::fs::create_dir(&data)?;
        if let Some(user) = user {
            give_away(folder.path(), user)?;
        }
        let run = |program: &Path, arguments: &[&str], input: &str| {
            run(program, arguments, input, folder.path(), user)
        };
        let data_text = data.to_string_lossy().into_owned();
        run(
            &initdb,
            &[
                "-D",
                &data_text,
                "-U",
                OPEN_USER,
                "-E",
                "UTF8",
                "--locale=C",
                "--no-sync",
                "--auth=trust",
                "--no-instructions",
            ],
            "",
        )?;
        configure(&data, port, folder.path(), &files)?;
        let create = format!("CREATE ROLE {USER} SUPERUSER LOGIN PASSWORD '{PASSWORD}';\n");
        run(&postgres, &["--single", "-D", &data_text, "postgres"], &create)?;
        let launch =
            Launch::new(postgres).arg("-D").arg(&data).user(user).stop_by(Signal::INT).orderly();
        let instance = Instance::start("postgres", folder, launch, move || probe(port))?;
        Ok(Self { instance, port, ca: files.ca })
    }

    /// `postgresql://open@127.0.0.1:PORT/postgres`.
    pub fn url(&self) -> String {
        format!("postgresql://{OPEN_USER}@127.0.0.1:{}/postgres", self.port)
    }

    /// `postgresql://USER:PASSWORD@127.0.0.1:PORT/postgres`.
    pub fn url_with_password(&self) -> String {
        format!("postgresql://{USER}:{PASSWORD}@127.0.0.1:{}/postgres", self.port)
    }

    /// The same with `localhost` and `sslmode=verify-full`.
    pub fn url_tls(&self) -> String {
        let port = self.port;
        format!("postgresql://{USER}:{PASSWORD}@localhost:{port}/postgres?sslmode=verify-full")
    }
}

impl Service for Postgres {
    fn kind(&self) -> Kind {
        Kind::Postgres
    }

    fn port(&self) -> u16 {
        self.port
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

fn configure(data: &Path, port: u16, folder: &Path, files: &Certificates) -> io::Result<()> {
    let own = format!(
        "listen_addresses = '127.0.0.1'\nport = {port}\nunix_socket_directories = '{}'\n\
         wal_level = logical\nmax_wal_senders = 10\nmax_replication_slots = 10\n\
         max_connections = 50\nshared_buffers = '32MB'\nssl = on\n\
         ssl_cert_file = '{}'\nssl_key_file = '{}'\n",
        folder.display(),
        files.server.display(),
        files.key.display(),
    );
    let mut config = std::fs::OpenOptions::new().append(true).open(data.join("postgresql.conf"))?;
    config.write_all(own.as_bytes())?;
    let mut rules = String::new();
    for database in ["all", "replication"] {
        rules.push_str(&format!("host {database} {OPEN_USER} 127.0.0.1/32 trust\n"));
        rules.push_str(&format!("host {database} {USER} 127.0.0.1/32 scram-sha-256\n"));
    }
    std::fs::write(data.join("pg_hba.conf"), rules)
}

fn run(
    program: &Path,
    arguments: &[&str],
    input: &str,
    folder: &Path,
    user: Option<u32>,
) -> io::Result<()> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
    let pipe = std::process::Stdio::piped;
    let mut child = command.stdin(pipe()).stdout(pipe()).stderr(pipe()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(io::Error::other(format!("{} failed: {said}", program.display())))
}

/// Whether one answers and lets clients in: a start-up message of protocol 3.0, and an `R`
/// (authentication) for an answer; while it starts, the answer is an `E`.
pub(crate) fn probe(port: u16) -> io::Result<()> {
    let mut stream = exchange::connect(port)?;
    let words = format!("user\0{OPEN_USER}\0database\0postgres\0\0");
    // A few dozen bytes.
    let length = u32::try_from(words.len() + 8).unwrap_or(u32::MAX);
    let mut message = length.to_be_bytes().to_vec();
    message.extend(0x0003_0000_u32.to_be_bytes());
    message.extend(words.as_bytes());
    stream.write_all(&message)?;
    let mut answer = [0];
    stream.read_exact(&mut answer)?;
    if answer != *b"R" {
        let said = answer.escape_ascii();
        return Err(io::Error::other(format!("the server answers `{said}` instead of `R`")));
    }
    // A word of farewell (`X`), so that it does not log a broken connection.
    stream.write_all(b"X\0\0\0\x04")
}
