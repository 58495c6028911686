//! The ledger against the demo's own log of what happened: no difference is accepted.
