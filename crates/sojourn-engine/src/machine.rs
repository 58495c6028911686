//! What this machine allows: descriptors, ports, memory.

use std::ops::RangeInclusive;

/// Ports for connections where the kernel does not say which: Linux's usual ones.
const USUAL_PORTS: RangeInclusive<u16> = 32_768..=60_999;

/// What a machine has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    /// Files that the process may open.
    pub(crate) descriptors: u64,
    /// Ports that connections take at this end.
    pub(crate) ports: RangeInclusive<u16>,
    /// `None`: not known.
    pub(crate) memory_available_bytes: Option<u64>,
}

impl Machine {
    /// This one, whose limit of open files is this.
    pub(crate) fn this(descriptors: u64) -> Self {
        let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        Self {
            descriptors,
            ports: ephemeral_ports(),
            memory_available_bytes: available_bytes(&memory),
        }
    }
}

/// Ports that one source address has for one target.
pub(crate) fn ephemeral_ports() -> RangeInclusive<u16> {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range");
    range.ok().and_then(|text| ports(&text)).unwrap_or(USUAL_PORTS)
}

/// How many there are of a range of ports.
pub(crate) fn count_of(ports: &RangeInclusive<u16>) -> u64 {
    (u64::from(*ports.end()) + 1).saturating_sub(u64::from(*ports.start()))
}

/// The first and the last port, as `ip_local_port_range` has them.
fn ports(text: &str) -> Option<RangeInclusive<u16>> {
    let mut bounds = text.split_ascii_whitespace().map(str::parse::<u16>);
    match (bounds.next()?.ok()?, bounds.next()?.ok()?) {
        (low, high) if low <= high => Some(low..=high),
        _ => None,
    }
}

/// `MemAvailable` of `/proc/meminfo`, bytes.
fn available_bytes(meminfo: &str) -> Option<u64> {
    let available = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = available.split_ascii_whitespace().next()?.parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_files_are_read_and_nonsense_is_not() {
        assert_eq!(ports("32768\t60999\n"), Some(32_768..=60_999));
        assert_eq!(ports("1024 1024"), Some(1_024..=1_024));
        for wrong in ["", "1024", "60999 32768", "1 70000", "a b"] {
            assert_eq!(ports(wrong), None, "{wrong}");
        }
        assert_eq!(count_of(&USUAL_PORTS), 28_232);
        let meminfo = "MemTotal:       16384 kB\nMemAvailable:    8192 kB\n";
        assert_eq!(available_bytes(meminfo), Some(8_388_608));
        assert_eq!(available_bytes("MemTotal: 1 kB\n"), None);
        assert_eq!(available_bytes("MemAvailable: many kB\n"), None);
    }
}
