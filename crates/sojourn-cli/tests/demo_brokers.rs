//! `sojourn demo --broker … --url …`: the real command on each broker's real server, and the demo's
//! own log of what happened.

use sojourn_conformance::runs_slow;
use sojourn_demo::{JourneyEnd, TruthLog};
use sojourn_metrics::{SeriesPhase, names};
use sojourn_record::{RunFile, Verdict};
use sojourn_testkit::services::{ElasticMq, Kafka, Mosquitto, Nats, Postgres, RabbitMq, Redis};
use sojourn_testkit::{sojourn, temp_dir};

use crate::common::{OF_A_BUSY_MACHINE, alone};

/// Runs the demo for a moment and compares its figures with its log.
#[track_caller]
fn carried(broker: &str, url: &str) {
    let _turn = alone();
    let folder = temp_dir().unwrap();
    let words = ["demo", "--broker", broker, "--url", url, "--rate", "30/s", "--warmup", "500ms"];
    let files = ["--output", "run.sojourn", "--truth", "truth.ndjson"];
    let program = sojourn(words).args(["--steady", "1500ms", "--quiet"]).args(files);
    let output = program.in_dir(folder.path()).run().unwrap();

    let opened = RunFile::open(&folder.path().join("run.sojourn"));
    let file = opened.unwrap_or_else(|error| panic!("{broker}: {error}: {output}"));
    let summary = file.summary.as_ref().expect("a whole run");
    // What is left to a busy machine is how late the generator was.
    let of_lag = |text: &str| text.starts_with("lag.");
    let held = summary.thresholds.iter().filter(|it| !of_lag(&it.threshold.text));
    held.for_each(|it| assert!(it.held, "{broker}: {it:?}: {output}"));
    let on_time = summary.thresholds.iter().all(|it| it.held);
    match summary.verdict {
        Verdict::Pass => assert_eq!(output.code, Some(0), "{broker}: {output}"),
        Verdict::Fail => assert!(!on_time && output.code == Some(99), "{broker}: {output}"),
        Verdict::Void => {
            // The thresholds were looked at.
            let of_machine = summary.causes.iter().all(|cause| {
                cause.name == "threshold" || OF_A_BUSY_MACHINE.contains(&&*cause.name)
            });
            assert!(of_machine && output.code == Some(3), "{broker}: {output}");
        }
    }

    let truth = TruthLog::read(folder.path().join("truth.ndjson")).unwrap();
    assert!(truth.complete && truth.problems.is_empty(), "{broker}: {:?}", truth.problems);
    let ends = truth.journeys.values().map(|journey| journey.end());
    let completed = ends.filter(|end| *end == JourneyEnd::Completed).count() as u64;
    let of = |metric: &str| {
        let of_phase = |phase| file.store.sum(metric, &[("journey", "payment")], phase);
        of_phase(SeriesPhase::WarmUp) + of_phase(SeriesPhase::Steady)
    };
    assert!(completed > 20, "{broker}: {completed} completed: {output}");
    assert_eq!(completed, truth.journeys.len() as u64, "{broker}: {output}");
    assert_eq!(of(names::JOURNEYS_STARTED), completed, "{broker}: {output}");
    assert_eq!(of(names::JOURNEYS_COMPLETED), completed, "{broker}: {output}");
    assert!(output.stderr.contains(broker), "{output}");
}

#[test]
fn by_amqp() {
    carried("amqp", &RabbitMq::shared().unwrap().url());
}

#[test]
fn by_kafka() {
    carried("kafka", &Kafka::shared().unwrap().bootstrap());
}

#[test]
fn by_mqtt() {
    carried("mqtt", &Mosquitto::start().unwrap().url());
}

#[test]
fn by_nats() {
    carried("nats", &Nats::start().unwrap().url());
}

#[test]
fn by_postgres() {
    carried("postgres", &Postgres::start().unwrap().url());
}

#[test]
fn by_redis() {
    carried("redis", &Redis::start().unwrap().url());
}

#[test]
fn by_sqs() {
    if runs_slow("the demo by SQS") {
        carried("sqs", &ElasticMq::shared().unwrap().url());
    }
}
