//! The other ends of connections, each kept once: a completion names its own by a number.

use std::collections::HashMap;
use std::net::SocketAddr;

use crate::tls::TlsVersion;

/// Names what [`crate::Client::peer`] tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerId(u16);

/// The other end of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Peer {
    /// Its address (a proxy's, where one stands between); `None` for a Unix socket, and for a
    /// request that had no connection.
    pub address: Option<SocketAddr>,
    /// What was agreed upon with it; `None` without TLS.
    pub tls: Option<TlsAgreed>,
}

/// What a TLS handshake has agreed upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TlsAgreed {
    /// The version.
    pub version: TlsVersion,
    /// The cipher suite, by its name in IANA's list; empty for one without a name there.
    pub suite: &'static str,
}

/// All peers that a client has met. One that is met when there is no number left is not known.
#[derive(Debug)]
pub(crate) struct Peers {
    all: Vec<Peer>,
    places: HashMap<Peer, PeerId>,
}

impl Peers {
    /// Nobody has been met.
    pub(crate) fn new() -> Self {
        Self { all: vec![Peer::default()], places: HashMap::new() }
    }

    /// The number of this peer.
    pub(crate) fn id(&mut self, peer: Peer) -> PeerId {
        if let Some(known) = self.places.get(&peer) {
            return *known;
        }
        let Ok(place) = u16::try_from(self.all.len()) else { return PeerId::default() };
        self.all.push(peer);
        self.places.insert(peer, PeerId(place));
        PeerId(place)
    }

    /// The peer of this number.
    pub(crate) fn get(&self, id: PeerId) -> Peer {
        self.all.get(usize::from(id.0)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_has_one_number_and_numbers_end() {
        let at = |port| Peer { address: Some(([127, 0, 0, 1], port).into()), tls: None };
        let mut peers = Peers::new();
        let first = peers.id(at(1));
        assert_eq!((peers.id(at(1)), peers.get(first)), (first, at(1)));
        assert_ne!(peers.id(at(2)), first);
        (0..=u16::MAX).for_each(|port| _ = peers.id(at(port)));
        assert_eq!(peers.all.len(), 65_536);
        // The last one found no number.
        assert_eq!(
            peers.get(peers.places.get(&at(u16::MAX)).copied().unwrap_or_default()),
            Peer::default()
        );
        assert_eq!(peers.get(first), at(1));
    }
}
