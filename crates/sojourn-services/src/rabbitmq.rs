//! RabbitMQ with its management.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::MutexGuard;

use crate::certificates::Certificates;
use crate::exchange;
use crate::instance::{Instance, Launch};
use crate::place::{folder, free_port};
use crate::programs::find_program;
use crate::service::with_free_ports;
use crate::shared::Shared;
use crate::{Access, Detached, Kind, PASSWORD, Service, USER};

/// [`PASSWORD`] as RabbitMQ stores it: four bytes of salt and SHA-256 of salt and password, in
/// Base64.
const PASSWORD_HASH: &str = "kI3GChsEV+JQLY31AidZtVPyRjrYcWstemzuZTJOXg1u87oj";
/// The same of `guest`.
const GUEST_HASH: &str = "HyKQRBEE8YmUUUscapi3wm3z3u2o2tGEGwP+3UOB5THWQ1e/";

/// A RabbitMQ node of its own: AMQP 0-9-1 without and with TLS, and the management's HTTP. It knows
/// `guest` with password `guest`, and [`USER`]; both are administrators.
#[derive(Debug)]
pub struct RabbitMq {
    // Dropped first: the name server must outlive the node.
    instance: Instance,
    names: Instance,
    ports: Ports,
    ca: PathBuf,
}

#[derive(Debug, Clone, Copy)]
struct Ports {
    amqp: u16,
    tls: u16,
    management: u16,
    names: u16,
    distribution: u16,
}

impl RabbitMq {
    /// Starts one, which takes seconds.
    ///
    /// # Errors
    /// It is not installed, or does not start; the text shows the end of its log.
    pub fn start() -> io::Result<Self> {
        with_free_ports(Self::start_once)
    }

    /// The one that all tests of this process use together, started when first asked for. Whoever
    /// stops it must start it again before letting go.
    ///
    /// # Errors
    /// It did not start.
    pub fn shared() -> io::Result<MutexGuard<'static, Self>> {
        static SHARED: Shared<RabbitMq> = Shared::new();
        SHARED.lock(Self::start)
    }

    fn start_once() -> io::Result<Self> {
        let ports = Ports {
            amqp: free_port()?,
            tls: free_port()?,
            management: free_port()?,
            names: free_port()?,
            distribution: free_port()?,
        };
        let (program, epmd) = (find_program("rabbitmq-server")?, find_program("epmd")?);
        // Without one of ours, Erlang would start one for all and leave it behind.
        let names = Launch::new(epmd).arg("-address").arg("127.0.0.1").arg("-port");
        let names = Instance::start(
            "epmd",
            crate::place::folder("epmd")?,
            names.arg(ports.names.to_string()),
            move || exchange::connect(ports.names).map(drop),
        )?;
        let folder = folder("rabbitmq")?;
        let files = Certificates::make(folder.path())?;
        configure(folder.path(), ports, &files)?;
        let launch = launch(program, folder.path(), ports);
        let instance = Instance::start("rabbitmq", folder, launch, move || {
            probe(ports.amqp)?;
            exchange::connect(ports.tls)?;
            // guest:guest
            let user = "Authorization: Basic Z3Vlc3Q6Z3Vlc3Q=\r\n";
            match exchange::http_status(ports.management, "GET /api/overview", user)? {
                200 => Ok(()),
                status => Err(io::Error::other(format!("its management answers {status}"))),
            }
        })?;
        Ok(Self { instance, names, ports, ca: files.ca })
    }

    /// `amqp://guest:guest@127.0.0.1:PORT/%2f`.
    pub fn url(&self) -> String {
        format!("amqp://guest:guest@127.0.0.1:{}/%2f", self.ports.amqp)
    }

    /// `amqp://USER:PASSWORD@127.0.0.1:PORT/%2f`.
    pub fn url_with_password(&self) -> String {
        format!("amqp://{USER}:{PASSWORD}@127.0.0.1:{}/%2f", self.ports.amqp)
    }

    /// `amqps://USER:PASSWORD@localhost:PORT/%2f`.
    pub fn url_tls(&self) -> String {
        format!("amqps://{USER}:{PASSWORD}@localhost:{}/%2f", self.ports.tls)
    }

    /// `http://guest:guest@127.0.0.1:PORT`, under which `/api/` lies.
    pub fn url_management(&self) -> String {
        format!("http://guest:guest@127.0.0.1:{}", self.ports.management)
    }

    /// The port of the management.
    pub fn port_management(&self) -> u16 {
        self.ports.management
    }
}

