//! Generators that had dialled in from other machines.

use sojourn_record::{FleetRecord, RunFile};

use crate::model::{FleetMember, FleetReport};

/// How they kept together; `None` where there were none.
pub(super) fn report(run: &RunFile) -> Option<FleetReport> {
    let FleetRecord { began_ns, members } = run.summary.as_ref()?.fleet.clone()?;
    let member = |it: sojourn_record::FleetMember| FleetMember {
        number: it.number,
        host: it.host,
        address: it.address,
        clock_uncertainty_ns: it.clock_uncertainty_ns,
        clock_departure_ns: it.clock_departure_ns,
        cuts: it.cuts,
        cut_ns_max: it.cut_ns_max,
        lost: it.lost,
    };
    Some(FleetReport {
        start_spread_ns: began_ns.map(|(first_ns, last_ns)| last_ns.saturating_sub(first_ns)),
        start_late_ns_max: began_ns.map(|(_, last_ns)| last_ns),
        members: members.into_iter().map(member).collect(),
    })
}
