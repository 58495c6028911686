//! How generators that had dialled in kept together: in their start, their clocks, their
//! connections.

use sojourn_clock::SECOND_NS;
use sojourn_fleet::{MemberState, Standing};
use sojourn_record::{FleetMember, FleetRecord};

use super::generators::Generators;
use crate::{RunOptions, remote::Fleet, remote::name_of};

/// How far ahead a change of rate is decided on: generators look every few milliseconds.
const AMEND_AHEAD_NS: u64 = SECOND_NS / 2;
/// The same of generators that have dialled in. One that heard of a change too late could only end
/// the run; most connections that are cut just then stand again by that time.
const AMEND_AHEAD_FAR_NS: u64 = 5 * SECOND_NS;

/// How each generator stands that had dialled in; none where the run has no such.
pub(super) fn members(options: &RunOptions) -> Vec<MemberState> {
    let processes = options.processes.as_ref();
    processes.and_then(|it| it.fleet.as_ref()).map(Fleet::states).unwrap_or_default()
}

/// How far ahead a change of rate must be for all generators to hear of it in time, nanoseconds;
/// `None` while one is without a connection that is not lost: nobody knows when it hears.
pub(super) fn amend_ahead_ns(members: &[MemberState]) -> Option<u64> {
    let mut there = members.iter().filter(|member| member.goes_on());
    match members {
        [] => Some(AMEND_AHEAD_NS),
        _ => there.all(|it| it.standing == Standing::Connected).then_some(AMEND_AHEAD_FAR_NS),
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_rate_waits_for_no_generator_that_may_not_hear_of_it() {
        let members = |all: &[Standing]| -> Vec<MemberState> {
            let member = |standing: &Standing| MemberState {
                standing: standing.clone(),
                ..MemberState::default()
            };
            all.iter().map(member).collect()
        };
        let lost = Standing::Lost("gone".to_owned());
        let ahead_ns = |all: &[Standing]| amend_ahead_ns(&members(all));
        assert_eq!(ahead_ns(&[]), Some(SECOND_NS / 2));
        assert_eq!(ahead_ns(&[Standing::Connected, lost]), Some(5 * SECOND_NS));
        assert_eq!(ahead_ns(&[Standing::Connected, Standing::Cut(7)]), None);
        assert_eq!(ahead_ns(&[Standing::Suspect]), None);
    }
}
