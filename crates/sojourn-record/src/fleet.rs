//! Generators that had dialled in, and how they kept together.

use serde::{Deserialize, Serialize};

/// How the generators of a run kept together, where they had dialled in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetRecord {
    /// When the first and the last generator thread began, relative to the run's start,
    /// nanoseconds; `None` where none did.
    pub began_ns: Option<(u64, u64)>,
    /// Their processes, by number.
    pub members: Vec<FleetMember>,
}

/// A process of generators that had dialled in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetMember {
    /// Its number, from 0.
    pub number: u32,
    /// Its machine's name.
    pub host: String,
    /// Where it dialled from, the last time.
    pub address: String,
    /// How wrong its clock may have been when it joined, nanoseconds.
    pub clock_uncertainty_ns: u64,
    /// The greatest departure of its clock that was proved later, nanoseconds.
    pub clock_departure_ns: u64,
    /// How often it was without a connection.
    pub cuts: u64,
    /// For how long at most, nanoseconds.
    pub cut_ns_max: u64,
    /// Why it was lost, and what it had delivered by then; `None` where it was not.
    pub lost: Option<String>,
}
