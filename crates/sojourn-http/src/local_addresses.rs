//! Where connections come from.

use std::io;
use std::net::IpAddr;

use crate::driver::try_local;

/// Local addresses, taken in turn: each has a range of ports of its own for every remote end.
#[derive(Debug)]
pub(crate) struct LocalAddresses {
    v4: Turns,
    v6: Turns,
    /// Connections of a family without an address here may come from anywhere.
    any_family: bool,
}

#[derive(Debug, Default)]
struct Turns {
    addresses: Vec<IpAddr>,
    next: usize,
}

impl LocalAddresses {
    /// Fails, naming the address, when one is not this machine's. The unspecified addresses
    /// (0.0.0.0, ::) leave the choice to the kernel.
    pub(crate) fn new(addresses: &[IpAddr]) -> io::Result<Self> {
        let mut local = Self {
            v4: Turns::default(),
            v6: Turns::default(),
            any_family: addresses.iter().all(IpAddr::is_unspecified),
        };
        for address in addresses.iter().filter(|address| !address.is_unspecified()) {
            try_local(*address).map_err(|errno| {
                let error = io::Error::from(errno);
                let message = format!(
                    "local address {address}: connections can't come from it on this machine \
                     ({error}); `ip address` lists those that exist"
                );
                io::Error::new(error.kind(), message)
            })?;
            local.family(address.is_ipv4()).addresses.push(*address);
        }
        Ok(local)
    }

    /// Whether a connection to the remote address can be made.
    pub(crate) fn reach(&self, remote: &IpAddr) -> bool {
        let turns = if remote.is_ipv4() { &self.v4 } else { &self.v6 };
        self.any_family || !turns.addresses.is_empty()
    }

    /// The next address for a connection to the remote one; `None` leaves it to the kernel.
    pub(crate) fn next(&mut self, remote: &IpAddr) -> Option<IpAddr> {
        let turns = self.family(remote.is_ipv4());
        let address = turns.addresses.get(turns.next).copied()?;
        turns.next = (turns.next + 1) % turns.addresses.len();
        Some(address)
    }

    fn family(&mut self, is_v4: bool) -> &mut Turns {
        if is_v4 { &mut self.v4 } else { &mut self.v6 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect(text)
    }

    #[test]
    fn addresses_take_turns_by_family() {
        let mut local = LocalAddresses::new(&[ip("127.0.0.2"), ip("127.0.0.3")]).expect("loopback");
        let remote = ip("127.0.0.1");
        let turns: Vec<_> = (0..3).filter_map(|_| local.next(&remote)).collect();
        assert_eq!(turns, [ip("127.0.0.2"), ip("127.0.0.3"), ip("127.0.0.2")]);
        assert!(local.reach(&remote));
        assert!(!local.reach(&ip("::1")));
    }

    #[test]
    fn unspecified_addresses_leave_it_to_the_kernel() {
        for addresses in [vec![], vec![ip("0.0.0.0")]] {
            let mut local = LocalAddresses::new(&addresses).expect("nothing to bind");
            assert!(local.reach(&ip("::1")) && local.reach(&ip("127.0.0.1")));
            assert_eq!(local.next(&ip("127.0.0.1")), None);
        }
    }

    #[test]
    fn an_address_of_another_machine_is_refused() {
        // Reserved for documentation (RFC 5737): nobody's.
        let error = LocalAddresses::new(&[ip("192.0.2.1")]).expect_err("not ours");
        assert!(error.to_string().contains("192.0.2.1"), "{error}");
    }
}
