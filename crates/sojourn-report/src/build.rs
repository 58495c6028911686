//! From a run file to the report's model.

mod backlog;
mod batch;
mod check;
mod clock;
mod facts;
mod figures;
mod findings;
mod fleet;
mod generator;
mod given_up;
mod health;
mod journey;
mod kept;
mod kept_counts;
mod label;
mod ledger;
mod limit;
mod lookup;
mod nothing_worked;
mod poison;
mod processes;
mod resource;
mod step;
mod thresholds;
mod timeline;
mod traffic;
pub(crate) mod traffic_timeline;
mod verdict;

use sojourn_analysis::conclusion;
use sojourn_record::{AmendmentRecord, RunFile};

use crate::{
    audit::AuditReport,
    model::{AmendmentRow, ReportModel, RequirementRow, RunIdentity, SCHEMA},
};
use lookup::Lookup;

impl ReportModel {
    /// Everything that can be said of a run, whole or cut off.
    pub fn from_run(run: &RunFile) -> Self {
        Self::held_against(run, Vec::new())
    }

    /// The same of a run that was held against requirements: one that was not met fails it.
    pub fn held_against(run: &RunFile, requirements: Vec<RequirementRow>) -> Self {
        let lookup = Lookup::new(run);
        let identity = identity(&lookup);
        let ledger = ledger::ledger(&lookup);
        let own = run.identity.journeys.iter().filter(|shape| shape.poison.is_none());
        let journeys: Vec<_> = own.map(|shape| journey::report(&lookup, shape)).collect();
        let poisoned = run.identity.journeys.iter().filter(|shape| shape.poison.is_some());
        let poison: Vec<_> = poisoned
            .zip(&ledger.poisoned)
            .filter_map(|(shape, line)| poison::report(&lookup, shape, line))
            .collect();
        let facts: Vec<_> =
            journeys.iter().map(|journey| facts::facts(&lookup, &ledger, journey)).collect();
        let mut conclusions = conclusion::conclude(&facts);
        let of_poison = poison.iter().map(poison::facts);
        conclusions.extend(of_poison.flat_map(|facts| conclusion::conclude_poison(&facts)));
        let resources = resource::reports(&lookup);
        conclusions.extend(resource::conclusions(&resources));
        conclusions.sort_by_key(|conclusion| conclusion.weight);
        let thresholds = thresholds::rows(run);
        let wanted = (thresholds.as_slice(), requirements.as_slice());
        let traffic = traffic::report(&lookup);
        let verdict = verdict::report(run, wanted, &ledger, (&journeys, &poison), traffic.as_ref());
        let notes = run.summary.as_ref().map_or_else(Vec::new, |summary| summary.notes.clone());
        Self {
            schema: SCHEMA,
            identity,
            verdict,
            thresholds,
            requirements,
            health: health::health(&lookup),
            ledger,
            backlogs: backlog::rows(&lookup),
            resources,
            limits: limit::rows(&lookup),
            checks: check::rows(&lookup),
            traffic,
            clocks: clock::reports(&lookup),
            conclusions,
            journeys,
            poison,
            kept: kept_counts::counts(&lookup),
            fleet: fleet::report(run),
            notes,
        }
    }
}

impl AuditReport {
    /// Every journey that the file keeps.
    pub fn from_run(run: &RunFile) -> Self {
        let lookup = Lookup::new(run);
        let journeys = run.identity.journeys.iter();
        let journeys = journeys.flat_map(|shape| {
            kept::every(&lookup, shape, journey::duration_p50_ns(&lookup, shape))
        });
        Self::new(identity(&lookup), kept_counts::counts(&lookup), journeys.collect())
    }
}

fn identity(lookup: &Lookup<'_>) -> RunIdentity {
    let identity = &lookup.run.identity;
    let summary = lookup.run.summary.as_ref();
    RunIdentity {
        name: identity.name.clone(),
        suite: identity.suite.clone(),
        run_id: identity.run_id.clone(),
        labels: identity.labels.clone(),
        start_unix_ns: identity.start_unix_ns,
        start: utc(identity.start_unix_ns),
        host: identity.host.clone(),
        version: identity.version.clone(),
        io: identity.io.clone(),
        load: identity.load.clone(),
        amendments: lookup.run.amendments.iter().map(amendment).collect(),
        warm_up_ns: identity.phases_ns[0],
        steady_ns: lookup.steady_ns(),
        arrivals_end_ns: summary.map(|summary| summary.arrivals_end_ns),
        end_ns: lookup.end_ns(),
        channels: identity.channels.clone(),
        plan: identity.plan.clone(),
    }
}

fn amendment(record: &AmendmentRecord) -> AmendmentRow {
    AmendmentRow { from_ns: record.from_ns, rate_factor: record.rate_factor, by: record.by.clone() }
}

/// An instant as `2026-11-21T03:15:11.000000000Z`.
pub(crate) fn rfc3339(unix_ns: u64) -> String {
    let words = utc(unix_ns);
    let (date, rest) = words.split_once(' ').unwrap_or((&words, ""));
    let time = rest.strip_suffix(" UTC").unwrap_or(rest);
    format!("{date}T{time}.{:09}Z", unix_ns % 1_000_000_000)
}

/// An instant as `2026-11-21 03:15:11 UTC`; the date by Hinnant's `civil_from_days`.
fn utc(unix_ns: u64) -> String {
    let seconds = unix_ns / 1_000_000_000;
    let (days, second_of_day) = (seconds / 86_400, seconds % 86_400);
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = (shifted_month + 2) % 12 + 1;
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC",
        second_of_day / 3_600,
        second_of_day / 60 % 60,
        second_of_day % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_instants_in_utc() {
        for (seconds, expected) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_795_230_911, "2026-11-21 03:15:11 UTC"),
            (4_102_444_799, "2099-12-31 23:59:59 UTC"),
        ] {
            assert_eq!(utc(seconds * 1_000_000_000), expected);
        }
        assert_eq!(rfc3339(951_782_400_000_000_007), "2000-02-29T00:00:00.000000007Z");
    }
}
