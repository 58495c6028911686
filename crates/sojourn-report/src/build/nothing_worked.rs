//! Whether nothing at all worked: then a run without thresholds passes, and measured only failures.

use sojourn_analysis::words;

use crate::model::{JourneyCounts, StatusRow, TrafficReport};

/// Statuses that are named, the most frequent first.
const STATUSES_MAX: usize = 3;

/// What is to be said under the verdict, without a full stop: every request failed, or no journey
/// completed. `None` where anything worked, and where nothing was tried.
pub(super) fn warning(steady: &JourneyCounts, traffic: Option<&TrafficReport>) -> Option<String> {
    every_request(traffic).or_else(|| no_journey(steady))
}

fn every_request(traffic: Option<&TrafficReport>) -> Option<String> {
    let traffic = traffic.filter(|it| it.requests > 0 && it.failed >= it.requests)?;
    let mut statuses: Vec<&StatusRow> = traffic.statuses.iter().collect();
    statuses.sort_by_key(|row| std::cmp::Reverse(row.count));
    let named = statuses.iter().take(STATUSES_MAX);
    let named = named.map(|row| format!("{} × {}", words::count(row.count), row.status));
    let mut named: Vec<String> = named.collect();
    named.extend((statuses.len() > STATUSES_MAX).then(|| "others".to_owned()));
    let all = words::count(traffic.requests);
    Some(format!("every request failed: {all} of {all} ({})", words::list(&named)))
}

fn no_journey(steady: &JourneyCounts) -> Option<String> {
    let ended = steady.started.saturating_sub(steady.in_flight_at_cutoff);
    if ended == 0 || steady.completed + steady.late > 0 {
        return None;
    }
    let how = [(steady.failed + steady.root_failed, "failed"), (steady.lost, "lost")];
    let how = how.into_iter().filter(|(count, _)| *count > 0);
    let how: Vec<String> =
        how.map(|(count, what)| format!("{} {what}", words::count(count))).collect();
    let journeys = words::plural(ended, "journey", "journeys");
    Some(format!("no journey completed: of {journeys} that ended {}", how.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traffic(failed: u64, statuses: &[(&str, u64)]) -> TrafficReport {
        let row = |(status, count): &(&str, u64)| StatusRow {
            status: (*status).to_owned(),
            count: *count,
            ..StatusRow::default()
        };
        TrafficReport {
            requests: statuses.iter().map(|(_, count)| count).sum(),
            failed,
            statuses: statuses.iter().map(row).collect(),
            ..TrafficReport::default()
        }
    }

    #[test]
    fn requests_that_all_failed_are_named_by_what_became_of_them() {
        let counts = JourneyCounts { started: 3, completed: 3, ..JourneyCounts::default() };
        let all = [("500", 5), ("connect", 1_200), ("502", 4), ("503", 2)];
        assert_eq!(
            warning(&counts, Some(&traffic(1_211, &all))).unwrap(),
            "every request failed: 1,211 of 1,211 (1,200 × connect, 5 × 500, 4 × 502 and others)"
        );
        assert_eq!(warning(&counts, Some(&traffic(1_210, &all))), None);
        assert_eq!(warning(&counts, Some(&traffic(0, &[]))), None);
        assert_eq!(warning(&counts, None), None);
    }

    #[test]
    fn journeys_that_all_failed_are_told_where_requests_did_not() {
        let failed = JourneyCounts {
            started: 10,
            failed: 3,
            root_failed: 2,
            lost: 4,
            in_flight_at_cutoff: 1,
            ..JourneyCounts::default()
        };
        assert_eq!(
            warning(&failed, Some(&traffic(0, &[("200", 10)]))).unwrap(),
            "no journey completed: of 9 journeys that ended 5 failed, 4 lost"
        );
        assert_eq!(warning(&JourneyCounts { late: 1, ..failed }, None), None);
        let in_flight =
            JourneyCounts { started: 4, in_flight_at_cutoff: 4, ..JourneyCounts::default() };
        assert_eq!(warning(&in_flight, None), None);
        assert_eq!(warning(&JourneyCounts::default(), None), None);
    }
}
