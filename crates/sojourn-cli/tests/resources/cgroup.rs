//! Control groups: a folder of files that change as the kernel's would.

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sojourn_clock::now_ns;
use sojourn_metrics::names;
use sojourn_plan::Resource;
use sojourn_testkit::temp_dir;

use super::{Ran, run, text};
use crate::{common::alone, mock::Mocked};

/// A group that uses 1.5 of its 2 cores and is throttled in a quarter of its periods.
fn write(folder: &Path, elapsed_ns: u64) {
    let used_us = elapsed_ns * 3 / 2 / 1_000;
    let periods = elapsed_ns / 100_000_000 * 4;
    let stat = format!(
        "usage_usec {used_us}\nnr_periods {periods}\nnr_throttled {}\nthrottled_usec {}\n",
        periods / 4,
        elapsed_ns / 2_000
    );
    // Whole at every instant, as the kernel's are.
    fs::write(folder.join("next"), stat).unwrap();
    fs::rename(folder.join("next"), folder.join("cpu.stat")).unwrap();
}

#[test]
fn a_groups_counters_become_cores_throttling_and_a_limit() {
    let _turn = alone();
    let mock = Mocked::start(&[], &[]);
    let folder = temp_dir().unwrap();
    let group = folder.path().join("relay.service");
    fs::create_dir(&group).unwrap();
    fs::write(group.join("cpu.max"), "200000 100000\n").unwrap();
    fs::write(group.join("memory.current"), "123000000\n").unwrap();
    let start_ns = now_ns();
    write(&group, 0);
    let stop = Arc::new(AtomicBool::new(false));
    let (until, at) = (Arc::clone(&stop), group.clone());
    let writer = std::thread::spawn(move || {
        while !until.load(Ordering::Relaxed) {
            write(&at, now_ns() - start_ns);
            std::thread::sleep(Duration::from_millis(2));
        }
    });
    let resource = Resource::cgroup(group.to_str().unwrap()).unwrap();
    let plan = text(&mock.address, "20/s", 6);
    let cores = |ran: &Ran| ran.resource("relay.service").processor.as_ref().unwrap().cores_mean;
    // Who writes the counters may be late on a busy machine: some run of three has them in time.
    let mut runs = (0..3).map(|_| run(&plan, vec![resource.clone()], &mut |_| {}));
    let ran = runs.find(|ran| (cores(ran) - 1.5).abs() < 0.05).expect("1.5 cores");
    stop.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    let report = ran.resource("relay.service");
    let processor = report.processor.as_ref().unwrap();
    assert!((processor.throttled_share.unwrap() - 0.25).abs() < 0.02, "{processor:?}");
    // On a machine with two cores or fewer, two are no limit of its own.
    let machine = ran.figures("relay.service", names::MACHINE_CORES)[0].2;
    assert_eq!(processor.limit_cores, Some(machine.min(2.0)));
    assert_eq!(report.memory.as_ref().unwrap().mean_bytes, 123e6);
    let said = ran.model.conclusions.iter().find(|it| it.definition == "saturated-resource");
    let said = &said.expect("a quarter of its periods").text;
    assert!(said.contains("relay.service was throttled in 25 % of its periods"), "{said}");
}
