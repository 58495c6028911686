//! What a client knows of each name, and who waits for it.

use std::net::IpAddr;

use super::addresses::{Addresses, Order, Random};
use super::no_address::NoAddress;
use super::stub::Stub;
use super::threads::{Answer, Threads};
use super::{DnsCache, DnsFamilies, DnsOptions, DnsSelect};
use crate::driver::{ConnectionId, Waker};

/// The least time between two look-ups of a name in the background.
const REFRESH_NS_MIN: u64 = sojourn_clock::MILLISECOND_NS;

/// Sweeping is not worth it below this length.
const SWEEP_LENGTH_MIN: usize = 1_024;

/// A name in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameId(u32);

/// The table of names. There are as many as the origins and what stands in for them.
#[derive(Debug)]
pub(crate) struct Names {
    cache: DnsCache,
    select: DnsSelect,
    families: DnsFamilies,
    names: Vec<Name>,
    random: Random,
    threads: Threads,
    /// The earliest instant at which a name is to be looked up again.
    next_refresh_ns: u64,
}

#[derive(Debug)]
struct Name {
    host: String,
    /// It is an address itself.
    is_literal: bool,
    addresses: Addresses,
    /// Who connected last did so by IPv4.
    v4_first: bool,
    /// How many connections have asked for it.
    turns: usize,
    /// A look-up is under way.
    is_asked: bool,
    /// Connections that wait for it; those given up are recognised by their generation.
    waiting: Vec<ConnectionId>,
    /// At this length those given up are taken out.
    sweep_length: usize,
    refresh_at_ns: u64,
}

/// A look-up that has ended.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) name: NameId,
    /// Who waited for it.
    pub(crate) waiting: Vec<ConnectionId>,
    /// Why there are no addresses.
    pub(crate) outcome: Result<(), NoAddress>,
}

impl Names {
    /// `waker` calls the client when a look-up has ended.
    pub(crate) fn new(options: &DnsOptions, waker: Waker) -> Self {
        Self {
            cache: options.cache,
            select: options.select,
            families: options.families,
            names: Vec::new(),
            random: Random::new(),
            threads: Threads::new(Stub::new(&options.servers), waker),
            next_refresh_ns: u64::MAX,
        }
    }

    /// The name's number; the same name gets the same one.
    pub(crate) fn id(&mut self, host: &str) -> NameId {
        let known = self.names.iter().position(|name| name.host == host);
        let place = known.unwrap_or_else(|| {
            let literal = host.parse::<IpAddr>().ok();
            self.names.push(Name {
                host: host.to_owned(),
                is_literal: literal.is_some(),
                addresses: Addresses::new(literal.as_slice()),
                v4_first: false,
                turns: 0,
                is_asked: false,
                waiting: Vec::new(),
                sweep_length: SWEEP_LENGTH_MIN,
                refresh_at_ns: u64::MAX,
            });
            self.names.len() - 1
        });
        NameId(place as u32)
    }

    pub(crate) fn host(&self, name: NameId) -> &str {
        &self.of(name).host
    }

    /// Whether a new connection must wait for a look-up.
    pub(crate) fn must_ask(&self, name: NameId) -> bool {
        let name = self.of(name);
        name.addresses.is_empty() || (self.cache == DnsCache::Off && !name.is_literal)
    }

    /// Has a connection wait for a look-up, that which is under way if there is one. `waits` tells
    /// whether one still does.
    pub(crate) fn ask(
        &mut self,
        name: NameId,
        id: ConnectionId,
        waits: impl Fn(&ConnectionId) -> bool,
    ) -> Result<(), NoAddress> {
        let known = &mut self.names[name.0 as usize];
        if !known.is_asked {
            self.threads.ask(name, &known.host)?;
            known.is_asked = true;
        }
        if known.waiting.len() >= known.sweep_length {
            known.waiting.retain(waits);
            known.sweep_length = SWEEP_LENGTH_MIN.max(known.waiting.len() * 2);
        }
        known.waiting.push(id);
        Ok(())
    }

    /// The addresses to try, in order; empty while the name is not known, and where it has none of
    /// the families that are allowed.
    pub(crate) fn order(&mut self, name: NameId) -> Vec<IpAddr> {
        let known = &mut self.names[name.0 as usize];
        let families = match self.families {
            // What is an address itself is meant.
            _ if known.is_literal => DnsFamilies::Any,
            chosen => chosen,
        };
        let order =
            Order { families, v4_first: known.v4_first, select: self.select, turn: known.turns };
        known.turns = known.turns.wrapping_add(1);
        known.addresses.order(order, &mut self.random)
    }

    /// A connection to this address of the name came up: its family goes first from now on.
    pub(crate) fn won(&mut self, name: NameId, address: IpAddr) {
        self.names[name.0 as usize].v4_first = address.is_ipv4();
    }

    /// The next look-up that has ended by `now_ns`, if there is one.
    pub(crate) fn found(&mut self, now_ns: u64) -> Option<Found> {
        let Answer { name, addresses } = self.threads.answer()?;
        let known = &mut self.names[name.0 as usize];
        known.is_asked = false;
        let outcome = addresses.map(|addresses| known.addresses = Addresses::new(&addresses));
        // Failed in the background: the old ones go on.
        let is_known = outcome.is_ok() || !known.addresses.is_empty();
        if let DnsCache::Refresh(every_ns) = self.cache
            && is_known
        {
            known.refresh_at_ns = now_ns.saturating_add(every_ns.max(REFRESH_NS_MIN));
            self.next_refresh_ns = self.next_refresh_ns.min(known.refresh_at_ns);
        }
        Some(Found { name, waiting: std::mem::take(&mut known.waiting), outcome })
    }

    /// When [`Self::refresh`] is due.
    pub(crate) fn next_refresh_ns(&self) -> u64 {
        self.next_refresh_ns
    }

    /// Asks in the background for the names whose time has come.
    pub(crate) fn refresh(&mut self, now_ns: u64) {
        for (place, name) in self.names.iter_mut().enumerate() {
            if name.refresh_at_ns > now_ns {
                continue;
            }
            name.refresh_at_ns = match self.threads.ask(NameId(place as u32), &name.host) {
                Ok(()) => u64::MAX,
                // The threads are behind: a little later.
                Err(_) => now_ns.saturating_add(sojourn_clock::SECOND_NS),
            };
            name.is_asked |= name.refresh_at_ns == u64::MAX;
        }
        let refreshes = self.names.iter().map(|name| name.refresh_at_ns);
        self.next_refresh_ns = refreshes.min().unwrap_or(u64::MAX);
    }

    fn of(&self, name: NameId) -> &Name {
        &self.names[name.0 as usize]
    }
}
