//! A run's figures against the system's own book.

use std::{collections::BTreeMap, path::Path};

use sojourn_clock::MILLISECOND_NS;
use sojourn_metrics::{SeriesPhase, names};
use sojourn_record::{JourneyRecord, RunFile, Summary, Verdict};
use sojourn_testkit::Output;

use super::{
    Way,
    orders::{Order, Orders, is_refused},
};

/// Gaps are told in tenths of a second.
const TOLD_WITHIN_NS: u64 = 100 * MILLISECOND_NS;

/// While a broker or the way to it was surely gone. Instants are CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault {
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
}

impl Fault {
    /// Whether an order was told of, first and last, during it.
    pub(super) fn has_all_of(&self, order: &Order) -> bool {
        let begun = order.attempts_ns.first().is_some_and(|at| *at > self.from_ns);
        begun && order.acked_ns.is_some_and(|at| at < self.to_ns)
    }

    /// Whether the telling of an order, from the first attempt to the acknowledgement, and this
    /// have an instant in common.
    fn meets(&self, order: &Order) -> bool {
        let first = order.attempts_ns.first().copied().unwrap_or(u64::MAX);
        first <= self.to_ns && order.acked_ns.is_none_or(|at| at >= self.from_ns)
    }
}

/// A run that has ended.
pub(super) struct Judged<'a> {
    way: &'a Way,
    orders: Vec<Order>,
    output: Output,
    file: RunFile,
    /// What the run file says of each order.
    journeys: BTreeMap<usize, JourneyRecord>,
}

impl<'a> Judged<'a> {
    /// Of a run whose file is there.
    #[track_caller]
    pub(super) fn new(way: &'a Way, orders: &Orders, output: Output, path: &Path) -> Self {
        let opened = RunFile::open(path);
        let file = opened.unwrap_or_else(|error| panic!("{}: {error}: {output}", way.name));
        let of = |record: &JourneyRecord| {
            let key = record.key.as_deref().unwrap_or_default();
            let number = orders.number(key);
            (number.unwrap_or_else(|| panic!("no order: {record:?}")), record.clone())
        };
        let journeys = file.journeys.iter().map(of).collect();
        Self { way, orders: orders.book(), output, file, journeys }
    }

    /// Every figure follows from the book; the verdict and its reason from what the broker can do.
    #[track_caller]
    pub(super) fn compare(&self, fault: Fault) {
        self.journeys_add_up();
        self.events_add_up();
        match self.way.reads_on {
            true => self.nothing_is_missing(fault),
            false => self.what_is_missing_is_said(fault),
        }
        for (number, record) in &self.journeys {
            self.journey_is_true(*number, record);
        }
    }

    /// Events came slowly, which stamps them late: the run is void for that, or because a connection
    /// was given up, and nothing is missing but what came meanwhile. Where nothing shows that they
    /// were sent before, the run believes them, and each of them came.
    #[track_caller]
    pub(super) fn compare_slowed(&self) {
        self.journeys_add_up();
        self.events_add_up();
        if !self.way.sees_late {
            self.all_came();
            self.journeys.iter().for_each(|(number, record)| self.journey_is_true(*number, record));
            return;
        }
        assert_eq!(self.output.code, Some(3), "{}", self.told());
        assert_eq!(self.summary().verdict, Verdict::Void, "{}", self.told());
        let mut gaps = Vec::new();
        for cause in &self.summary().causes {
            let gap = self.gap(&cause.detail);
            let is_of_it = gap.is_some() || cause.name == "tap behind" || is_silence(&cause.detail);
            assert!(is_of_it, "{cause:?}: {}", self.told());
            gaps.extend(gap);
        }
        for (number, record) in &self.journeys {
            let order = &self.orders[*number];
            let may_be_missing = gaps.iter().any(|gap| gap.meets(order));
            assert!(record.class != "lost" || may_be_missing, "{record:?}: {}", self.told());
            self.journey_is_true(*number, record);
        }
    }