impl Service for RabbitMq {
    fn kind(&self) -> Kind {
        Kind::RabbitMq
    }

    fn port(&self) -> u16 {
        self.ports.amqp
    }

    fn accesses(&self) -> Vec<Access> {
        vec![
            Access { name: "open", url: self.url() },
            Access { name: "password", url: self.url_with_password() },
            Access { name: "tls", url: self.url_tls() },
            Access { name: "management", url: self.url_management() },
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
        let Self { instance, names, .. } = *self;
        Detached { processes: instance.detach().into_iter().chain(names.detach()).collect() }
    }
}

fn configure(folder: &Path, ports: Ports, files: &Certificates) -> io::Result<()> {
    let users = [("guest", GUEST_HASH), (USER, PASSWORD_HASH)].map(|(name, hash)| {
        format!(
            r#"{{"name":"{name}","password_hash":"{hash}","tags":["administrator"],
            "hashing_algorithm":"rabbit_password_hashing_sha256"}}"#
        )
    });
    let permissions = ["guest", USER].map(|name| {
        format!(r#"{{"user":"{name}","vhost":"/","configure":".*","write":".*","read":".*"}}"#)
    });
    let definitions = format!(
        r#"{{"users":[{}],"vhosts":[{{"name":"/"}}],"permissions":[{}]}}"#,
        users.join(","),
        permissions.join(","),
    );
    std::fs::write(folder.join("definitions.json"), definitions)?;
    let config = format!(
        "listeners.tcp.1 = 127.0.0.1:{}\nlisteners.ssl.1 = 127.0.0.1:{}\n\
         ssl_options.cacertfile = {}\nssl_options.certfile = {}\nssl_options.keyfile = {}\n\
         ssl_options.verify = verify_none\nmanagement.tcp.ip = 127.0.0.1\n\
         management.tcp.port = {}\nload_definitions = {}\nlog.console = true\n\
         log.console.level = info\nlog.file = false\n\
         collect_statistics_interval = 1000\nvm_memory_high_watermark.absolute = 512MB\n\
         disk_free_limit.absolute = 50MB\n",
        ports.amqp,
        ports.tls,
        files.ca.display(),
        files.server.display(),
        files.key.display(),
        ports.management,
        folder.join("definitions.json").display(),
    );
    std::fs::write(folder.join("rabbitmq.conf"), config)?;
    std::fs::write(folder.join("environment.conf"), "")?;
    std::fs::write(folder.join("enabled_plugins"), "[rabbitmq_management].\n")
}

fn launch(program: PathBuf, folder: &Path, ports: Ports) -> Launch {
    Launch::new(program)
        // Then the script becomes the node, instead of waiting beside it.
        .env("RUNNING_UNDER_SYSTEMD", "true")
        .env("HOME", folder)
        .env("ERL_EPMD_PORT", ports.names.to_string())
        .env("ERL_EPMD_ADDRESS", "127.0.0.1")
        .env("RABBITMQ_NODENAME", format!("sojourn{}@localhost", ports.amqp))
        .env("RABBITMQ_DIST_PORT", ports.distribution.to_string())
        .env("RABBITMQ_CONF_ENV_FILE", folder.join("environment.conf"))
        .env("RABBITMQ_CONFIG_FILE", folder.join("rabbitmq.conf"))
        .env("RABBITMQ_ADVANCED_CONFIG_FILE", folder.join("advanced.config"))
        .env("RABBITMQ_ENABLED_PLUGINS_FILE", folder.join("enabled_plugins"))
        .env("RABBITMQ_MNESIA_BASE", folder.join("mnesia"))
        .env("RABBITMQ_LOG_BASE", folder.join("log"))
        .env("RABBITMQ_GENERATED_CONFIG_DIR", folder.join("generated"))
        .env("RABBITMQ_PID_FILE", folder.join("rabbitmq.pid"))
        // Two schedulers that do not spin: a test server should leave the processor to others.
        .env("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", "+S 2:2 +sbwt none +sbwtdcpu none")
}

/// Whether one answers: AMQP's header, and the first frame's type, channel and method
/// (`connection.start`, 10.10) after a length that varies.
pub(crate) fn probe(port: u16) -> io::Result<()> {
    let mut stream = exchange::connect(port)?;
    exchange::expect(&mut stream, b"AMQP\0\0\x09\x01", b"\x01\0\0")?;
    let mut length = [0; 4];
    io::Read::read_exact(&mut stream, &mut length)?;
    exchange::expect(&mut stream, b"", b"\0\x0a\0\x0a")
}
