//! `--local-ips`: the addresses that users' connections come from.

use std::net::{IpAddr, Ipv4Addr};

use serde_json::Value;

use crate::options::{error::Wrong, table::Kind};

/// Addresses, ranges and networks, of which each user has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalIps {
    /// As written.
    text: String,
    /// First address, how many.
    ranges: Vec<(IpAddr, u128)>,
    count: u128,
}

impl LocalIps {
    /// Reads `10.0.0.1,10.0.0.3-10.0.0.9,10.1.0.0/24`. A network is without its first and its last
    /// address, unless it has no others.
    ///
    fn parse(text: &str) -> Result<Self, Wrong> {
        let ranges: Vec<_> = text.split(',').map(range).collect::<Result<_, _>>()?;
        let counts = ranges.iter().map(|(_, count)| *count);
        let count = counts.fold(0_u128, u128::saturating_add);
        Ok(Self { text: text.to_owned(), ranges, count })
    }

    /// The address of the user with this number, which begins with one.
    pub fn of(&self, user: u64) -> IpAddr {
        let mut place = u128::from(user.saturating_sub(1)) % self.count.max(1);
        for (first, count) in &self.ranges {
            if place < *count {
                return later(*first, place);
            }
            place -= count;
        }
        self.ranges.first().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |(first, _)| *first)
    }

    /// The first address of each range and network, and the last.
    pub fn ends(&self) -> impl Iterator<Item = IpAddr> + '_ {
        self.ranges.iter().flat_map(|(first, count)| [*first, later(*first, count - 1)])
    }
}

impl Kind for LocalIps {
    const EMPTY_IS_NONE: bool = true;

    fn from_json(value: &Value) -> Result<Self, Wrong> {
        Self::parse(&String::from_json(value)?)
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        Self::parse(text)
    }

    fn to_json(&self) -> Value {
        self.text.as_str().into()
    }
}

fn range(text: &str) -> Result<(IpAddr, u128), Wrong> {
    let text = text.trim();
    let wrong = || {
        Wrong::new(format!(
            "`{text}` is no address, range or network such as 10.0.0.1, 10.0.0.1-10.0.0.9 or \
             10.0.0.0/24"
        ))
    };
    if let Some((first, last)) = text.split_once('-') {
        let (first, last) = (first.trim().parse().ok(), last.trim().parse().ok());
        let (first, last): (IpAddr, IpAddr) = first.zip(last).ok_or_else(wrong)?;
        let distance = number(last).checked_sub(number(first));
        return match distance.filter(|_| first.is_ipv4() == last.is_ipv4()) {
            Some(distance) => Ok((first, distance.saturating_add(1))),
            None => Err(Wrong::new(format!("`{text}` ends before it begins"))),
        };
    }
    if let Some((base, bits)) = text.split_once('/') {
        let base: IpAddr = base.parse().map_err(|_| wrong())?;
        let width: u32 = if base.is_ipv4() { 32 } else { 128 };
        let bits: u32 = bits.parse().ok().filter(|bits| *bits <= width).ok_or_else(wrong)?;
        let all = 1_u128.checked_shl(width - bits).unwrap_or(u128::MAX);
        let first = later(base, 0_u128.wrapping_sub(number(base) & (all - 1)));
        return Ok(if all > 2 { (later(first, 1), all - 2) } else { (first, all) });
    }
    text.parse().map(|address| (address, 1)).map_err(|_| wrong())
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u32::from(address).into(),
        IpAddr::V6(address) => address.into(),
    }
}

fn later(address: IpAddr, distance: u128) -> IpAddr {
    match address {
        IpAddr::V4(address) => IpAddr::V4(u32::from(address).wrapping_add(distance as u32).into()),
        IpAddr::V6(address) => IpAddr::V6(u128::from(address).wrapping_add(distance).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_five(text: &str) -> String {
        let ips = LocalIps::parse(text).expect(text);
        (1..=5).map(|user| ips.of(user).to_string()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_user_has_one_in_turn() {
        let range = "127.0.0.2 127.0.0.3 127.0.0.4 127.0.0.2 127.0.0.3";
        assert_eq!(first_five("127.0.0.2-127.0.0.4"), range);
        let network = "127.0.1.1 127.0.1.2 127.0.1.1 127.0.1.2 127.0.1.1";
        assert_eq!(first_five("127.0.1.0/30"), network);
        assert_eq!(first_five("127.0.1.3/30"), network);
        let several = "127.0.0.9 127.0.0.3 127.0.0.4 127.0.0.9 127.0.0.3";
        assert_eq!(first_five("127.0.0.9,127.0.0.3-127.0.0.4"), several);
        assert_eq!(first_five("127.0.1.0/31"), "127.0.1.0 127.0.1.1 127.0.1.0 127.0.1.1 127.0.1.0");
        assert!(first_five("127.0.0.7/32").starts_with("127.0.0.7 127.0.0.7"));
        assert_eq!(first_five("::/0"), "::1 ::2 ::3 ::4 ::5");
        assert_eq!(first_five("0.0.0.0/0"), "0.0.0.1 0.0.0.2 0.0.0.3 0.0.0.4 0.0.0.5");
        for wrong in ["", "nonsense", "1.2.3.4-", "1.2.3.4-1.2.3.3", "1.2.3.4-::9", "1.2.3.4/33"] {
            assert!(LocalIps::parse(wrong).is_err(), "{wrong}");
        }
    }
}
