//! Moto, which speaks SNS and SQS.

use std::io;
use std::path::PathBuf;
use std::sync::MutexGuard;

use crate::exchange;
use crate::instance::{Instance, Launch};
use crate::place::{folder, free_port};
use crate::service::with_free_ports;
use crate::shared::Shared;
use crate::wheels::MOTO;
use crate::{Access, Detached, Kind, Service};

/// A server of Moto, which answers as AWS does. A request's signature says which service it is for,
/// so each must have one; until it is told to check them (`/moto-api/reset-auth`) it takes any. It
/// keeps all in memory: a restart loses it.
#[derive(Debug)]
pub struct Moto {
    instance: Instance,
    port: u16,
}

impl Moto {
    /// The account that everything belongs to.
    pub const ACCOUNT: &str = "123456789012";

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
        static SHARED: Shared<Moto> = Shared::new();
        SHARED.lock(Self::start)
    }

    fn start_once() -> io::Result<Self> {
        let python = MOTO.python()?;
        let folder = folder("moto")?;
        let port = free_port()?;
        // Apart from what else this user's Python has.
        let mut launch = Launch::new(python);
        for argument in ["-I", "-m", "moto.server", "--host", "127.0.0.1", "--port"] {
            launch = launch.arg(argument);
        }
        let launch = launch.arg(port.to_string());
        let instance = Instance::start("moto", folder, launch, move || probe(port))?;
        Ok(Self { instance, port })
    }

    /// `http://127.0.0.1:PORT`, the endpoint for clients of SNS and SQS, in any region.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Service for Moto {
    fn kind(&self) -> Kind {
        Kind::Moto
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

/// Whether one answers: it lists its topics.
pub(crate) fn probe(port: u16) -> io::Result<()> {
    let headers = "Authorization: AWS4-HMAC-SHA256 \
                   Credential=probe/20260101/us-east-1/sns/aws4_request, SignedHeaders=host, \
                   Signature=0\r\n";
    match exchange::http_status(port, "GET /?Action=ListTopics&Version=2010-03-31", headers)? {
        200 => Ok(()),
        status => Err(io::Error::other(format!("the server answers {status}"))),
    }
}
