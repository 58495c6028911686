//! The flags of a run whose generators dial in, and the wait for them.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_engine::{EXIT_INTERRUPTED, Fleet, FleetTerms, OnLoss, Parcel, Processes, Stop};
use sojourn_fleet::{JoinKey, Listen, Listening, MemberState, Standing};

use crate::{
    errors::UsageError,
    kubernetes_flags::Terms,
    process_flags::{ProcessFlags, words},
};

/// How often it is looked who has come.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How long each is told that there is no run.
const GOODBYE: Duration = Duration::from_secs(2);

/// Where generators dial in, and what becomes of the run without one.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FleetFlags {
    /// Where generators dial in: <0.0.0.0:7000> is port 7000 of all this machine's addresses
    #[arg(long, value_name = "ADDRESS:PORT", group = "elsewhere")]
    listen: SocketAddr,
    /// File with the key that generators must show; made (mode 0600) if it does not exist
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    #[command(flatten)]
    terms: TermsFlags,
}

/// The same of a command whose generators are here unless it is told to listen.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ListenFlags {
    /// Generators dial in here, by `sojourn generator --join`, instead of being started on this
    /// machine: <0.0.0.0:7000> is port 7000 of all its addresses
    #[arg(long, value_name = "ADDRESS:PORT", requires = "generators", group = "elsewhere")]
    #[arg(requires = "key_file")]
    listen: Option<SocketAddr>,
    /// File with the key that generators must show; where this process listens it is made (mode
    /// 0600) if it does not exist
    #[arg(long, value_name = "FILE", requires = "elsewhere")]
    key_file: Option<PathBuf>,
    #[command(flatten)]
    terms: TermsFlags,
}

/// What a run asks of its generators.
#[derive(Clone, Debug, clap::Args)]
struct TermsFlags {
    /// How long all generators may take to come, and each to make its plan
    #[arg(long, value_name = "D", default_value = "120s", requires = "elsewhere")]
    #[arg(value_parser = sojourn_plan::duration_ns)]
    ready_timeout: u64,
    /// What becomes of the run when a generator is lost
    #[arg(long, value_enum, default_value_t = OnLossFlag::Void, value_name = "WHAT")]
    #[arg(requires = "elsewhere")]
    on_loss: OnLossFlag,
    /// How long a generator may be without a connection before it is lost
    #[arg(long, value_name = "D", default_value = "30s", requires = "elsewhere")]
    #[arg(value_parser = reconnect_within)]
    reconnect_within: u64,
}

/// Reads how long a generator may be without a connection, nanoseconds.
pub(crate) fn reconnect_within(text: &str) -> Result<u64, String> {
    match sojourn_plan::duration_ns(text) {
        Ok(within_ns) if within_ns < SECOND_NS => {
            Err("a connection that is cut takes a while to be made again: 1s at least".to_owned())
        }
        read => read,
    }
}

/// What becomes of a run that loses a generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum OnLossFlag {
    /// It goes on to its end and is void (exit code 3)
    Void,
    /// It goes on with what is left of the load, and may pass; the report says what is missing
    Continue,
    /// It ends at once and is void
    Abort,
}

/// A run's generators, which have come. Dropped, they are let go, and those that have lost their
/// connection cannot come back.
pub(crate) struct Gathered {
    pub(crate) processes: Processes,
    _listening: Listening,
}

impl Gathered {
    /// What a run made of them came to; where it could not begin since it was asked to end, that is
    /// said by the exit code.
    pub(crate) fn come_to(made: Result<u8, UsageError>, stop: &Stop) -> Result<u8, UsageError> {
        made.map_err(
            |error| if stop.graceful() { error.with_code(EXIT_INTERRUPTED) } else { error },
        )
    }
}

impl Drop for Gathered {
    fn drop(&mut self) {
        if let Some(fleet) = &self.processes.fleet {
            fleet.dismiss(GOODBYE);
        }
    }
}

impl ListenFlags {
    /// Where generators dial in; `None`: they are started here.
    pub(crate) fn fleet(&self) -> Option<FleetFlags> {
        let (listen, key_file) = (self.listen?, self.key_file.clone()?);
        Some(FleetFlags { listen, key_file, terms: self.terms.clone() })
    }

    /// The same of generators that are pods.
    pub(crate) fn terms(&self) -> Terms<'_> {
        Terms { key_file: self.key_file.as_deref(), ready_ns: self.terms.ready_timeout }
    }
}

