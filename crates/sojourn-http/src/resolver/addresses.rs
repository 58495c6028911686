//! A name's addresses, and the order in which a connection tries them.

use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

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

    /// The addresses to try, those of both families by turns. Each family begins at a random one,
    /// and goes on from there.
    pub(super) fn order(&self, v4_first: bool, random: &mut Random) -> Vec<IpAddr> {
        let v4 = from_random(&self.v4, random).map(IpAddr::V4);
        let v6 = from_random(&self.v6, random).map(IpAddr::V6);
        if v4_first { by_turns(v4, v6) } else { by_turns(v6, v4) }
    }
}

fn push_new<A: PartialEq>(addresses: &mut Vec<A>, address: A) {
    if addresses.len() < KEPT_MAX && !addresses.contains(&address) {
        addresses.push(address);
    }
}

fn from_random<'a, A: Copy>(
    addresses: &'a [A],
    random: &mut Random,
) -> impl Iterator<Item = A> + use<'a, A> {
    let (before, after) = addresses.split_at(random.below(addresses.len()));
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

    fn addresses(texts: &[&str]) -> Addresses {
        let parsed: Vec<IpAddr> = texts.iter().map(|text| text.parse().expect(text)).collect();
        Addresses::new(&parsed)
    }

    #[test]
    fn families_take_turns_and_nothing_is_left_out() {
        let known = addresses(&["10.0.0.1", "::1", "10.0.0.2", "10.0.0.3", "10.0.0.1"]);
        let mut random = Random::new();
        for _ in 0..20 {
            let order = known.order(false, &mut random);
            assert!(order[0].is_ipv6() && order[1].is_ipv4(), "{order:?}");
            let mut sorted = order.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!((order.len(), sorted.len()), (4, 4), "{order:?}");
            let order = known.order(true, &mut random);
            assert!(order[0].is_ipv4() && order[1].is_ipv6(), "{order:?}");
        }
        assert!(addresses(&[]).is_empty());
        assert_eq!(addresses(&[]).order(true, &mut random), Vec::<IpAddr>::new());
    }

    #[test]
    fn each_address_is_first_equally_often() {
        const DIALS: usize = 30_000;
        let known = addresses(&["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
        let mut random = Random(1);
        let mut counts = [0_usize; 3];
        for _ in 0..DIALS {
            let IpAddr::V4(first) = known.order(true, &mut random)[0] else { panic!("v4 only") };
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
        assert_eq!(known.order(true, &mut Random::new()).len(), TRIED_MAX);
    }
}
