//! Whose a process of generators is.

use std::{process::Child, time::Duration};

use sojourn_fleet::{MemberEnd, MemberState};

/// Whose process it is.
#[derive(Debug)]
pub(super) enum Peer {
    /// It was started here.
    Child(Child),
    /// It has dialled in; how long it may take to end.
    Member { end: MemberEnd, end_within: Duration },
}

/// A member as people know it.
pub(crate) fn name_of(number: u32, state: &MemberState) -> String {
    let address = state.address.map_or_else(String::new, |address| format!(", {address}"));
    format!("generator process {number} (host {}{address})", state.host)
}