    /// The system could not tell for a while and told again: what was late is late, and nothing is
    /// missing.
    #[track_caller]
    pub(super) fn compare_told_again(&self, fault: Fault) {
        self.journeys_add_up();
        self.events_add_up();
        self.all_came();
        let mut late = 0;
        for (number, record) in &self.journeys {
            self.journey_is_true(*number, record);
            let order = &self.orders[*number];
            if order.taken_ns > fault.from_ns && order.taken_ns < fault.to_ns {
                late += 1;
                let seen_ns = seen_ns(record).unwrap_or(0) + self.file.identity.start_monotonic_ns;
                assert!(seen_ns > fault.to_ns, "{record:?} {order:?} {fault:?}: {}", self.told());
            }
        }
        assert!(late > 0, "{fault:?}: {}", self.told());
    }

    fn summary(&self) -> &Summary {
        self.file.summary.as_ref().unwrap_or_else(|| panic!("no end: {}", self.output))
    }

    fn of_journeys(&self, metric: &str) -> u64 {
        self.file.store.sum(metric, &[], SeriesPhase::Steady)
    }

    fn of_events(&self, metric: &str) -> u64 {
        self.file.store.sum(metric, &[], SeriesPhase::Any)
    }

    /// Every order is a journey of one class, in the figures as in the records.
    #[track_caller]
    fn journeys_add_up(&self) {
        let orders = self.orders.len() as u64;
        assert_eq!(self.of_journeys(names::JOURNEYS_STARTED), orders, "{}", self.told());
        assert_eq!(self.journeys.len() as u64, orders, "{}", self.told());
        let mut sum = 0;
        for class in ["completed", "late", "lost", "failed", "root_failed", "in_flight_at_cutoff"] {
            let counted = self.of_journeys(&format!("journeys.{class}"));
            let recorded = self.journeys.values().filter(|record| record.class == class).count();
            assert_eq!(counted, recorded as u64, "{class}: {}", self.told());
            sum += counted;
        }
        assert_eq!(sum, orders, "{}", self.told());
    }

    /// Every event seen is of one class, is one that was published, and is this run's.
    #[track_caller]
    fn events_add_up(&self) {
        let seen = self.of_events(names::EVENTS_SEEN);
        let [matched, repeated, after] =
            [names::EVENTS_MATCHED, names::EVENTS_DUPLICATE, names::EVENTS_AFTER_FAILURE]
                .map(|metric| self.of_events(metric));
        assert_eq!(seen, matched + repeated + after, "{}", self.told());
        let reached = self.journeys.values().filter(|record| seen_ns(record).is_some()).count();
        assert_eq!(matched, reached as u64, "{}", self.told());
        let attempts: usize = self.orders.iter().map(|order| order.attempts_ns.len()).sum();
        assert!(seen <= attempts as u64, "{seen} seen, {attempts} published: {}", self.told());
    }

    /// An order that is said to be told of was, before it was seen to be, and as what it is.
    #[track_caller]
    fn journey_is_true(&self, number: usize, record: &JourneyRecord) {
        let kind = if is_refused(number) { "refused" } else { "placed" };
        let classes: &[&str] = match (seen_ns(record), kind) {
            (None, _) => &["lost"],
            (Some(_), "refused") => &["failed"],
            (Some(_), _) => &["completed", "late"],
        };
        assert!(classes.contains(&record.class.as_str()), "{record:?}: {}", self.told());
        for stage in record.stages.iter().filter(|stage| stage.seen_ns.is_some()) {
            assert_eq!(stage.name, kind, "{record:?}");
        }
        if let Some(seen_ns) = seen_ns(record) {
            let seen_ns = seen_ns + self.file.identity.start_monotonic_ns;
            let published_ns = self.orders[number].attempts_ns.first().copied();
            assert!(published_ns.is_some_and(|at| at < seen_ns), "{record:?}: {published_ns:?}");
        }
    }

    /// The run passes, and each order is what it was told to be.
    #[track_caller]
    fn all_came(&self) {
        assert_eq!(self.output.code, Some(0), "{}", self.told());
        assert_eq!(self.summary().verdict, Verdict::Pass, "{}", self.told());
        let refused = (0..self.orders.len()).filter(|number| is_refused(*number)).count();
        let placed = self.orders.len() - refused;
        assert_eq!(self.of_journeys(names::JOURNEYS_COMPLETED), placed as u64, "{}", self.told());
        assert_eq!(self.of_journeys(names::JOURNEYS_FAILED), refused as u64, "{}", self.told());
    }

