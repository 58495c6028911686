//! Whether this machine can make an attack's connections: asked before any is made.

use std::{collections::BTreeSet, net::ToSocketAddrs};

use sojourn_http::{
    ClientConfig, ConnectionCapacity, ConnectionLimits, Http2, Origin, PlannedConnections,
    ProxyKind, Shortage,
};
use sojourn_plan::{Load, Model, Plan};

use super::{Attack, Targets};
use crate::{RunError, machine::Machine, peak::peak_per_s};

/// Descriptors that a run has besides its connections: files, event loops, wake-ups, the library's.
const DESCRIPTORS_RESERVED: u64 = 64;
/// What a connection costs this machine, bytes: ours, and the kernel's at both ends should the
/// target be here too.
const CONNECTION_BYTES: u64 = 2 * 1024 + 2 * 3 * 1024;
/// Answers may well take as long: if connections do not suffice for it, that is worth saying. Where
/// they suffice, a target that is slower still shows as a limit met, in the run's own account.
const ANSWER_S: f64 = 1.0;

/// Warnings; or a refusal, when workers that the attack cannot do without have no connection to be
/// had.
pub(crate) fn check(
    plan: &Plan,
    attack: &Attack,
    client: &ClientConfig,
    (processes, threads): (u32, u32),
    machine: &Machine,
) -> Result<Vec<String>, RunError> {
    let Some(load) = plan.load.first() else {
        return Ok(Vec::new());
    };
    let (requests, threads) = (most(load, attack), processes.saturating_mul(threads));
    let limits = ConnectionLimits { processes: processes.into(), ..limits(client, machine) };
    let capacity = |view| {
        let planned = planned(attack, client, requests, threads, view);
        ConnectionCapacity::of(&planned, &limits)
    };
    let (certain, worst) = (capacity(View::Fewest), capacity(View::Most));
    let mut warnings = Vec::new();
    if matches!(load.model, Model::Closed { .. }) {
        if !certain.shortages.is_empty() {
            return Err(refusal(&certain));
        }
        let unless = match attack.targets {
            Targets::Stream(_) => "several targets, or HTTP/2, need fewer",
            Targets::Listed(_) | Targets::Scripted(_) => "HTTP/2, if it is agreed to, needs fewer",
        };
        warnings.extend(worst.shortages.first().map(|shortage| format!("{shortage}; {unless}")));
    } else if attack.workers_max < u32::MAX || client.connections_max > 0 {
        warnings.extend(worst.shortages.first().map(Shortage::to_string));
    } else {
        warnings.extend(answers_too_slow(load, requests, &worst));
    }
    let connections = worst.planned.min(worst.possible);
    let need_bytes = connections * CONNECTION_BYTES;
    warnings.extend(machine.memory_available_bytes.filter(|have| need_bytes > *have).map(|have| {
        format!(
            "{connections} connections may need {} MB, and {} MB are available",
            need_bytes >> 20,
            have >> 20
        )
    }));
    Ok(warnings)
}

fn refusal(capacity: &ConnectionCapacity) -> RunError {
    let all: Vec<String> = capacity.shortages.iter().map(Shortage::to_string).collect();
    RunError::new(
        format!("not enough room for the workers: {}", all.join("; ")),
        "or ask for fewer -max-workers",
    )
}

/// Most requests that the attack may have under way at once.
fn most(load: &Load, attack: &Attack) -> u64 {
    let by_rate = match &load.model {
        Model::Open { profile, .. } => (peak_per_s(profile) * ANSWER_S).ceil() as u64,
        Model::Closed { .. } => u64::MAX,
    };
    by_rate.min(attack.workers_max.into())
}

/// What servers will agree to, and where a stream of targets leads, shows only later: how many
/// connections there are at least, and at most.
#[derive(Clone, Copy)]
enum View {
    Fewest,
    Most,
}

