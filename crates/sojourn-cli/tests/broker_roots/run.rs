//! A run whose journeys start with a message, and what must be in its file.

use sojourn_broker::{Connect, Registry};
use sojourn_metrics::{SeriesKey, SeriesPhase, names};
use sojourn_plan::Channel;
use sojourn_record::{IntervalRow, RunFile, Verdict};
use sojourn_report::{ReportModel, model::Statistic};
use sojourn_testkit::{Output, sojourn, temp_dir};

use crate::common::{alone, plan, registry};

/// Journeys of a run, and so messages published: 50 a second for two seconds.
pub(super) const JOURNEYS: u64 = 100;

/// What must never be seen is waited for until the deadline: so long the run goes on after its last
/// message, and reads backlogs. How late a busy machine is is not what is looked at here.
const PLAN: &str = r#"
name: roots
channels:
  roots: { CHANNEL }
journeys:
  order:
    root:
      key: "{{ uuid() }}"
      publish:
        to: roots
        key: "{{ key }}"
        headers: { type: Placed }
        json: { id: "{{ key }}", type: Placed, number: "{{ seq() }}" }
    stages:
      - { name: seen, on: roots, match: { type: Placed }, key: $.id }
      - { name: refused, on: roots, match: { type: Refused }, key: $.id, never: true }
    within: 4s
load:
  - { rate: 50/s, steady: 2s, drain: 30s }
thresholds: [lost == 0, duplicates == 0]
health: { lag_p99_max: 30s, tap_behind_max: 30s, silent_max: 30s, missed_max: 100% }
"#;

/// The channel of the plan, such as `redis: { … }, backlog: [billing]`.
pub(super) fn channel(settings: &str) -> Channel {
    plan(&text(settings), &[]).channels.remove(0)
}

/// Makes what the channel needs at its broker, and what a group of this name needs of it.
#[track_caller]
pub(super) fn provision(settings: &str, group: &str) {
    with_connector(settings, |connector, channel| connector.provision(channel, group).unwrap());
}

/// Something with a channel's connector.
pub(super) fn with_connector<T>(
    settings: &str,
    act: impl FnOnce(&dyn Connect, &Channel) -> T,
) -> T {
    let (registry, channel): (Registry, Channel) = (registry(), channel(settings));
    act(registry.of(&channel).unwrap(), &channel)
}

fn text(settings: &str) -> String {
    PLAN.replace("CHANNEL", settings)
}

/// A run that has ended.
pub(super) struct Finished {
    file: RunFile,
    output: Output,
    /// The file's samples are read when they are asked for.
    _folder: sojourn_testkit::TempDir,
}

/// Runs the plan with the real command: every message that was published came, once.
#[track_caller]
pub(super) fn rooted(settings: &str) -> Finished {
    rooted_with(settings, &[])
}

/// The same with further words.
#[track_caller]
pub(super) fn rooted_with(settings: &str, further: &[&str]) -> Finished {
    let folder = temp_dir().unwrap();
    std::fs::write(folder.path().join("plan.yaml"), text(settings)).unwrap();
    let output = {
        let _turn = alone();
        let words = ["run", "plan.yaml", "--quiet", "--keep", "all", "--output", "run.sojourn"];
        sojourn(words.iter().chain(further)).in_dir(folder.path()).run().unwrap()
    };
    let opened = RunFile::open(&folder.path().join("run.sojourn"));
    let file = opened.unwrap_or_else(|error| panic!("{error}: {output}"));
    let finished = Finished { file, output, _folder: folder };
    finished.is_whole();
    finished
}

