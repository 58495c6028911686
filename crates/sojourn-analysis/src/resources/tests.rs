//! When something is said of a resource, and when nothing.

use super::*;

/// Deterministic noise in −1..1.
fn noise(k: usize) -> f64 {
    let mixed = (k as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn seconds(count: usize, second: impl Fn(usize) -> ResourceSecond) -> Vec<ResourceSecond> {
    (0..count)
        .map(|at| ResourceSecond {
            start_ns: at as u64 * 1_000_000_000,
            end_ns: (at as u64 + 1) * 1_000_000_000,
            ..second(at)
        })
        .collect()
}

fn uses(cores: f64) -> ResourceSecond {
    ResourceSecond {
        cores: Some(cores),
        limit_cores: Some(2.0),
        machine_cores: Some(8.0),
        ..ResourceSecond::default()
    }
}

#[test]
fn processor_time_is_shared_out_among_the_journeys_completed() {
    let busy = seconds(30, |at| ResourceSecond {
        completed: 150,
        ..uses(if at % 2 == 0 { 0.5 } else { 1.5 })
    });
    let found = processor(&busy).expect("thirty readings");
    assert_eq!((found.seconds, found.cores_max), (30, 1.5));
    assert!((found.cores_mean - 1.0).abs() < 1e-9);
    assert!((found.cpu_ns_per_journey.unwrap() - 1e9 / 150.0).abs() < 1.0);
    assert!((found.journeys_per_core_s.unwrap() - 150.0).abs() < 1e-6);
    assert_eq!((found.limit_cores, found.limit_share), (Some(2.0), Some(0.5)));
    assert!(!found.is_machine_limit);
    // A second without a reading has journeys without a price.
    let half = seconds(30, |at| ResourceSecond {
        cores: (at % 2 == 0).then_some(1.0),
        completed: 100,
        ..uses(0.0)
    });
    assert!((processor(&half).unwrap().cpu_ns_per_journey.unwrap() - 1e7).abs() < 1.0);
}

#[test]
fn few_journeys_few_seconds_and_no_reading_have_no_price() {
    let of = |count, completed| {
        let all = seconds(count, |_| ResourceSecond { completed, ..uses(1.0) });
        processor(&all).unwrap().cpu_ns_per_journey
    };
    assert_eq!(of(10, 1), None);
    assert_eq!(of(3, 100), None);
    assert!(of(4, 5).is_some());
    assert_eq!(processor(&[]), None);
    assert_eq!(processor(&seconds(30, |_| ResourceSecond::default())), None);
    assert_eq!(saturated(&seconds(30, |_| ResourceSecond::default())), None);
    assert_eq!(memory(&seconds(30, |_| ResourceSecond::default())), None);
}

#[test]
fn a_resource_at_its_limit_is_what_limits() {
    let at_limit = seconds(30, |at| uses(if at < 24 { 1.98 } else { 1.2 }));
    let found = saturated(&at_limit).expect("24 of 30 s at the limit");
    assert_eq!((found.by, found.seconds, found.of_seconds), (SaturatedBy::Limit, 24, 30));
    assert_eq!(
        saturated_sentence("payments", &found),
        "payments used 1.98 of its 2 cores for 24 of 30 s: processor time is what limits it"
    );
    let of_machine = seconds(10, |_| ResourceSecond {
        limit_cores: None,
        machine_cores: Some(2.0),
        ..uses(1.95)
    });
    let said = saturated_sentence("payments", &saturated(&of_machine).unwrap());
    assert!(said.starts_with("payments used 1.95 of the 2 cores of its machine for 10"), "{said}");
}

#[test]
fn one_that_is_below_its_limit_is_not_spoken_of() {
    // Nearly there, all the time.
    assert_eq!(saturated(&seconds(60, |at| uses(1.86 + 0.03 * noise(at)))), None);
    // There, but for less than a third of the time.
    assert_eq!(saturated(&seconds(30, |at| uses(if at < 9 { 2.0 } else { 1.0 }))), None);
    // There, for too short a time to tell.
    assert_eq!(saturated(&seconds(3, |_| uses(2.0))), None);
    // At a limit that is not known.
    let unknown =
        seconds(30, |_| ResourceSecond { limit_cores: None, machine_cores: None, ..uses(2.0) });
    assert_eq!(saturated(&unknown), None);
}

#[test]
fn a_single_busy_thread_is_a_limit_of_its_own() {
    let with_thread = |cores: f64, busiest: f64| {
        seconds(12, move |_| ResourceSecond {
            busiest_thread_cores: Some(busiest),
            limit_cores: None,
            ..uses(cores)
        })
    };
    let found = saturated(&with_thread(1.04, 0.99)).expect("one thread all the time");
    assert_eq!(found.by, SaturatedBy::Thread);
    assert!(
        saturated_sentence("api", &found).starts_with("one thread of api used 0.990 of a core")
    );
    // Of several busy ones none is the limit.
    assert_eq!(saturated(&with_thread(3.0, 0.99)), None);
    assert_eq!(saturated(&with_thread(0.9, 0.9)), None);
}

#[test]
fn throttling_is_told_above_a_tenth_of_the_periods() {
    let throttled = |share: f64| {
        seconds(20, move |_| ResourceSecond {
            throttled_share: Some(share),
            throttled_s: Some(0.5),
            ..uses(1.1)
        })
    };
    assert_eq!(saturated(&throttled(0.09)), None);
    let found = saturated(&throttled(0.34)).expect("a third of the periods");
    assert_eq!(
        saturated_sentence("api", &found),
        "api was throttled in 34 % of its periods, while it used 1.10 cores of 2: its quota is \
         what limits it"
    );
    let total = processor(&throttled(0.34)).unwrap();
    assert!((total.throttled_ns.unwrap() - 10e9).abs() < 1.0);
    assert_eq!(processor(&seconds(9, |_| uses(1.0))).unwrap().throttled_ns, None);
}

#[test]
fn memory_that_grows_is_told_from_memory_that_wavers() {
    let of = |bytes: &dyn Fn(usize) -> f64, count| {
        let second =
            |at| ResourceSecond { memory_bytes: Some(bytes(at)), completed: 100, ..uses(1.0) };
        memory(&seconds(count, second)).expect("readings")
    };
    let leaks = of(&|at| 100e6 + 1e6 * at as f64 + 2e5 * noise(at), 60);
    let growth = leaks.growth.expect("a megabyte a second");
    assert!((growth.bytes_per_min - 60e6).abs() < growth.half_width_bytes_per_min + 1e6);
    // A hundred journeys a second.
    assert!((growth.bytes_per_journey.expect("enough") - 10e3).abs() < 200.0, "{growth:?}");
    assert_eq!(of(&|at| 100e6 + 2e6 * noise(at), 60).growth, None);
    // A rise of half a per cent of it a minute.
    assert_eq!(of(&|at| 100e6 + 8e3 * at as f64, 60).growth, None);
    assert_eq!(of(&|at| 100e6 + 1e6 * at as f64, 19).growth, None);
    assert!((leaks.max_bytes - 159e6).abs() < 1e6 && leaks.mean_bytes < leaks.max_bytes);
}