fn planned(
    attack: &Attack,
    client: &ClientConfig,
    requests: u64,
    threads: u32,
    view: View,
) -> Vec<PlannedConnections> {
    let targets: &[sojourn_plan::Target] = match &attack.targets {
        Targets::Listed(targets) => targets,
        Targets::Scripted(scripted) => std::slice::from_ref(&scripted.target),
        Targets::Stream(_) => {
            let per_connection = match (client.http2, view) {
                (Http2::PriorKnowledge, _) | (Http2::Alpn, View::Fewest) => streams_max(client),
                _ => 1,
            };
            // Several origins would have ports each.
            let has_ports = matches!(view, View::Most) && client.unix_socket.is_none();
            return vec![PlannedConnections {
                origin: "a target".to_owned(),
                connections: connections(requests, threads, per_connection, client),
                addresses: has_ports.then_some(1),
            }];
        }
    };
    let origins: BTreeSet<(bool, &str, u16)> =
        targets.iter().map(|target| (target.tls, target.host.as_str(), target.port)).collect();
    let share = requests.div_ceil(origins.len().max(1) as u64);
    origins
        .into_iter()
        .map(|(tls, host, port)| {
            let origin = Origin { tls, host: host.to_owned(), port };
            let per_connection = per_connection(client, &origin, view);
            PlannedConnections {
                origin: format!("{host}:{port}"),
                connections: connections(share, threads, per_connection, client),
                addresses: client.unix_socket.is_none().then(|| addresses(host, port)),
            }
        })
        .collect()
}

/// How many requests share a connection to an origin.
fn per_connection(client: &ClientConfig, origin: &Origin, view: View) -> u64 {
    let is_sent_on = client.unix_socket.is_none()
        && !origin.tls
        && client.proxies.of(origin).is_some_and(|proxy| proxy.kind == ProxyKind::Http);
    match (client.http2, view) {
        (Http2::PriorKnowledge, _) if !is_sent_on => streams_max(client),
        (Http2::Alpn, View::Fewest) if origin.tls => streams_max(client),
        _ => 1,
    }
}

fn streams_max(client: &ClientConfig) -> u64 {
    if client.keep_alive { client.http2_streams_max.max(1).into() } else { 1 }
}

/// Connections for so many requests at once, which the threads have equal parts of.
fn connections(requests: u64, threads: u32, per_connection: u64, client: &ClientConfig) -> u64 {
    let threads = u64::from(threads.max(1));
    let needed = requests.div_ceil(threads * per_connection).saturating_mul(threads).min(requests);
    match client.connections_max as u64 {
        0 => needed,
        most => needed.min(most.max(threads)),
    }
}

/// How many addresses a name has; one that cannot be resolved now fails later, and is counted then.
fn addresses(host: &str, port: u16) -> u64 {
    let found = (host, port).to_socket_addrs().map(|found| found.collect::<BTreeSet<_>>().len());
    found.map_or(1, |count| count.max(1) as u64)
}

/// What bounds a client's connections on this machine.
pub(crate) fn limits(client: &ClientConfig, machine: &Machine) -> ConnectionLimits {
    ConnectionLimits {
        local_addresses: client.local_addresses.len().max(1) as u64,
        descriptors: machine.descriptors,
        descriptors_reserved: DESCRIPTORS_RESERVED,
        ports: machine.ports.clone(),
        processes: 1,
    }
}

/// At this rate, answers that take longer than so find no connection.
fn answers_too_slow(load: &Load, requests: u64, capacity: &ConnectionCapacity) -> Option<String> {
    let (Model::Open { profile, .. }, Some(Shortage { limit, remedy, .. })) =
        (&load.model, capacity.shortages.first())
    else {
        return None;
    };
    let rate_per_s = peak_per_s(profile);
    let per_connection = requests as f64 / capacity.planned as f64;
    let longest_s = capacity.possible as f64 * per_connection / rate_per_s;
    Some(format!(
        "at {rate_per_s:.0}/s, connections run out when answers take longer than {longest_s:.2} s: \
         {limit}; {remedy}"
    ))
}

#[cfg(test)]
mod tests {
    use sojourn_plan::{AttackLoad, Pace, Target, TargetDefaults, TargetFormat, TargetReader};

