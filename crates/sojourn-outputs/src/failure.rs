//! How sending fails, and what comes of it when it does not.

/// Why something was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// It may be taken later: nobody there, no answer in time, a server's own error.
    #[error("{0}")]
    Again(String),
    /// It will never be taken.
    #[error("{0}")]
    Never(String),
}

/// What a receiver made of what it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Took {
    /// All of it, with all that was held before.
    All,
    /// All but so many points or journeys.
    AllBut(u64),
    /// Nothing yet: it is held until more has come.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "only Parquet holds"))]
    Held,
}
