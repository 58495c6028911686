//! InfluxDB of version 1, with passwords.

use std::io;
use std::path::PathBuf;

use crate::exchange;
use crate::instance::{Instance, Launch};
use crate::place::{folder, free_port};
use crate::programs::find_program;
use crate::service::with_free_ports;
use crate::{Access, Detached, Kind, PASSWORD, Service, USER};

/// An InfluxDB that lets [`USER`] in with [`PASSWORD`], and nobody else.
#[derive(Debug)]
pub struct InfluxDb {
    instance: Instance,
    port: u16,
}

impl InfluxDb {
    /// Starts one without a database.
    ///
    /// # Errors
    /// It is not installed, or does not start; the text shows the end of its log.
    pub fn start() -> io::Result<Self> {
        with_free_ports(Self::start_once)
    }

    fn start_once() -> io::Result<Self> {
        let program = find_program("influxd")?;
        let folder = folder("influxdb")?;
        let (port, backup) = (free_port()?, free_port()?);
        let root = folder.path().display();
        let config = format!(
            "reporting-disabled = true\nbind-address = \"127.0.0.1:{backup}\"\n\
             [meta]\n  dir = \"{root}/meta\"\n\
             [data]\n  dir = \"{root}/data\"\n  wal-dir = \"{root}/wal\"\n\
             [monitor]\n  store-enabled = false\n\
             [http]\n  bind-address = \"127.0.0.1:{port}\"\n  auth-enabled = true\n"
        );
        let file = folder.path().join("influxdb.conf");
        std::fs::write(&file, config)?;
        let launch = Launch::new(program).arg("run").arg("-config").arg(file);
        let instance = Instance::start("influxdb", folder, launch, move || probe(port))?;
        let server = Self { instance, port };
        // The first user is made without a password.
        let user = format!("CREATE USER {USER} WITH PASSWORD '{PASSWORD}' WITH ALL PRIVILEGES");
        server.ask("POST", "", &user)?;
        Ok(server)
    }

    /// `http://USER:PASSWORD@127.0.0.1:PORT`.
    pub fn url_with_password(&self) -> String {
        format!("http://{USER}:{PASSWORD}@127.0.0.1:{}", self.port)
    }

    /// Its answer, in JSON, to a query of a database.
    ///
    /// # Errors
    /// It does not answer.
    pub fn query(&self, database: &str, query: &str) -> io::Result<String> {
        let user = format!("&u={USER}&p={PASSWORD}&db={}", exchange::encoded(database));
        self.ask("GET", &user, query)
    }

    fn ask(&self, method: &str, parameters: &str, query: &str) -> io::Result<String> {
        let request = format!("{method} /query?q={}{parameters}", exchange::encoded(query));
        exchange::http_body(self.port, &request, "")
    }
}

impl Service for InfluxDb {
    fn kind(&self) -> Kind {
        Kind::InfluxDb
    }

    fn port(&self) -> u16 {
        self.port
    }

    fn accesses(&self) -> Vec<Access> {
        vec![Access { name: "password", url: self.url_with_password() }]
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

/// Whether one answers.
pub(crate) fn probe(port: u16) -> io::Result<()> {
    match exchange::http_status(port, "GET /ping", "")? {
        204 => Ok(()),
        status => Err(io::Error::other(format!("it answers {status} to a ping"))),
    }
}
