//! The ledger's rules as a specification, and whole runs simulated against a naive model.

/// Words in which the rules are written.
mod support;

/// Duplicates, and whose they are.
mod again;
/// What is refused at a bound or as a defect.
mod bounds;
/// Alternatives, one of which is needed.
mod branches;
/// Kinds that choose their stages from common ones.
mod common_stages;
/// Deadlines to the nanosecond.
mod deadlines;
/// Where an event ends up.
mod events;
/// Fan-out whose number is told.
mod fan_out;
/// Keys that events yield.
mod further_keys;
/// Random facts in any order.
mod fuzz;
/// Hops, their order, and who waits where.
mod hops;
/// Where a journey ends up.
mod journeys;
/// Keys, aliases, reuse, early events.
mod keys;
/// Limits are held against what journeys reach.
mod limits;
/// Readings of foreign clocks.
mod readings;
/// Many sources, one order.
mod sequencing;
/// Whole runs against a model.
mod simulation;
