//! What is said before anything is read, and what is read of this very process.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crossbeam_channel::bounded;
use sojourn_plan::Resource;

use super::*;

fn open(resources: Vec<Resource>) -> Result<Resources, RunError> {
    let plan = Plan { resources, ..Plan::default() };
    Resources::open(&plan, &TlsOptions::default())
}

fn own(name: Option<&str>) -> Resource {
    let pid = std::process::id();
    let named = name.map_or_else(|| pid.to_string(), |name| format!("{name}={pid}"));
    Resource::process(&named).unwrap()
}

#[test]
fn names_are_the_processes_own_and_each_is_one_resources() {
    let two = open(vec![own(None), own(Some("me"))]).unwrap();
    assert_eq!(two.described.len(), 2);
    assert_eq!(two.described[1].0, "me");
    assert!(two.described[0].1.starts_with("process "), "{:?}", two.described);
    let twice = open(vec![own(None), own(None)]).err().unwrap();
    assert!(twice.message.starts_with("two resources are called"), "{twice}");
    assert!(open(Vec::new()).unwrap().is_empty());
}

#[test]
fn a_query_that_nobody_answers_is_refused() {
    let refused = open(vec![Resource::query("queue=up").unwrap()]).err().unwrap();
    assert_eq!(refused.message, "query queue: nothing says where Prometheus is");
}

#[test]
fn each_second_of_the_run_has_its_figures_and_the_start_has_none() {
    let resources = open(vec![own(Some("me"))]).unwrap();
    let (reports, from_reports) = bounded(100);
    let (notes, _from_notes) = bounded(10);
    let (start, started) = bounded(1);
    let stop = Arc::new(AtomicBool::new(false));
    let spec = ResourcesSpec {
        resources,
        number: 3,
        reports,
        notes,
        start: started,
        stop: Arc::clone(&stop),
    };
    let start_ns = now_ns();
    start.send(start_ns).unwrap();
    let thread = std::thread::spawn(move || run(spec));
    let TapReport::Snapshot(first) = from_reports.recv_timeout(Duration::from_secs(30)).unwrap()
    else {
        panic!("a snapshot");
    };
    stop.store(true, Ordering::SeqCst);
    thread.join().unwrap();
    assert_eq!((first.source, first.sequence, first.start_ns), (3, 0, start_ns));
    assert!(first.end_ns >= start_ns + SECOND_NS);
    let has = |figure: &str| {
        first.new_series.iter().any(|(_, _, key)| key.tag(names::FIGURE) == Some(figure))
    };
    for figure in [names::CORES, names::MEMORY_BYTES, names::THREADS, names::BUSIEST_THREAD_CORES] {
        assert!(has(figure), "{figure}: {:?}", first.new_series);
    }
    assert!(!has(names::VALUE));
}
