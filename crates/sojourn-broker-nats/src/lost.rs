//! Why there is no connection, or none any more.

use sojourn_broker::BrokerError;

/// A connection that could not be made or is gone.
#[derive(Clone, Debug)]
pub(crate) struct Lost {
    /// In words, with the server's address.
    pub(crate) error: BrokerError,
    /// Trying again would end the same way: wrong password, untrusted certificate.
    pub(crate) for_good: bool,
    /// The same in few words without addresses, for outcomes that are counted by them.
    pub(crate) short: &'static str,
}

impl Lost {
    /// It may work at another time.
    pub(crate) fn now(error: BrokerError) -> Self {
        Self { error, for_good: false, short: "connection lost" }
    }

    /// It will not.
    pub(crate) fn for_good(error: BrokerError, short: &'static str) -> Self {
        Self { error, for_good: true, short }
    }
}
