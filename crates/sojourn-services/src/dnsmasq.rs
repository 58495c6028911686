//! dnsmasq as a DNS server over UDP and TCP, which knows one zone and asks nobody else.

use std::fmt::Write as _;
use std::io;
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::time::Duration;

use crate::instance::{Instance, Launch};
use crate::place::{folder, free_port};
use crate::programs::find_program;
use crate::service::with_free_ports;
use crate::{Access, Detached, Kind, Service};

/// The domain that it knows everything of: a name below it that has no record does not exist.
const DOMAIN: &str = "test";

/// What is asked to see whether it answers: a name of this machine alone, of no record.
const PROBED: &str = "probe.test";

/// The response code of a name that does not exist (RFC 1035, section 4.1.1).
const NO_SUCH_NAME: u8 = 3;

/// What a server knows: names below `test`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DnsZone {
    /// A name and one of its addresses, of either family; as many of a name as one likes.
    pub addresses: Vec<(String, IpAddr)>,
    /// A name that is another's alias (CNAME).
    pub aliases: Vec<(String, String)>,
}

/// A DNS server. Without extensions (EDNS) it sends 512 bytes over UDP at most and says so where an
/// answer is longer; over TCP it sends all of it. Its log has a line for each question.
#[derive(Debug)]
pub struct Dnsmasq {
    instance: Instance,
    port: u16,
}

impl Dnsmasq {
    /// Starts one that knows `local.test`, at 127.0.0.1 and ::1, and its alias `alias.test`.
    ///
    /// # Errors
    /// It is not installed, or does not start; the text shows the end of its log.
    pub fn start() -> io::Result<Self> {
        let name = "local.test".to_owned();
        Self::knowing(&DnsZone {
            addresses: vec![
                (name.clone(), IpAddr::from(Ipv4Addr::LOCALHOST)),
                (name.clone(), IpAddr::from(std::net::Ipv6Addr::LOCALHOST)),
            ],
            aliases: vec![("alias.test".to_owned(), name)],
        })
    }

    /// Starts one that knows this zone.
    ///
    /// # Errors
    /// It is not installed, or does not start; the text shows the end of its log.
    pub fn knowing(zone: &DnsZone) -> io::Result<Self> {
        with_free_ports(|| Self::start_once(zone))
    }

    fn start_once(zone: &DnsZone) -> io::Result<Self> {
        let program = find_program("dnsmasq")?;
        let folder = folder("dnsmasq")?;
        let port = free_port()?;
        let hosts = folder.path().join("hosts");
        let lines: String =
            zone.addresses.iter().map(|(name, address)| format!("{address} {name}\n")).collect();
        std::fs::write(&hosts, lines)?;
        // Started by root it would change to a user who may not read this folder.
        let mut config = format!(
            "port={port}\nlisten-address=127.0.0.1\nbind-interfaces\nno-resolv\nno-hosts\n\
             addn-hosts={}\nlocal=/{DOMAIN}/\nuser=root\npid-file=\nlog-queries\n\
             log-facility=-\n",
            hosts.display()
        );
        for (alias, name) in &zone.aliases {
            writeln!(config, "cname={alias},{name}").map_err(io::Error::other)?;
        }
        let file = folder.path().join("dnsmasq.conf");
        std::fs::write(&file, config)?;
        let launch = Launch::new(program)
            .arg("--keep-in-foreground")
            .arg(format!("--conf-file={}", file.display()));
        let instance = Instance::start("dnsmasq", folder, launch, move || probe(port))?;
        Ok(Self { instance, port })
    }

    /// `127.0.0.1:PORT`, as a resolver is named.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// How often it was asked for this name so far, in either family, over UDP or TCP.
    ///
    /// # Errors
    /// Its log can't be read.
    pub fn asked_for(&self, name: &str) -> io::Result<usize> {
        let log = std::fs::read_to_string(self.instance.log())?;
        let asks = |line: &&str| {
            let mut words = line.split_whitespace().skip_while(|word| !word.starts_with("query["));
            words.nth(1) == Some(name)
        };
        Ok(log.lines().filter(asks).count())
    }
}

impl Service for Dnsmasq {
    fn kind(&self) -> Kind {
        Kind::Dnsmasq
    }

    fn port(&self) -> u16 {
        self.port
    }

    fn accesses(&self) -> Vec<Access> {
        vec![Access { name: "open", url: format!("dns://{}", self.address()) }]
    }

    fn ca_file(&self) -> Option<std::path::PathBuf> {
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

/// Whether one answers: it must say of a name without a record that there is none.
pub(crate) fn probe(port: u16) -> io::Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket.connect((Ipv4Addr::LOCALHOST, port))?;
    socket.set_read_timeout(Some(Duration::from_secs(5)))?;
    // Number 7, recursion desired, one question (RFC 1035, section 4.1): its A records.
    let mut question = vec![0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in PROBED.split('.') {
        question.push(u8::try_from(label.len()).unwrap_or(u8::MAX));
        question.extend(label.as_bytes());
    }
    question.extend([0, 0, 1, 0, 1]);
    socket.send(&question)?;
    let mut answer = [0; 512];
    let length = socket.recv(&mut answer)?;
    match answer.get(..length) {
        Some([0, 7, _, flags, ..]) if flags & 0x0f == NO_SUCH_NAME => Ok(()),
        _ => Err(io::Error::other("what answers is not this DNS server")),
    }
}