impl Finished {
    #[track_caller]
    fn is_whole(&self) {
        let Self { file, output, .. } = self;
        assert_eq!(output.code, Some(0), "{output}");
        let summary = file.summary.as_ref().unwrap();
        assert_eq!(summary.verdict, Verdict::Pass, "{output}");
        let of_journeys = |metric| file.store.sum(metric, &[], SeriesPhase::Steady);
        for (metric, expected) in [
            (names::JOURNEYS_SCHEDULED, JOURNEYS),
            (names::JOURNEYS_STARTED, JOURNEYS),
            (names::JOURNEYS_COMPLETED, JOURNEYS),
            (names::STEP_REQUESTS, JOURNEYS),
            (names::STAGE_REACHED, JOURNEYS),
            (names::STAGE_MATCHED, JOURNEYS),
            (names::JOURNEYS_MISSED, 0),
            (names::JOURNEYS_LATE, 0),
            (names::JOURNEYS_LOST, 0),
            (names::JOURNEYS_FAILED, 0),
            (names::JOURNEYS_ROOT_FAILED, 0),
            (names::STEP_FAILED, 0),
            (names::STAGE_DUPLICATES, 0),
        ] {
            assert_eq!(of_journeys(metric), expected, "{metric}: {output}");
        }
        let root = [(names::STEP, "root")];
        let roots = file.store.sum(names::STEP_REQUESTS, &root, SeriesPhase::Steady);
        assert_eq!(roots, JOURNEYS, "{output}");
        let of_events = |metric| file.store.sum(metric, &[], SeriesPhase::Any);
        for (metric, expected) in [
            (names::EVENTS_SEEN, JOURNEYS),
            (names::EVENTS_MATCHED, JOURNEYS),
            (names::EVENTS_DUPLICATE, 0),
            (names::EVENTS_ORPHAN, 0),
            (names::EVENTS_UNATTRIBUTED, 0),
            (names::EVENTS_UNDECODABLE, 0),
        ] {
            assert_eq!(of_events(metric), expected, "{metric}: {output}");
        }
        // Each journey is there by a key of its own.
        let keys = file.journeys.iter().map(|journey| journey.key.clone().unwrap());
        let keys: std::collections::BTreeSet<String> = keys.collect();
        assert_eq!(keys.len() as u64, JOURNEYS, "{output}");
    }

    /// What waits is on the timeline: it never falls, since nobody takes it, and the last reading is
    /// all that was published. The report has the same.
    #[track_caller]
    pub(super) fn all_waits(&self, of: &str, figure: &str) {
        let values = self.readings(of, figure);
        let told = || format!("{of}, {figure}: {values:?}: {}", self.output);
        assert!(values.len() >= 4, "a reading each second: {}", told());
        assert!(values.is_sorted(), "nobody takes it: {}", told());
        assert!(values[0] < JOURNEYS as f64, "read from the beginning: {}", told());
        assert_eq!(values.last(), Some(&(JOURNEYS as f64)), "{}", told());

        let report = ReportModel::from_run(&self.file);
        let mut rows =
            report.backlogs.iter().filter(|row| (&*row.of, &*row.figure) == (of, figure));
        let row = rows.next().unwrap_or_else(|| panic!("no row: {}", told()));
        assert_eq!((row.channel.as_str(), row.last), ("roots", JOURNEYS as f64), "{}", told());
        assert_eq!(row.max, JOURNEYS as f64, "{}", told());
        let timeline = &report.journeys[0].timeline;
        let line = timeline.find("backlog", &format!("{of}: {figure}"), Statistic::Max);
        let line = line.unwrap_or_else(|| panic!("no line: {}", told()));
        let drawn: Vec<f64> = line.values.iter().copied().flatten().collect();
        assert_eq!(drawn.last(), Some(&(JOURNEYS as f64)), "{drawn:?}: {}", told());
        assert!(drawn.is_sorted(), "{drawn:?}: {}", told());
        let words = self.output.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains(&format!("roots, {of} {figure} {JOURNEYS} {JOURNEYS}")),
            "{}",
            told()
        );
    }

    /// What was read of a backlog, in its order: the last of each interval that has one.
    pub(super) fn readings(&self, of: &str, figure: &str) -> Vec<f64> {
        let tags = [(names::CHANNEL, "roots"), (names::OF, of), (names::FIGURE, figure)];
        let wanted = SeriesKey::new(names::BACKLOG, &tags, SeriesPhase::Any);
        let rows = self.file.intervals.iter().flat_map(|interval| &interval.rows);
        let last = rows.filter(|(key, _)| *key == wanted).map(|(_, row)| match row {
            IntervalRow::Gauge([last, ..]) => *last,
            row => panic!("no gauge: {row:?}"),
        });
        last.collect()
    }
}
