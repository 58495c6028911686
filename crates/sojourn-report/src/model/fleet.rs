//! Generators that had dialled in from other machines.

use schemars::JsonSchema;
use serde::Serialize;

/// How the generators of a run kept together, where they had dialled in.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct FleetReport {
    /// From the first generator thread that began to the last one, by the coordinator's clock;
    /// `None` where none did. It is as uncertain as the clocks are.
    pub start_spread_ns: Option<u64>,
    /// How long after the run's start the last one began.
    pub start_late_ns_max: Option<u64>,
    /// Processes of generators, by number.
    pub members: Vec<FleetMember>,
}

/// A process of generators that had dialled in.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct FleetMember {
    /// Its number, from 0.
    pub number: u32,
    /// Its machine's name.
    pub host: String,
    /// Where it dialled from, the last time.
    pub address: String,
    /// How wrong its clock may have been when it joined.
    pub clock_uncertainty_ns: u64,
    /// The greatest departure of its clock that was proved later.
    pub clock_departure_ns: u64,
    /// How often it was without a connection.
    pub cuts: u64,
    /// For how long at most.
    pub cut_ns_max: u64,
    /// Why it was lost, and what it had delivered by then; `None` where it was not.
    pub lost: Option<String>,
}