impl FleetFlags {
    /// Listens, says how generators are started, and waits until all have come.
    pub(crate) fn gather(
        &self,
        spread: &ProcessFlags,
        parcel: Arc<Parcel>,
        stop: &Stop,
    ) -> Result<Gathered, UsageError> {
        let count = spread.count().ok_or_else(|| {
            UsageError::new(
                "a coordinator must know how many generators make up its run",
                "say how many dial in: --generators 4",
            )
        })?;
        let words = words()?;
        // Each generator takes some, long before the run begins.
        sojourn_engine::raise_descriptors();
        let (key, is_new) = JoinKey::read_or_make(&self.key_file)?;
        let listening = Listening::start(Listen {
            address: self.listen,
            generators: count,
            key,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            reconnect_within_ns: self.terms.reconnect_within,
        })?;
        self.invite(count, listening.address(), is_new);
        if let Err(error) = self.wait(&listening, count, stop) {
            dismiss(&listening, count);
            return Err(error);
        }
        let members = (0..count).filter_map(|number| listening.take(number)).collect();
        let fleet = Some(Fleet::new(members, self.terms()));
        let processes = Processes { count, words, parcel: Some(parcel), fleet };
        Ok(Gathered { processes, _listening: listening })
    }

    fn terms(&self) -> FleetTerms {
        FleetTerms {
            on_loss: match self.terms.on_loss {
                OnLossFlag::Void => OnLoss::Void,
                OnLossFlag::Continue => OnLoss::Continue,
                OnLossFlag::Abort => OnLoss::Abort,
            },
            reconnect_within_ns: self.terms.reconnect_within,
            ready_within_ns: self.terms.ready_timeout,
        }
    }

    /// Says how a generator is started.
    fn invite(&self, count: u32, address: SocketAddr, is_new: bool) {
        let key = self.key_file.display();
        let made = if is_new { "made" } else { "there already" };
        eprintln!("listening on {address}; key file {key} ({made})");
        eprintln!("start {count} generators, each with a copy of that file:");
        eprintln!("  {}", self.line(address));
    }

    /// The command line that starts a generator.
    fn line(&self, address: SocketAddr) -> String {
        let host = match address.ip() {
            ip if ip.is_unspecified() => {
                rustix::system::uname().nodename().to_string_lossy().into_owned()
            }
            std::net::IpAddr::V6(ip) => format!("[{ip}]"),
            std::net::IpAddr::V4(ip) => ip.to_string(),
        };
        let (port, key) = (address.port(), self.key_file.display());
        format!("sojourn generator --join {host}:{port} --key-file {key}")
    }

    fn wait(&self, listening: &Listening, count: u32, stop: &Stop) -> Result<(), UsageError> {
        let until_ns = now_ns().saturating_add(self.terms.ready_timeout);
        let (mut told, mut refusal) = (Vec::new(), None);
        loop {
            if let Some(why) = listening.take_refusal() {
                eprintln!("turned away: {why}");
                refusal = Some(why);
            }
            let ready = ready(listening);
            let numbers: Vec<_> = ready.iter().map(|member| member.number).collect();
            if numbers != told {
                let newest = ready.iter().rev().find(|member| !told.contains(&member.number));
                let newest = newest.map_or_else(String::new, |it| format!(" ({})", describe(it)));
                eprintln!("{} of {count} generators joined{newest}", ready.len());
                told = numbers;
            }
            if listening.is_ready() {
                return Ok(());
            }
            if stop.graceful() {
                let message =
                    format!("interrupted while {} of {count} generators had joined", told.len());
                return Err(UsageError::with(message, None).with_code(EXIT_INTERRUPTED));
            }
            if now_ns() >= until_ns {
                return Err(self.too_few(listening, count, refusal));
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn too_few(&self, listening: &Listening, count: u32, refusal: Option<String>) -> UsageError {
        let ready = ready(listening);
        let seconds = self.terms.ready_timeout as f64 / 1e9;
        let mut message = format!("{} of {count} generators came within {seconds} s", ready.len());
        let who: Vec<_> = ready.iter().map(describe).collect();
        if !who.is_empty() {
            message = format!("{message}: {}", who.join("; "));
        }
        if let Some(why) = refusal {
            message = format!("{message}; one was turned away: {why}");
        }
        let line = self.line(listening.address());
        UsageError::new(
            message,
            format!(
                "look at what the others say on standard error, whether they were started \
                 (`{line}`), whether that address can be reached from their machines, and whether \
                 their key file is a copy of this one; --ready-timeout waits longer"
            ),
        )
    }
}

/// Generators that have come, set their clocks, and are there.
fn ready(listening: &Listening) -> Vec<MemberState> {
    let is_ready = |it: &MemberState| it.clock.is_some() && it.standing == Standing::Connected;
    listening.members().into_iter().filter(is_ready).collect()
}

fn describe(member: &MemberState) -> String {
    let address = member.address.map_or_else(String::new, |address| format!(" at {address}"));
    let clock = member.clock.map_or(0.0, |clock| clock.uncertainty_ns as f64 / 1e6);
    format!("{}: {}{address}, clock within {clock:.3} ms", member.number, member.host)
}

/// Lets those go that have come.
fn dismiss(listening: &Listening, count: u32) {
    let come = (0..count).filter_map(|number| listening.take(number));
    // The streams end first, all at once.
    let ends: Vec<_> = come.map(|(_stream, end)| end).collect();
    for end in ends {
        let _state = end.wait_for(GOODBYE);
    }
}