    /// The broker kept everything: nothing is missing, and the gap is said.
    #[track_caller]
    fn nothing_is_missing(&self, fault: Fault) {
        self.all_came();
        let words = "the broker had kept everything, and it was read on: ";
        let notes = self.summary().notes.iter().filter_map(|note| {
            let (gap, late) = note.split_once(words)?;
            let late: usize = late.split_once(' ')?.0.parse().ok()?;
            Some((self.gap(gap)?, late))
        });
        let notes: Vec<_> = notes.collect();
        assert!(
            notes.iter().any(|(gap, _)| gap.from_ns <= fault.to_ns && gap.to_ns >= fault.from_ns),
            "the gap is not said: {fault:?} {notes:?}: {}",
            self.told()
        );
        let late: usize = notes.iter().map(|(_, late)| late).sum();
        let told = self.orders.iter().filter(|order| fault.has_all_of(order)).count();
        assert!(late >= told, "{late} late, {told} told of meanwhile: {}", self.told());
        self.report_says(words);
    }

    /// The broker kept nothing: the run is void for that reason alone, what was told of while the
    /// tap was away is not seen, and nothing else is missing.
    #[track_caller]
    fn what_is_missing_is_said(&self, fault: Fault) {
        assert_eq!(self.output.code, Some(3), "{}", self.told());
        assert_eq!(self.summary().verdict, Verdict::Void, "{}", self.told());
        let words = ": events may have been missed";
        let causes = &self.summary().causes;
        let gaps = causes.iter().map(|cause| {
            let gap = cause.detail.strip_suffix(words).and_then(|text| self.gap(text));
            gap.unwrap_or_else(|| panic!("{cause:?}: {}", self.told()))
        });
        let gaps: Vec<_> = gaps.collect();
        assert!(
            gaps.iter().any(|gap| gap.from_ns <= fault.to_ns && gap.to_ns >= fault.from_ns),
            "the gap is not said: {fault:?} {gaps:?}: {}",
            self.told()
        );
        self.report_says(words);
        for (number, record) in &self.journeys {
            let order = &self.orders[*number];
            let is_lost = record.class == "lost";
            if is_lost {
                assert!(
                    gaps.iter().any(|gap| gap.meets(order)),
                    "lost outside of {gaps:?}: {record:?} {order:?}: {}",
                    self.told()
                );
            }
            assert!(
                is_lost || !fault.has_all_of(order),
                "nobody can have seen it: {record:?} {order:?} {fault:?}: {}",
                self.told()
            );
        }
    }

    /// `tap events had no connection for 1.2 s from second 3.4` as instants, at their widest.
    fn gap(&self, text: &str) -> Option<Fault> {
        let (_, text) = text.split_once("tap events had no connection for ")?;
        let (took, from) = text.split_once(" s from second ")?;
        let from: String =
            from.chars().take_while(|it| it.is_ascii_digit() || *it == '.').collect();
        let ns = |text: &str| text.parse::<f64>().ok().map(|seconds| (seconds * 1e9) as u64);
        let (took_ns, from_ns) = (ns(took)?, ns(&from)?);
        let from_ns = self.file.identity.start_monotonic_ns + from_ns;
        let to_ns = from_ns + took_ns + TOLD_WITHIN_NS;
        Some(Fault { from_ns: from_ns - TOLD_WITHIN_NS, to_ns })
    }

    #[track_caller]
    fn report_says(&self, words: &str) {
        let report = self.output.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(report.contains(words.trim()), "the report does not say it: {}", self.told());
    }

    /// What to read when it is not as it should be.
    fn told(&self) -> String {
        format!("{}: {}", self.way.name, self.output)
    }
}

/// Whether it says that a tap was silent for too long.
fn is_silence(detail: &str) -> bool {
    detail.starts_with("tap events said nothing for more than ")
}

/// When the order was seen to be placed or refused, from the run's start.
fn seen_ns(record: &JourneyRecord) -> Option<u64> {
    record.stages.iter().find_map(|stage| stage.seen_ns)
}
