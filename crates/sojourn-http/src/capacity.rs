//! How many connections this machine can make, before any is made.

use std::ops::RangeInclusive;

/// Connections that a load means to keep open to an origin at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedConnections {
    /// The origin, for the words: host and port.
    pub origin: String,
    /// How many.
    pub connections: u64,
    /// How many addresses it has, at least 1; `None` when it is reached over a Unix socket, which
    /// takes no ports.
    pub addresses: Option<u64>,
}

/// What bounds the connections that one machine's processes make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Local addresses that connections come from, at least 1 (the kernel's choice is one).
    pub local_addresses: u64,
    /// Files that the process may open (`ulimit -n`).
    pub descriptors: u64,
    /// Of which it has or needs for other things.
    pub descriptors_reserved: u64,
    /// Ports for connections (`net.ipv4.ip_local_port_range`).
    pub ports: RangeInclusive<u16>,
    /// How many such processes make them, at least 1: each has descriptors of its own, and the
    /// ports are one machine's.
    pub processes: u64,
}

/// How many connections are possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionCapacity {
    /// Planned in all.
    pub planned: u64,
    /// Possible of these.
    pub possible: u64,
    /// Everything that is too small for the plan, what binds first; empty when all planned
    /// connections are possible.
    pub shortages: Vec<Shortage>,
}

/// Something that is too small for the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// The origin whose connections it bounds; `None`: it bounds all.
    pub origin: Option<String>,
    /// Connections planned of those that it bounds.
    pub planned: u64,
    /// Possible of these.
    pub possible: u64,
    /// What it is, with numbers.
    pub limit: String,
    /// What to do about it.
    pub remedy: String,
}

impl std::fmt::Display for Shortage {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { origin, planned, possible, limit, remedy } = self;
        write!(out, "{planned} connections")?;
        if let Some(origin) = origin {
            write!(out, " to {origin}")?;
        }
        write!(out, " are planned and {possible} are possible: {limit}; {remedy}")
    }
}

