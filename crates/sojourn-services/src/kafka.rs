//! Kafka, one node that is broker and controller.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::MutexGuard;

use crate::certificates::{Certificates, ClientFiles};
use crate::exchange;
use crate::instance::{Instance, Launch};
use crate::jars::KAFKA;
use crate::place::{folder, free_port};
use crate::programs::find_program;
use crate::service::with_free_ports;
use crate::shared::Shared;
use crate::{Access, CutProxy, Detached, Kind, PASSWORD, Service, USER};

/// 16 bytes in Base64, as Kafka names clusters and folders.
const CLUSTER: &str = "c29qb3Vybi1jbHVzdGVyMQ";
const DIRECTORY: &str = "c29qb3Vybi1mb2xkZXIxMQ";

/// A Kafka with listeners for plain text, TLS, passwords (SASL/PLAIN, and SCRAM
/// once a user is added), both, TLS with a client's certificate, and tokens (SASL/OAUTHBEARER, of
/// those without a signature). Topics come into
/// being when first used, with one partition.
#[derive(Debug)]
pub struct Kafka {
    instance: Instance,
    ports: Ports,
    ca: PathBuf,
    client: ClientFiles,
}

#[derive(Debug, Clone, Copy)]
struct Ports {
    plain: u16,
    tls: u16,
    password: u16,
    tls_and_password: u16,
    client_certificate: u16,
    token: u16,
    /// Behind a proxy: where it listens, and where it tells clients to connect.
    proxied: u16,
    proxy: u16,
    controller: u16,
}

impl Kafka {
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
        static SHARED: Shared<Kafka> = Shared::new();
        SHARED.lock(Self::start)
    }

    fn start_once() -> io::Result<Self> {
        let java = find_program("java")?;
        let class_path = KAFKA.class_path()?;
        let folder = folder("kafka")?;
        let ports = Ports {
            plain: free_port()?,
            tls: free_port()?,
            password: free_port()?,
            tls_and_password: free_port()?,
            client_certificate: free_port()?,
            token: free_port()?,
            proxied: free_port()?,
            proxy: free_port()?,
            controller: free_port()?,
        };
        let files = Certificates::make(folder.path())?;
        let client = Certificates::client(folder.path())?;
        configure(folder.path(), ports, &files)?;
        let launch = Launch::new(java)
            .arg("-Xmx512m")
            .arg("-Xms128m")
            .arg("-XX:+UseSerialGC")
            // It starts sooner when the second compiler stays out.
            .arg("-XX:TieredStopAtLevel=1")
            .arg("-Djava.awt.headless=true")
            .arg("-cp")
            .arg(class_path)
            .arg("kafka.Kafka")
            .arg(folder.path().join("server.properties"));
        let instance = Instance::start("kafka", folder, launch, move || probe(ports.plain))?;
        Ok(Self { instance, ports, ca: files.ca, client })
    }

    /// `127.0.0.1:PORT` of the plain listener.
    pub fn bootstrap(&self) -> String {
        format!("127.0.0.1:{}", self.ports.plain)
    }

    /// A proxy before a listener of its own, whose clients the server sends back through the proxy.
    /// One at a time: its port is fixed.
    ///
    /// # Errors
    /// The port is taken, as by another proxy of this server.
    pub fn proxy(&self) -> io::Result<CutProxy> {
        let on = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        CutProxy::start_at(on(self.ports.proxy), on(self.ports.proxied))
    }

    /// Makes [`USER`] with [`PASSWORD`] known to SASL/SCRAM-SHA-256 too, which takes seconds.
    ///
    /// # Errors
    /// Kafka's own command fails; the text shows what it says.
    pub fn add_scram_user(&self) -> io::Result<()> {
        let output = Command::new(find_program("java")?)
            .args(["-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", &KAFKA.class_path()?])
            .args(["kafka.admin.ConfigCommand", "--bootstrap-server", &self.bootstrap()])
            .args(["--alter", "--entity-type", "users", "--entity-name", USER, "--add-config"])
            .arg(format!("SCRAM-SHA-256=[password={PASSWORD}]"))
            .output()?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        Err(io::Error::other(format!("no user for SCRAM: {said}")))
    }

    /// `localhost:PORT` for `security.protocol=ssl`.
    pub fn bootstrap_tls(&self) -> String {
        format!("localhost:{}", self.ports.tls)
    }

    /// `127.0.0.1:PORT` for `security.protocol=sasl_plaintext`, mechanism PLAIN.
    pub fn bootstrap_with_password(&self) -> String {
        format!("127.0.0.1:{}", self.ports.password)
    }

    /// `localhost:PORT` for `security.protocol=sasl_ssl`, mechanism PLAIN.
    pub fn bootstrap_tls_and_password(&self) -> String {
        format!("localhost:{}", self.ports.tls_and_password)
    }

    /// `localhost:PORT` for `security.protocol=ssl` with a certificate of the client's own.
    pub fn bootstrap_with_certificate(&self) -> String {
        format!("localhost:{}", self.ports.client_certificate)
    }

    /// Such a certificate.
    pub fn client_files(&self) -> &ClientFiles {
        &self.client
    }

    /// `127.0.0.1:PORT` for `security.protocol=sasl_plaintext`, mechanism OAUTHBEARER. A token is
    /// a JWT without a signature, with `sub` and `exp`.
    pub fn bootstrap_with_token(&self) -> String {
        format!("127.0.0.1:{}", self.ports.token)
    }
}

