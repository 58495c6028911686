//! Resources of the system's own, read beside a real load: a process's processor time against what
//! the test itself reads of it, one that dies, a control group's files, a Prometheus that answers
//! what it is told to.

mod cgroup;
mod process;
mod prometheus;

use std::net::SocketAddr;

use sojourn_engine::{Progress, RunOptions, Stop};
use sojourn_metrics::names;
use sojourn_plan::Resource;
use sojourn_record::{IntervalRow, RunFile, Summary};
use sojourn_report::{ReportModel, model::ResourceReport};

use crate::common::{plan, registry};

/// A journey of one request, to a mock that listens here.
fn text(address: &SocketAddr, rate: &str, seconds: u64) -> String {
    format!(
        "name: resources\ntarget: http://{address}\njourneys:\n  get: {{ root: {{ http: GET / }} \
         }}\nload: {{ rate: {rate}, steady: {seconds}s, drain: 20s }}\nhealth: {{ lag_p99_max: 5s, \
         silent_max: 5s, missed_max: 50% }}\n"
    )
}

/// A finished run.
struct Ran {
    file: RunFile,
    model: ReportModel,
    summary: Summary,
}

impl Ran {
    fn resource(&self, name: &str) -> &ResourceReport {
        let found = self.model.resources.iter().find(|it| it.name == name);
        found.unwrap_or_else(|| panic!("no {name}: {:?}", self.model.resources))
    }

    /// A figure in each second that has one: start and end of the second, and the figure.
    fn figures(&self, name: &str, figure: &str) -> Vec<(u64, u64, f64)> {
        let of_row = |row: &IntervalRow| match row {
            IntervalRow::Gauge([last, _, _]) => Some(*last),
            _ => None,
        };
        let intervals = self.file.intervals.iter();
        intervals
            .filter_map(|interval| {
                let (_, row) = interval.rows.iter().find(|(key, _)| {
                    key.metric == names::RESOURCE
                        && key.tag(names::RESOURCE_NAME) == Some(name)
                        && key.tag(names::FIGURE) == Some(figure)
                })?;
                Some((interval.start_ns, interval.end_ns, of_row(row)?))
            })
            .collect()
    }
}

/// A run of this text with these resources besides its own; `each` is called about once a second.
fn run(text: &str, resources: Vec<Resource>, each: &mut dyn FnMut(&Progress<'_>)) -> Ran {
    let mut plan = plan(text, &[]);
    plan.resources.extend(resources);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.sojourn");
    let options = RunOptions::new(path.clone(), "test-run".into());
    let summary = sojourn_engine::run(&plan, &options, &registry(), &Stop::default(), each)
        .unwrap_or_else(|error| panic!("{error}"));
    let file = RunFile::open(&path).unwrap();
    Ran { model: ReportModel::from_run(&file), file, summary }
}
