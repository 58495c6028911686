//! What the tests of several rooms share: plans from text, a target, taps that do as told, runs.

use std::{path::Path, time::Duration};

use smallvec::SmallVec;
use sojourn_broker::{BrokerError, Registry, Sink, Tap, TapInfo};
use sojourn_clock::now_ns;
use sojourn_ledger::{FinishClass, Finished, JourneyId, Phase};
use sojourn_plan::{Channel, Files, Overrides, Plan};
use sojourn_record::{RunFile, Summary};
use sojourn_testkit::{Reply, Request, Responder, Server, response};

use crate::{RunOptions, Stop};

/// A journey with one stage, twenty times in a second.
pub(crate) const PAYMENT: &str = r#"
name: payments
channels:
  events: { webhook: {} }
journeys:
  payment:
    root:
      http: { method: GET, url: / }
      key: "{{ uuid() }}"
    stages:
      - { name: created, on: events, match: { type: Created }, key: $.id }
    within: 2s
load:
  - { journey: payment, rate: 20/s, steady: 1s, drain: 1s }
health: { lag_p99_max: 5s, silent_max: 5s, tap_behind_max: 5s }
"#;

/// A plan from its text.
pub(crate) fn plan(text: &str, target: &str) -> Plan {
    struct NoFiles;
    impl Files for NoFiles {
        fn read(&self, _path: &Path) -> std::io::Result<String> {
            Err(std::io::ErrorKind::NotFound.into())
        }
        fn variable(&self, _name: &str) -> Option<String> {
            None
        }
    }
    let target = Some(target.to_owned());
    let overrides = Overrides { target, seed: Some(7), ..Overrides::default() };
    sojourn_plan::read("test.yaml", text, &NoFiles, &overrides)
        .unwrap_or_else(|errors| panic!("{errors}"))
}

/// A journey that completed at once, at instant 1,000, in a kind with one stage.
pub(crate) fn finished(journey: JourneyId, phase: Phase) -> Finished {
    Finished {
        journey,
        kind: 0,
        phase,
        class: FinishClass::Completed,
        key: None,
        t0_ns: 1_000,
        t1_ns: 1_000,
        t2_ns: Some(1_000),
        first_step_ended_ns: None,
        later_steps: SmallVec::new(),
        stage_ns: SmallVec::from_elem(1_000, 1),
        end_ns: 1_000,
        hops_without_predecessor: 0,
        negative_hops: 0,
        is_duplicated: false,
        refusal: None,
        reason: None,
        said: None,
        members: Vec::new(),
        readings: Vec::new(),
        label: None,
    }
}

/// A target that answers 200 to everything.
pub(crate) fn target() -> Server {
    struct Always;
    impl Responder for Always {
        fn respond(&mut self, _request: &Request<'_>) -> Reply {
            Reply::now(response(200, "text/plain", b"ok"))
        }
    }
    Server::start(Always).unwrap()
}

/// A tap made of what it does when it is polled: nothing, unless told.
pub(crate) struct FakeTap<F>(pub(crate) F);

impl<F: FnMut(&mut dyn Sink) + Send> Tap for FakeTap<F> {
    fn open(&mut self) -> Result<TapInfo, BrokerError> {
        Ok(TapInfo::default())
    }

    fn poll(&mut self, timeout: Duration, sink: &mut dyn Sink) -> Result<(), BrokerError> {
        std::thread::sleep(timeout);
        (self.0)(sink);
        Ok(())
    }

    fn watermark_ns(&self) -> u64 {
        now_ns()
    }
}

/// A registry whose webhook taps do this when they are polled.
pub(crate) fn taps<F>(polled: F) -> Registry
where
    F: FnMut(&mut dyn Sink) + Clone + Send + Sync + 'static,
{
    Registry::new()
        .with("webhook", move |_: &Channel| Ok(Box::new(FakeTap(polled.clone())) as Box<dyn Tap>))
}

/// A finished run.
pub(crate) struct Run {
    pub(crate) summary: Summary,
    pub(crate) file: RunFile,
}

impl Run {
    /// Its void causes as one text.
    pub(crate) fn causes(&self) -> String {
        let words = |cause: &sojourn_record::Cause| format!("{}: {}", cause.name, cause.detail);
        self.summary.causes.iter().map(words).collect::<Vec<_>>().join("\n")
    }
}

/// Makes a run and reads its file.
pub(crate) fn run(plan: &Plan, registry: &Registry, change: impl FnOnce(&mut RunOptions)) -> Run {
    let folder = sojourn_testkit::temp_dir().unwrap();
    let path = folder.path().join("run.sojourn");
    let mut options = RunOptions::new(path.clone(), "test-run".into());
    options.linger_ns = 0;
    change(&mut options);
    let summary = crate::run(plan, &options, registry, &Stop::default(), &mut |_| {})
        .unwrap_or_else(|error| panic!("{error}"));
    let file = RunFile::open(&path).unwrap_or_else(|error| panic!("{error}"));
    Run { summary, file }
}