impl Service for Kafka {
    fn kind(&self) -> Kind {
        Kind::Kafka
    }

    fn port(&self) -> u16 {
        self.ports.plain
    }

    fn accesses(&self) -> Vec<Access> {
        let user = format!("{USER}:{PASSWORD}@");
        vec![
            Access { name: "open", url: self.bootstrap() },
            Access { name: "tls", url: self.bootstrap_tls() },
            Access { name: "password", url: user.clone() + &self.bootstrap_with_password() },
            Access { name: "tls and password", url: user + &self.bootstrap_tls_and_password() },
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

fn configure(folder: &Path, ports: Ports, files: &Certificates) -> io::Result<()> {
    let data = folder.join("data");
    std::fs::create_dir(&data)?;
    // What `kafka-storage format` writes; it would start a second Java for it.
    std::fs::write(
        data.join("meta.properties"),
        format!("version=1\ncluster.id={CLUSTER}\nnode.id=1\ndirectory.id={DIRECTORY}\n"),
    )?;
    // Kafka reads key and certificate from one file.
    let both = std::fs::read_to_string(&files.key)? + &std::fs::read_to_string(&files.server)?;
    let keystore = folder.join("keystore.pem");
    std::fs::write(&keystore, both)?;
    let listeners = [
        ("PLAINTEXT", "127.0.0.1", ports.plain),
        ("SSL", "localhost", ports.tls),
        ("SASL_PLAINTEXT", "127.0.0.1", ports.password),
        ("SASL_SSL", "localhost", ports.tls_and_password),
        ("CERTIFICATE", "localhost", ports.client_certificate),
        ("TOKEN", "127.0.0.1", ports.token),
    ]
    .map(|(name, host, port)| format!("{name}://{host}:{port}"))
    .join(",");
    let Ports { controller, proxied, proxy, .. } = ports;
    let mut config = format!(
        "process.roles=broker,controller\nnode.id=1\nlog.dirs={}\n\
         controller.quorum.voters=1@127.0.0.1:{controller}\n\
         controller.listener.names=CONTROLLER\n\
         listeners={listeners},PROXIED://127.0.0.1:{proxied},\
         CONTROLLER://127.0.0.1:{controller}\n\
         advertised.listeners={listeners},PROXIED://127.0.0.1:{proxy}\n\
         inter.broker.listener.name=PLAINTEXT\n\
         listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SSL:SSL,PROXIED:PLAINTEXT,\
         SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT,\
         CERTIFICATE:SSL,TOKEN:SASL_PLAINTEXT\n\
         ssl.keystore.type=PEM\nssl.keystore.location={}\n\
         listener.name.certificate.ssl.client.auth=required\n\
         listener.name.certificate.ssl.truststore.type=PEM\n\
         listener.name.certificate.ssl.truststore.location={}\n\
         listener.name.token.sasl.enabled.mechanisms=OAUTHBEARER\n\
         listener.name.token.oauthbearer.sasl.jaas.config=\
         org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required \
         unsecuredLoginStringClaim_sub=\"broker\";\n\
         sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256\n",
        data.display(),
        keystore.display(),
        files.ca.display(),
    );
    for listener in ["sasl_plaintext", "sasl_ssl"] {
        writeln!(
            config,
            "listener.name.{listener}.plain.sasl.jaas.config=\
             org.apache.kafka.common.security.plain.PlainLoginModule required \
             user_{USER}=\"{PASSWORD}\";\n\
             listener.name.{listener}.scram-sha-256.sasl.jaas.config=\
             org.apache.kafka.common.security.scram.ScramLoginModule required;"
        )
        .map_err(io::Error::other)?;
    }
    // A killed broker may not come back before its controller has given up the one before.
    config.push_str(
        "broker.session.timeout.ms=3000\nbroker.heartbeat.interval.ms=500\n\
         num.partitions=1\noffsets.topic.num.partitions=1\noffsets.topic.replication.factor=1\n\
         transaction.state.log.num.partitions=1\ntransaction.state.log.replication.factor=1\n\
         transaction.state.log.min.isr=1\nshare.coordinator.state.topic.replication.factor=1\n\
         share.coordinator.state.topic.min.isr=1\ngroup.initial.rebalance.delay.ms=0\n\
         auto.create.topics.enable=true\nlog.segment.bytes=16777216\n\
         log.cleaner.dedupe.buffer.size=16777216\ncontrolled.shutdown.enable=false\n",
    );
    std::fs::write(folder.join("server.properties"), config)
}

/// Whether one answers and knows itself for a broker, as it may not at once: a request for what
/// there is (`Metadata`, key 3, version 1, no topics), and an answer to it (correlation 7) that
/// begins with one broker, number 1.
pub(crate) fn probe(port: u16) -> io::Result<()> {
    let mut stream = exchange::connect(port)?;
    stream.write_all(b"\0\0\0\x0e\0\x03\0\x01\0\0\0\x07\xff\xff\0\0\0\0")?;
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    exchange::expect(&mut stream, b"", b"\0\0\0\x07\0\0\0\x01\0\0\0\x01")
}
