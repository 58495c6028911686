//! Attack results.

mod cut;
mod fixtures;
mod memory;
mod merged;
mod mutations;
mod round_trip;
mod util;
