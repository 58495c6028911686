//! ElasticMQ, which speaks SQS.

use std::io;
use std::path::PathBuf;
use std::sync::MutexGuard;

use crate::exchange;
use crate::instance::{Instance, Launch};
use crate::jars::ELASTICMQ;
use crate::place::{folder, free_port};
use crate::programs::find_program;
use crate::service::with_free_ports;
use crate::shared::Shared;
use crate::{Access, Detached, Kind, Service};

/// Settings of a database in its folder, which writes before a change is acknowledged.
const KEEPING: &str = "\
    messages-storage { enabled = true, driver-class = \"org.h2.Driver\", username = \"\", \
    password = \"\", uri = \"jdbc:h2:./kept;WRITE_DELAY=0\" }\n";

/// An ElasticMQ. It takes any credentials, and keeps its queues in memory, so that a restart loses
/// them, unless it is started to keep them.
#[derive(Debug)]
pub struct ElasticMq {
    instance: Instance,
    port: u16,
}

impl ElasticMq {
    /// Starts one, which takes seconds.
    ///
    /// # Errors
    /// It is not installed, or does not start; the text shows the end of its log.
    pub fn start() -> io::Result<Self> {
        with_free_ports(|| Self::start_once(""))
    }

    /// Starts one that keeps queues and messages in files, and has written what it acknowledges.
    ///
    /// # Errors
    /// As [`ElasticMq::start`].
    pub fn start_keeping() -> io::Result<Self> {
        with_free_ports(|| Self::start_once(KEEPING))
    }

    /// The one that all tests of this process use together, started when first asked for. Whoever
    /// stops it must start it again before letting go.
    ///
    /// # Errors
    /// It did not start.
    pub fn shared() -> io::Result<MutexGuard<'static, Self>> {
        static SHARED: Shared<ElasticMq> = Shared::new();
        SHARED.lock(Self::start)
    }

    fn start_once(storage: &str) -> io::Result<Self> {
        let java = find_program("java")?;
        let class_path = ELASTICMQ.class_path()?;
        let folder = folder("elasticmq")?;
        let port = free_port()?;
        let config = format!(
            "node-address {{ protocol = http, host = localhost, port = {port}, \
             context-path = \"\" }}\n\
             rest-sqs {{ enabled = true, bind-hostname = \"127.0.0.1\", bind-port = {port}, \
             sqs-limits = strict }}\n\
             rest-stats.enabled = false\ngenerate-node-address = false\nqueues {{}}\n\
             aws {{ region = us-east-1, accountId = 000000000000 }}\n{storage}"
        );
        let file = folder.path().join("elasticmq.conf");
        std::fs::write(&file, config)?;
        let launch = Launch::new(java)
            .arg("-Xmx256m")
            .arg("-XX:+UseSerialGC")
            // It starts sooner when the second compiler stays out.
            .arg("-XX:TieredStopAtLevel=1")
            .arg(format!("-Dconfig.file={}", file.display()))
            .arg("-cp")
            .arg(class_path)
            .arg("org.elasticmq.server.Main");
        let instance = Instance::start("elasticmq", folder, launch, move || probe(port))?;
        Ok(Self { instance, port })
    }

    /// `http://127.0.0.1:PORT`, the endpoint for SQS clients, in region `us-east-1`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Service for ElasticMq {
    fn kind(&self) -> Kind {
        Kind::ElasticMq
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

/// Whether one answers: it lists its queues.
pub(crate) fn probe(port: u16) -> io::Result<()> {
    match exchange::http_status(port, "GET /?Action=ListQueues&Version=2012-11-05", "")? {
        200 => Ok(()),
        status => Err(io::Error::other(format!("the server answers {status}"))),
    }
}