impl ConnectionCapacity {
    /// How many of the planned connections are possible.
    ///
    /// Each connection takes a descriptor, and to one remote address and port also a local port of
    /// its local address. So an origin has room for ports × local addresses × its addresses.
    pub fn of(planned: &[PlannedConnections], limits: &ConnectionLimits) -> Self {
        let ports = u64::from(*limits.ports.end())
            .saturating_add(1)
            .saturating_sub(u64::from(*limits.ports.start()));
        let local_addresses = limits.local_addresses.max(1);
        let mut shortages = Vec::new();
        let mut possible = 0_u64;
        for PlannedConnections { origin, connections, addresses } in planned {
            let Some(addresses) = addresses.map(|addresses| addresses.max(1)) else {
                possible = possible.saturating_add(*connections);
                continue;
            };
            let per_local = ports.saturating_mul(addresses);
            let room = per_local.saturating_mul(local_addresses);
            possible = possible.saturating_add(room.min(*connections));
            if room < *connections {
                let needed = connections.div_ceil(per_local.max(1));
                shortages.push(Shortage {
                    origin: Some(origin.clone()),
                    planned: *connections,
                    possible: room,
                    limit: format!(
                        "{ports} ports ({} to {}) × {} × {}",
                        limits.ports.start(),
                        limits.ports.end(),
                        counted(local_addresses, "local address"),
                        counted(addresses, "remote address"),
                    ),
                    remedy: format!(
                        "have {needed} local addresses or widen `sysctl \
                         net.ipv4.ip_local_port_range`"
                    ),
                });
            }
        }
        let planned = planned.iter().fold(0_u64, |sum, each| sum.saturating_add(each.connections));
        let processes = limits.processes.max(1);
        let room = limits.descriptors.saturating_sub(limits.descriptors_reserved);
        let room = room.saturating_mul(processes);
        if room < planned {
            let share = planned.div_ceil(processes);
            let needed = share.saturating_add(limits.descriptors_reserved);
            let of_each = match processes {
                1 => String::new(),
                _ => format!(" in each of {processes} processes"),
            };
            let shortage = Shortage {
                origin: None,
                planned,
                possible: room,
                limit: format!(
                    "{} files may be open{of_each}, {} of them for other things",
                    limits.descriptors, limits.descriptors_reserved
                ),
                remedy: format!("raise `ulimit -n` to {needed}"),
            };
            let binds_first = room < possible;
            shortages.insert(if binds_first { 0 } else { shortages.len() }, shortage);
        }
        Self { planned, possible: possible.min(room), shortages }
    }
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}es") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(connections: u64, addresses: Option<u64>) -> PlannedConnections {
        PlannedConnections { origin: "a:80".to_owned(), connections, addresses }
    }

    fn limits(local_addresses: u64, descriptors: u64) -> ConnectionLimits {
        ConnectionLimits {
            local_addresses,
            descriptors,
            descriptors_reserved: 100,
            ports: 32_768..=60_999,
            processes: 1,
        }
    }

    #[test]
    fn ports_bound_each_origin_and_descriptors_all() {
        let check = |plan: &[PlannedConnections],
                     limits: &ConnectionLimits,
                     possible,
                     words: &[&str]| {
            let capacity = ConnectionCapacity::of(plan, limits);
            assert_eq!(capacity.possible, possible, "{capacity:?}");
            assert_eq!(capacity.shortages.len(), usize::from(!words.is_empty()), "{capacity:?}");
            for word in words {
                assert!(capacity.shortages[0].to_string().contains(word), "{word}: {capacity:?}");
            }
        };
        let many = 1_000_000;
        check(&[planned(28_232, Some(1))], &limits(1, many), 28_232, &[]);
        let words = ["28233 connections to a:80", "28232 are", "1 local address ", "have 2 local"];
        check(&[planned(28_233, Some(1))], &limits(1, many), 28_232, &words);
        check(&[planned(56_464, Some(1))], &limits(2, many), 56_464, &[]);
        check(&[planned(56_464, Some(2))], &limits(1, many), 56_464, &[]);
        let words = ["2 local addresses", "2 remote addresses", "have 4 local"];
        check(&[planned(200_000, Some(2))], &limits(2, many), 112_928, &words);
        check(&[planned(200_000, None)], &limits(1, many), 200_000, &[]);
        // Each origin has ports of its own, and all share the descriptors.
        let both = [planned(20_000, Some(1)), planned(20_000, Some(1))];
        check(&both, &limits(1, many), 40_000, &[]);
        let words = ["40000 connections", "29900 are", "30000 files", "`ulimit -n` to 40100"];
        check(&both, &limits(1, 30_000), 29_900, &words);
        check(&[], &limits(1, 10), 0, &[]);
    }

    #[test]
    fn what_binds_first_is_said_first() {
        for (descriptors, first) in [(20_000, "files"), (40_000, "ports")] {
            let limits = limits(1, descriptors);
            let capacity = ConnectionCapacity::of(&[planned(50_000, Some(1))], &limits);
            assert_eq!(capacity.shortages.len(), 2, "{capacity:?}");
            assert!(capacity.shortages[0].limit.contains(first), "{capacity:?}");
            assert_eq!(capacity.shortages[0].possible, capacity.possible, "{capacity:?}");
        }
    }

    #[test]
    fn absurd_numbers_do_not_overflow() {
        let plan = [planned(u64::MAX, Some(u64::MAX)), planned(u64::MAX, None)];
        let all = ConnectionLimits {
            local_addresses: u64::MAX,
            descriptors: u64::MAX,
            descriptors_reserved: 0,
            ports: 0..=u16::MAX,
            processes: u64::MAX,
        };
        assert_eq!(ConnectionCapacity::of(&plan, &all).possible, u64::MAX);
        let none = ConnectionLimits { local_addresses: 0, ports: RangeInclusive::new(9, 2), ..all };
        let capacity = ConnectionCapacity::of(&[planned(5, Some(0))], &none);
        assert_eq!((capacity.possible, capacity.shortages.len()), (0, 1));
    }
}
