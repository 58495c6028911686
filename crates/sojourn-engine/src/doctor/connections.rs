//! Descriptors and ports, against the connections that a plan's load may need at once.

use sojourn_analysis::{check::Check, words};
use sojourn_http::{
    ClientConfig, ConnectionCapacity, PlannedConnections, Shortage, origin_host_header,
};

use super::{demand::Demand, names::Names};
use crate::{attack::room, machine::Machine, machine::count_of};

/// Files that the process may open, and ports to each target.
pub(super) fn checks(
    demand: &Demand,
    names: &Names,
    client: &ClientConfig,
    (soft, machine): (u64, &Machine),
) -> Vec<Check> {
    let planned: Vec<PlannedConnections> = demand
        .connections
        .iter()
        .map(|target| PlannedConnections {
            origin: origin_host_header(&target.origin),
            connections: target.connections,
            addresses: client.unix_socket.is_none().then(|| names.count(&target.origin)),
        })
        .collect();
    let capacity = ConnectionCapacity::of(&planned, &room::limits(client, machine));
    let all = capacity.shortages.iter().find(|shortage| shortage.origin.is_none());
    let mut checks = vec![descriptors(demand, soft, machine, all)];
    for (place, target) in planned.iter().enumerate() {
        let own = |shortage: &&Shortage| shortage.origin.as_ref() == Some(&target.origin);
        checks.push(ports(demand, place, target, machine, capacity.shortages.iter().find(own)));
    }
    if planned.is_empty() {
        checks.push(Check::skipped("ports", "", "the plan sends no HTTP request"));
    }
    checks
}

fn descriptors(demand: &Demand, soft: u64, machine: &Machine, short: Option<&Shortage>) -> Check {
    let connections = demand.connections.iter().map(|target| target.connections).sum::<u64>();
    let raised = match soft < machine.descriptors {
        true => format!(" ({} raised to the hard limit)", words::count(soft)),
        false => String::new(),
    };
    let found = format!(
        "{} files may be open{raised}; at most {}",
        words::count(machine.descriptors),
        words::plural(connections, "connection", "connections")
    );
    let (users, requests_per_s) = demand
        .connections
        .iter()
        .fold((0, 0.0), |(u, r), target| (u + target.users, r + target.requests_per_s));
    judge(Check::passed("descriptors", "", found), short, users, requests_per_s)
}

fn ports(
    demand: &Demand,
    place: usize,
    planned: &PlannedConnections,
    machine: &Machine,
    short: Option<&Shortage>,
) -> Check {
    let most = words::plural(planned.connections, "connection", "connections");
    let found = match planned.addresses {
        None => format!("a Unix socket takes none; at most {most}"),
        Some(addresses) => format!(
            "{} ({}–{}) for each of {}; at most {most}",
            words::count(count_of(&machine.ports)),
            machine.ports.start(),
            machine.ports.end(),
            words::plural(addresses, "address", "addresses"),
        ),
    };
    let target = &demand.connections[place];
    let check = Check::passed("ports", &planned.origin, found);
    judge(check, short, target.users, target.requests_per_s)
}

/// Users who have no connection fail for certain. Open load only needs that many where answers are
/// as slow as their time-outs allow: from when on they are too slow is said.
fn judge(fitting: Check, short: Option<&Shortage>, users: u64, requests_per_s: f64) -> Check {
    let Some(Shortage { possible, limit, remedy, .. }) = short else { return fitting };
    let Check { name, subject, found, .. } = fitting;
    if users > *possible {
        let found = format!("{found}; {limit}");
        return Check::failed(&name, &subject, found).advised(format!("{remedy}, or fewer users"));
    }
    let slow_s = (possible - users) as f64 / requests_per_s;
    let slow = words::duration(slow_s * 1e9);
    let found = format!("{found}; they run out when answers take longer than {slow}");
    Check::warned(&name, &subject, found).advised(remedy.clone())
}

#[cfg(test)]
mod tests {
    use sojourn_analysis::check::Finding;
    use sojourn_http::Origin;

    use super::*;
    use crate::doctor::demand::TargetDemand;

    fn checked(requests_per_s: f64, users: u64, connections: u64, descriptors: u64) -> Vec<Check> {
        let origin = Origin { tls: false, host: "127.0.0.1".to_owned(), port: 1 };
        let target = TargetDemand { origin, requests_per_s, users, connections };
        let demand = Demand { in_flight: 0, connections: vec![target] };
        let machine = Machine { descriptors, ports: 32_768..=60_999, memory_available_bytes: None };
        checks(&demand, &Names::default(), &ClientConfig::default(), (1_024, &machine))
    }

    #[test]
    fn what_fits_passes_with_its_figures() {
        let checks = checked(100.0, 0, 3_000, 20_000);
        assert!(checks.iter().all(|check| check.outcome == Finding::Passed), "{checks:?}");
        assert_eq!(
            checks[0].found,
            "20,000 files may be open (1,024 raised to the hard limit); at most 3,000 connections"
        );
        assert_eq!(checks[1].subject, "127.0.0.1:1");
        assert!(checks[1].found.starts_with("28,232 (32768–60999) for each of 1 address"));
    }

    #[test]
    fn slow_answers_are_warned_of_and_users_without_a_connection_refused() {
        let checks = checked(1_000.0, 0, 10_000, 2_064);
        assert_eq!(checks[0].outcome, Finding::Warned);
        assert!(checks[0].found.ends_with("answers take longer than 2.00 s"), "{checks:?}");
        assert!(checks[0].advice.as_deref().is_some_and(|advice| advice.contains("ulimit -n")));
        assert_eq!(checks[1].outcome, Finding::Passed);
        let checks = checked(0.0, 30_000, 30_000, 1_000_000);
        assert_eq!(checks[0].outcome, Finding::Passed);
        assert_eq!(checks[1].outcome, Finding::Failed);
        let advice = checks[1].advice.as_deref().unwrap_or_default();
        assert!(advice.contains("ip_local_port_range") && advice.contains("fewer users"));
    }

    #[test]
    fn a_plan_without_requests_needs_no_ports() {
        let machine = Machine { descriptors: 9, ports: 1..=2, memory_available_bytes: None };
        let demand = Demand { in_flight: 0, connections: Vec::new() };
        let client = ClientConfig::default();
        let checks = checks(&demand, &Names::default(), &client, (9, &machine));
        assert_eq!(checks[1].outcome, Finding::Skipped);
    }
}
