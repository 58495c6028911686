//! A name's addresses, and the order in which a connection tries them.

use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{DnsFamilies, DnsSelect};

/// Most addresses of a family that are kept.
const KEPT_MAX: usize = 64;

/// Most addresses that one connection tries.
pub(super) const TRIED_MAX: usize = 16;

/// A name's addresses by family.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    v4: Vec<Ipv4Addr>,
    v6: Vec<Ipv6Addr>,
}

impl Addresses {
    pub(super) fn new(addresses: &[IpAddr]) -> Self {
        let mut sorted = Self::default();
        for address in addresses {
            match address {
                IpAddr::V4(address) => push_new(&mut sorted.v4, *address),
                IpAddr::V6(address) => push_new(&mut sorted.v6, *address),
            }
        }
        sorted
    }

    pub(super) fn is_empty(&self) -> bool {
        self.v4.is_empty() && self.v6.is_empty()
    }

    /// The addresses to try. Each family begins at the one selected, and goes on from there.
    pub(super) fn order(&self, how: Order, random: &mut Random) -> Vec<IpAddr> {
        let Order { families, v4_first, .. } = how;
        if families == DnsFamilies::Any {
            let all = self.v4.iter().copied().map(IpAddr::V4);
            let all: Vec<_> = all.chain(self.v6.iter().copied().map(IpAddr::V6)).collect();
            return from_selected(&all, how, random).take(TRIED_MAX).collect();
        }
        let v4 = from_selected(&self.v4, how, random).map(IpAddr::V4);
        let v6 = from_selected(&self.v6, how, random).map(IpAddr::V6);
        match families {
            DnsFamilies::V4Only => v4.take(TRIED_MAX).collect(),
            DnsFamilies::V6Only => v6.take(TRIED_MAX).collect(),
            DnsFamilies::V4First => v4.chain(v6).take(TRIED_MAX).collect(),
            DnsFamilies::V6First => v6.chain(v4).take(TRIED_MAX).collect(),
            _ if v4_first => by_turns(v4, v6),
            _ => by_turns(v6, v4),
        }
    }
}

/// In which order addresses are tried.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Order {
    pub(super) families: DnsFamilies,
    /// IPv4 won last time.
    pub(super) v4_first: bool,
    pub(super) select: DnsSelect,
    /// Connections before this one.
    pub(super) turn: usize,
}

fn push_new<A: PartialEq>(addresses: &mut Vec<A>, address: A) {
    if addresses.len() < KEPT_MAX && !addresses.contains(&address) {
        addresses.push(address);
    }
}

fn from_selected<'a, A: Copy>(
    addresses: &'a [A],
    how: Order,
    random: &mut Random,
) -> impl Iterator<Item = A> + use<'a, A> {
    let first = match how.select {
        DnsSelect::Random => random.below(addresses.len()),
        DnsSelect::First => 0,
        DnsSelect::RoundRobin => how.turn.checked_rem(addresses.len()).unwrap_or(0),
    };
    let (before, after) = addresses.split_at(first);
    after.iter().chain(before).copied()
}

fn by_turns(
    first: impl Iterator<Item = IpAddr>,
    second: impl Iterator<Item = IpAddr>,
) -> Vec<IpAddr> {
    let (mut first, mut second) = (first, second);
    let mut order = Vec::new();
    while order.len() < TRIED_MAX {
        let (one, other) = (first.next(), second.next());
        if one.is_none() && other.is_none() {
            break;
        }
        order.extend(one.into_iter().chain(other));
    }
    order
}

/// Chance enough to spread load: xorshift64* (Vigna 2016).
#[derive(Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new() -> Self {
        // `RandomState` is seeded by the system. Zero would stay zero.
        Self(RandomState::new().hash_one(0_u8) | 1)
    }

    fn below(&mut self, bound: usize) -> usize {
        if bound <= 1 {
            return 0;
        }
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
        ((high * bound as u64) >> 32) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V4: Order =
        Order { families: DnsFamilies::Raced, v4_first: true, select: DnsSelect::Random, turn: 0 };

    #[test]
    fn selection_and_families_are_as_asked() {
        let known = addresses(&["10.0.0.1", "::1", "10.0.0.2", "::2"]);
        let mut random = Random::new();
        let mut check = |families, select, turn, expected: &str| {
            let order = known.order(Order { families, v4_first: true, select, turn }, &mut random);
            let shown: Vec<_> = order.iter().map(IpAddr::to_string).collect();
            assert_eq!(shown.join(" "), expected, "{families:?} {select:?} {turn}");
        };
        use {DnsFamilies as Of, DnsSelect as By};
        check(Of::V4Only, By::First, 7, "10.0.0.1 10.0.0.2");
        check(Of::V6Only, By::RoundRobin, 1, "::2 ::1");
        check(Of::V6Only, By::RoundRobin, 2, "::1 ::2");
        check(Of::V4First, By::First, 0, "10.0.0.1 10.0.0.2 ::1 ::2");
        check(Of::V6First, By::RoundRobin, 1, "::2 ::1 10.0.0.2 10.0.0.1");
        check(Of::Any, By::RoundRobin, 3, "::2 10.0.0.1 10.0.0.2 ::1");
        check(Of::Raced, By::First, 0, "10.0.0.1 ::1 10.0.0.2 ::2");
        let only_v4 = addresses(&["10.0.0.1"]);
        let how = Order { families: Of::V6Only, ..Order::default() };
        assert_eq!(only_v4.order(how, &mut random), Vec::<IpAddr>::new());
    }

    fn addresses(texts: &[&str]) -> Addresses {
        let parsed: Vec<IpAddr> = texts.iter().map(|text| text.parse().expect(text)).collect();
        Addresses::new(&parsed)
    }

    #[test]
    fn families_take_turns_and_nothing_is_left_out() {
        let known = addresses(&["10.0.0.1", "::1", "10.0.0.2", "10.0.0.3", "10.0.0.1"]);
        let mut random = Random::new();
        for _ in 0..20 {
            let order = known.order(Order::default(), &mut random);
            assert!(order[0].is_ipv6() && order[1].is_ipv4(), "{order:?}");
            let mut sorted = order.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!((order.len(), sorted.len()), (4, 4), "{order:?}");
            let order = known.order(V4, &mut random);
            assert!(order[0].is_ipv4() && order[1].is_ipv6(), "{order:?}");
        }
        assert!(addresses(&[]).is_empty());
        assert_eq!(addresses(&[]).order(V4, &mut random), Vec::<IpAddr>::new());
    }

    #[test]
    fn each_address_is_first_equally_often() {
        const DIALS: usize = 30_000;
        let known = addresses(&["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
        let mut random = Random(1);
        let mut counts = [0_usize; 3];
        for _ in 0..DIALS {
            let IpAddr::V4(first) = known.order(V4, &mut random)[0] else { panic!("v4 only") };
            counts[usize::from(first.octets()[3]) - 1] += 1;
        }
        // Binomial: five standard deviations of 82.
        assert!(counts.iter().all(|count| count.abs_diff(DIALS / 3) < 410), "{counts:?}");
    }

    #[test]
    fn a_name_with_absurdly_many_addresses_is_bounded() {
        let many: Vec<IpAddr> = (0..10_000_u32).map(|n| Ipv4Addr::from_bits(n).into()).collect();
        let known = Addresses::new(&many);
        assert_eq!(known.v4.len(), KEPT_MAX);
        assert_eq!(known.order(V4, &mut Random::new()).len(), TRIED_MAX);
    }
}
