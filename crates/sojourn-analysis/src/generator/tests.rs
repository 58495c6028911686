//! What the verdict on a generator says, and where it stays silent.

use super::{reason::Cause, *};

fn thread(cpu: f64, run_queue: f64) -> Thread {
    Thread {
        name: "generator 0".to_owned(),
        makes_load: true,
        seconds: vec![ThreadSecond { cpu, run_queue: Some(run_queue) }; 30],
        turn_ns_max: Some(300_000.0),
    }
}

fn level(used: f64, limit: f64) -> Option<Level> {
    Some(Level { subject: String::new(), used, limit })
}

fn quiet() -> Facts {
    Facts {
        threads: vec![thread(0.2, 0.01)],
        busy_max: 0.95,
        busy_for_s: 10,
        lag_p99_ns: level(130_000.0, 10e6),
        lag_ns_max: Some(2e6),
        descriptors: Vec::from_iter(level(512.0, 20_000.0)),
        ports: level(512.0, 28_232.0),
        taps_ms: vec![Level { subject: "events".to_owned(), used: 3.0, limit: 1_000.0 }],
        ..Facts::default()
    }
}

#[test]
fn a_generator_with_room_says_what_came_nearest_and_accuses_nobody() {
    let verdict = verdict(&quiet()).unwrap();
    assert!(!verdict.is_limit && verdict.reason.is_none());
    assert_eq!(
        verdict.text,
        "the generator was not the limit; nearest to one came generator 0 21 % busy over its \
         busiest 10 s, of 95 %"
    );
    let resources: Vec<Resource> = verdict.margins.iter().map(|margin| margin.resource).collect();
    assert_eq!(
        resources,
        [Resource::Processor, Resource::Descriptors, Resource::Ports, Resource::Lag, Resource::Tap]
    );
}

#[test]
fn nothing_known_is_no_verdict() {
    assert_eq!(verdict(&Facts::default()), None);
}

#[test]
fn each_limit_is_named_where_it_was_met() {
    type Breaks = fn(&mut Facts);
    let cases: [(Breaks, &str); 6] = [
        (|facts| facts.threads = vec![thread(0.97, 0.0)], "generator 0 97 % busy"),
        (|facts| facts.lag_p99_ns = level(14e6, 10e6), "lag p99 14.0 ms of 10.0 ms"),
        (|facts| facts.ports = level(28_232.0, 28_232.0), "ports 28,232 of 28,232"),
        (|facts| facts.taps_ms[0].used = 1_500.0, "the delay of tap events 1.50 s of 1.00 s"),
        (|facts| facts.refused = vec![("facts".to_owned(), 7)], "`facts`, which refused 7"),
        (|facts| facts.failed_here = 12, "for want of which 12 requests failed"),
    ];
    for (breaks, words) in cases {
        let mut facts = quiet();
        breaks(&mut facts);
        let verdict = verdict(&facts).unwrap();
        assert!(verdict.is_limit, "{words}");
        let text = &verdict.text;
        assert!(text.starts_with("the generator was the limit by "), "{text}");
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn a_short_burst_is_not_the_busiest_stretch() {
    let mut facts = quiet();
    for second in &mut facts.threads[0].seconds[10..13] {
        second.cpu = 1.0;
    }
    let verdict = verdict(&facts).unwrap();
    // Three seconds of 100 % among ten: (3 × 1.01 + 7 × 0.21) / 10.
    assert!(!verdict.is_limit);
    assert!((verdict.margins[0].share - 0.45 / 0.95).abs() < 1e-9, "{:?}", verdict.margins[0]);
}

#[test]
fn lag_near_its_limit_has_a_reason_and_otherwise_none() {
    let with = |thread: Thread, lag_ns_max: f64| {
        let mut facts = quiet();
        facts.threads = vec![thread];
        facts.lag_p99_ns = level(8e6, 10e6);
        facts.lag_ns_max = Some(lag_ns_max);
        verdict(&facts).unwrap()
    };
    let cause = |verdict: &GeneratorVerdict| verdict.reason.as_ref().map(|reason| reason.cause);
    assert_eq!(cause(&with(thread(0.9, 0.0), 20e6)), Some(Cause::OwnWork));
    assert_eq!(cause(&with(thread(0.3, 0.3), 20e6)), Some(Cause::OthersWork));
    let stalled = Thread { turn_ns_max: Some(15e6), ..thread(0.3, 0.0) };
    assert_eq!(cause(&with(stalled, 20e6)), Some(Cause::LongTurn));
    let still = with(thread(0.3, 0.0), 20e6);
    assert_eq!(cause(&still), Some(Cause::Machine));
    assert!(!still.is_limit);
    assert!(still.text.starts_with("the generator ran near its limit, lag p99"), "{}", still.text);
    assert_eq!(cause(&verdict(&quiet()).unwrap()), None);
}

#[test]
fn an_observer_that_waits_for_a_processor_is_no_limit_and_one_that_computes_is() {
    let with = |cpu: f64, run_queue: f64| {
        let mut facts = quiet();
        let observer = Thread { name: "observer".to_owned(), ..thread(cpu, run_queue) };
        facts.threads.push(Thread { makes_load: false, ..observer });
        verdict(&facts).unwrap()
    };
    assert!(!with(0.01, 0.99).is_limit);
    let verdict = with(0.97, 0.0);
    assert!(verdict.is_limit && verdict.text.contains("observer 97 % busy"), "{}", verdict.text);
}

#[test]
fn an_unknown_wait_is_not_taken_for_none() {
    let seconds = [
        ThreadSecond { cpu: 0.5, run_queue: None },
        ThreadSecond { cpu: 0.5, run_queue: Some(0.2) },
    ];
    let mean = busiest(&seconds, 10).unwrap();
    assert_eq!((mean.cpu, mean.run_queue), (0.5, Some(0.2)));
    assert_eq!(busiest(&[], 10), None);
}
