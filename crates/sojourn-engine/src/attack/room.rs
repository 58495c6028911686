//! Whether this machine can make an attack's connections: asked before any is made.

use std::{collections::BTreeSet, net::ToSocketAddrs};

use sojourn_http::{
    ClientConfig, ConnectionCapacity, ConnectionLimits, PlannedConnections, Shortage,
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
    let most = most(load, attack, client, processes.saturating_mul(threads));
    let planned = planned(attack, client, most);
    let limits = ConnectionLimits { processes: processes.into(), ..limits(client, machine) };
    let capacity = ConnectionCapacity::of(&planned, &limits);
    if !capacity.shortages.is_empty() && matches!(load.model, Model::Closed { .. }) {
        let all: Vec<String> = capacity.shortages.iter().map(Shortage::to_string).collect();
        return Err(RunError::new(
            format!("not enough room for the workers: {}", all.join("; ")),
            "or ask for fewer -max-workers",
        ));
    }
    let mut warnings = Vec::new();
    let is_bounded = u64::from(attack.workers_max) < u64::from(u32::MAX);
    if is_bounded || client.connections_max > 0 {
        warnings.extend(capacity.shortages.first().map(Shortage::to_string));
    } else {
        warnings.extend(answers_too_slow(load, &capacity));
    }
    let need_bytes = most.min(capacity.possible) * CONNECTION_BYTES;
    warnings.extend(machine.memory_available_bytes.filter(|have| need_bytes > *have).map(|have| {
        format!(
            "{} connections may need {} MB, and {} MB are available",
            most.min(capacity.possible),
            need_bytes >> 20,
            have >> 20
        )
    }));
    Ok(warnings)
}

/// Most connections that the attack may want at once.
fn most(load: &Load, attack: &Attack, client: &ClientConfig, threads: u32) -> u64 {
    let workers = u64::from(attack.workers_max);
    let connections = match client.connections_max {
        0 => u64::MAX,
        most => (most as u64).saturating_mul(u64::from(threads)),
    };
    let by_rate = match &load.model {
        Model::Open { profile, .. } => (peak_per_s(profile) * ANSWER_S).ceil() as u64,
        Model::Closed { .. } => u64::MAX,
    };
    workers.min(connections).min(by_rate)
}

fn planned(attack: &Attack, client: &ClientConfig, most: u64) -> Vec<PlannedConnections> {
    let targets: &[sojourn_plan::Target] = match &attack.targets {
        Targets::Listed(targets) => targets,
        Targets::Scripted(scripted) => std::slice::from_ref(&scripted.target),
        Targets::Stream(_) => return Vec::new(),
    };
    let origins: BTreeSet<(&str, u16)> =
        targets.iter().map(|target| (target.host.as_str(), target.port)).collect();
    let share = most.div_ceil(origins.len().max(1) as u64);
    origins
        .into_iter()
        .map(|(host, port)| PlannedConnections {
            origin: format!("{host}:{port}"),
            connections: share,
            addresses: client.unix_socket.is_none().then(|| addresses(host, port)),
        })
        .collect()
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
fn answers_too_slow(load: &Load, capacity: &ConnectionCapacity) -> Option<String> {
    let (Model::Open { profile, .. }, Some(Shortage { limit, remedy, .. })) =
        (&load.model, capacity.shortages.first())
    else {
        return None;
    };
    let rate_per_s = peak_per_s(profile);
    let longest_s = capacity.possible as f64 / rate_per_s;
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

    fn target() -> Target {
        let files = Box::new(|_: &str| Ok(Vec::new()));
        let text = "GET http://127.0.0.1:1/".as_bytes();
        TargetReader::new("t", text, TargetFormat::Http, TargetDefaults::default(), files)
            .next()
            .unwrap()
            .unwrap()
    }

    fn checked(
        rate: &str,
        workers_max: u32,
        connections_max: usize,
        machine: &Machine,
    ) -> Result<Vec<String>, RunError> {
        checked_of(1, rate, workers_max, connections_max, machine)
    }

    fn checked_of(
        processes: u32,
        rate: &str,
        workers_max: u32,
        connections_max: usize,
        machine: &Machine,
    ) -> Result<Vec<String>, RunError> {
        let load = AttackLoad {
            pace: Pace::rate(rate).unwrap(),
            poisson: false,
            duration_ns: Some(1_000_000_000),
            workers_max,
            timeout_ns: 30_000_000_000,
        };
        let targets = vec![target()];
        let plan =
            sojourn_plan::attack_plan("", String::new(), &targets, &load, Vec::new()).unwrap();
        let attack = Attack {
            name: String::new(),
            targets: Targets::Listed(targets.into()),
            workers_max,
            redirects_max: None,
            allowed_hosts: Vec::new(),
            body_max: None,
            chunked: false,
            results: None,
            patient: false,
        };
        let client = ClientConfig { connections_max, ..ClientConfig::default() };
        check(&plan, &attack, &client, (processes, 1), machine)
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
        assert!(checked_of(1, "0", 19_000, 0, &small).is_err());
        assert_eq!(checked_of(4, "0", 19_000, 0, &small).unwrap(), Vec::<String>::new());
        let error = checked_of(4, "0", 25_000, 0, &small).unwrap_err();
        let says = "5000 files may be open in each of 4 processes, 64 of them for other things; \
                    raise `ulimit -n` to 6314";
        assert!(error.message.contains(says), "{error}");
        let error = checked_of(8, "0", 30_000, 0, &machine()).unwrap_err();
        assert!(error.message.contains("28232"), "{error}");
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