    use super::*;

    fn machine() -> Machine {
        Machine {
            descriptors: 20_000,
            ports: 32_768..=60_999,
            memory_available_bytes: Some(8 << 30),
        }
    }

    fn target(scheme: &str) -> Target {
        let files = Box::new(|_: &str| Ok(Vec::new()));
        let text = format!("GET {scheme}://127.0.0.1:1/");
        let defaults = TargetDefaults::default();
        TargetReader::new("t", text.as_bytes(), TargetFormat::Http, defaults, files)
            .next()
            .unwrap()
            .unwrap()
    }

    /// What an attack is asked about.
    #[derive(Clone, Copy)]
    struct Asked<'a> {
        processes: u32,
        threads: u32,
        rate: &'a str,
        workers_max: u32,
        /// `http`, `https`; empty: a stream of targets.
        scheme: &'a str,
        connections_max: usize,
        http2: Http2,
    }

    const ASKED: Asked<'static> = Asked {
        processes: 1,
        threads: 1,
        rate: "0",
        workers_max: u32::MAX,
        scheme: "http",
        connections_max: 0,
        http2: Http2::Alpn,
    };

    fn checked(
        rate: &str,
        workers_max: u32,
        connections_max: usize,
        machine: &Machine,
    ) -> Result<Vec<String>, RunError> {
        Asked { rate, workers_max, connections_max, ..ASKED }.check(machine)
    }

    impl Asked<'_> {
        fn check(self, machine: &Machine) -> Result<Vec<String>, RunError> {
            let Self { workers_max, connections_max, http2, .. } = self;
            let load = AttackLoad {
                pace: Pace::rate(self.rate).unwrap(),
                poisson: false,
                duration_ns: Some(1_000_000_000),
                workers_max,
                timeout_ns: 30_000_000_000,
            };
            let targets = match self.scheme {
                "" => Vec::new(),
                scheme => vec![target(scheme)],
            };
            let plan =
                sojourn_plan::attack_plan("", String::new(), &targets, &load, Vec::new()).unwrap();
            let attack = Attack {
                name: String::new(),
                targets: match targets.is_empty() {
                    true => Targets::Stream(crossbeam_channel::never()),
                    false => Targets::Listed(targets.into()),
                },
                workers_max,
                redirects_max: None,
                allowed_hosts: Vec::new(),
                body_max: None,
                chunked: false,
                results: None,
                patient: false,
            };
            let client = ClientConfig { connections_max, http2, ..ClientConfig::default() };
            check(&plan, &attack, &client, (self.processes, self.threads), machine)
        }
    }

    #[test]
    fn what_fits_is_said_nothing_of() {
        assert_eq!(checked("0", 19_000, 0, &machine()).unwrap(), Vec::<String>::new());
        assert_eq!(checked("3000", u32::MAX, 0, &machine()).unwrap(), Vec::<String>::new());
        assert_eq!(checked("100000", 100, 0, &machine()).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn workers_without_connections_are_refused_with_numbers() {
        let error = checked("0", 25_000, 0, &machine()).unwrap_err();
        assert!(error.message.contains("25000") && error.message.contains("19936"), "{error}");
        let many = Machine { descriptors: 1_000_000, ..machine() };
        let error = checked("0", 30_000, 0, &many).unwrap_err();
        assert!(error.message.contains("28232"), "{error}");
        // Of a bound that the user has set only what binds first is said.
        let warnings = checked("100000", 60_000, 0, &machine()).unwrap();
        assert!(warnings.len() == 1 && warnings[0].contains("19936 are"), "{warnings:?}");
    }

    #[test]
    fn processes_have_descriptors_of_their_own_and_share_the_ports() {
        let small = Machine { descriptors: 5_000, ..machine() };
        let of = |processes, workers_max, machine| {
            Asked { processes, workers_max, ..ASKED }.check(machine)
        };
        assert!(of(1, 19_000, &small).is_err());
        assert_eq!(of(4, 19_000, &small).unwrap(), Vec::<String>::new());
        let error = of(4, 25_000, &small).unwrap_err();
        let says = "5000 files may be open in each of 4 processes, 64 of them for other things; \
                    raise `ulimit -n` to 6314";
        assert!(error.message.contains(says), "{error}");
        let error = of(8, 30_000, &machine()).unwrap_err();
        assert!(error.message.contains("28232"), "{error}");
    }

    /// 30,000 requests at once: 300 connections where 100 share one.
    #[test]
    fn requests_that_share_a_connection_need_no_other() {
        let asked = Asked { workers_max: 30_000, threads: 2, ..ASKED };
        let known = Asked { http2: Http2::PriorKnowledge, ..asked };
        assert_eq!(known.check(&machine()).unwrap(), Vec::<String>::new());
        let few = Machine { descriptors: 364, ..machine() };
        assert_eq!(known.check(&few).unwrap(), Vec::<String>::new());
        let fewer = Machine { descriptors: 363, ..machine() };
        let error = known.check(&fewer).unwrap_err();
        assert!(error.message.contains("300 connections are planned and 299"), "{error}");
        // Whether a server agrees to it shows in the first handshake.
        let agreed = Asked { scheme: "https", ..asked };
        let warnings = agreed.check(&machine()).unwrap();
        let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
        let says = ["30000 connections", "; HTTP/2, if it is agreed to, needs fewer"];
        assert!(says.iter().all(|words| warning.contains(words)), "{warning}");
        assert!(agreed.check(&fewer).is_err());
        assert!(Asked { http2: Http2::Off, ..agreed }.check(&machine()).is_err());
        // Of a rate, that many answers may take a hundred times as long.
        let paced = Asked { rate: "3000000", workers_max: u32::MAX, ..known };
        let warnings = paced.check(&machine()).unwrap();
        assert!(warnings[0].contains("take longer than 0.66 s"), "{warnings:?}");
    }

    #[test]
    fn a_stream_of_targets_is_held_against_what_is_certain() {
        let stream = Asked { scheme: "", workers_max: 25_000, ..ASKED };
        let warnings = stream.check(&machine()).unwrap();
        let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
        let says = ["25000 connections", "19936", "; several targets, or HTTP/2, need fewer"];
        assert!(says.iter().all(|words| warning.contains(words)), "{warning}");
        let plain = Asked { http2: Http2::Off, ..stream };
        assert!(plain.check(&machine()).unwrap_err().message.contains("19936"));
        // Ports are of each target.
        let many = Machine { descriptors: 1_000_000, ..machine() };
        let warnings = Asked { workers_max: 30_000, ..plain }.check(&many).unwrap();
        assert!(warnings.len() == 1 && warnings[0].contains("28232"), "{warnings:?}");
        let few = Asked { workers_max: 100, ..stream };
        assert_eq!(few.check(&machine()).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn rates_that_need_quick_answers_and_memory_are_warned_of() {
        let warnings = checked("20000", u32::MAX, 0, &machine()).unwrap();
        let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
        assert_eq!(
            warning,
            "at 20000/s, connections run out when answers take longer than 1.00 s: 20000 files may \
             be open, 64 of them for other things; raise `ulimit -n` to 20064"
        );
        let many = Machine { descriptors: 1_000_000, ..machine() };
        let warnings = checked("50000", u32::MAX, 0, &many).unwrap();
        assert!(warnings.len() == 1 && warnings[0].contains("28232 ports"), "{warnings:?}");
        // Whoever answers within two seconds is quick enough: nothing to say.
        assert_eq!(checked("10000", u32::MAX, 0, &machine()).unwrap(), Vec::<String>::new());
        let warnings = checked("50", u32::MAX, 30_000, &machine()).unwrap();
        assert_eq!(warnings, Vec::<String>::new());
        let small = Machine { memory_available_bytes: Some(1 << 20), ..machine() };
        let warnings = checked("1000", u32::MAX, 0, &small).unwrap();
        assert!(warnings[0].contains("1 MB are available"), "{warnings:?}");
    }
}
