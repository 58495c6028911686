//! How generators that had dialled in kept together: in their start, their clocks, their
//! connections.

use sojourn_fleet::MemberState;
use sojourn_record::{FleetMember, FleetRecord};

use super::generators::Generators;
use crate::remote::name_of;

/// What is recorded of them.
pub(super) fn record(members: &[MemberState], generators: &Generators) -> FleetRecord {
    let members = (0..).zip(members).map(|(number, member)| {
        let clock = member.clock.unwrap_or_default();
        FleetMember {
            number,
            host: member.host.clone(),
            address: member.address.map_or_else(String::new, |address| address.to_string()),
            clock_uncertainty_ns: clock.uncertainty_ns,
            clock_departure_ns: clock.departure_ns,
            cuts: member.cuts,
            cut_ns_max: member.cut_ns_max,
            lost: generators.loss_of(number),
        }
    });
    FleetRecord { began_ns: generators.began_ns(), members: members.collect() }
}

/// The same for readers.
pub(super) fn notes(members: &[MemberState], record: &FleetRecord) -> Vec<String> {
    let ms = |ns: u64| ns as f64 / 1e6;
    let most = |of: fn(&FleetMember) -> u64| record.members.iter().map(of).max().unwrap_or(0);
    let began = record.began_ns.map(|(first_ns, last_ns)| {
        format!(
            "generators began within {:.2} ms of each other, the last {:.2} ms after the start; \
             their clocks were the coordinator's to within {:.3} ms when they joined, and were \
             found at most {:.3} ms off since",
            ms(last_ns - first_ns),
            ms(last_ns),
            ms(most(|member| member.clock_uncertainty_ns)),
            ms(most(|member| member.clock_departure_ns)),
        )
    });
    let of_members = members.iter().zip(&record.members);
    let was_cut = |(_, member): &(_, &FleetMember)| member.cuts > 0 && member.lost.is_none();
    let cuts = of_members.filter(was_cut).map(|(state, member)| {
        let (times, longest_s) = (member.cuts, member.cut_ns_max as f64 / 1e9);
        format!(
            "{} was cut off {times} ×, for {longest_s:.1} s at most; nothing was lost by it",
            name_of(member.number, state)
        )
    });
    began.into_iter().chain(cuts).collect()
}
