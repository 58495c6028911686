//! A generator that gets too little of a processor.

use super::*;

/// Given little more than a hundredth of a processor in the middle of the run, it can't keep its
/// schedule of a thousand a second: its figures may not be believed, and it is named.
#[test]
fn a_generator_with_too_little_processor_makes_the_run_void_and_is_named() {
    let plan = plan(4_000, "30s").replace("lag_p99_max: 60s", "lag_p99_max: 1s");
    let namespace = Namespace::new("slow", &plan);
    namespace.start_target();
    let running = namespace.sojourn(&format!("{RUN} --format json")).start().unwrap();
    await_load(&namespace);
    let pod = namespace.generator(2);
    // More than it asked for, since a pod that is resized stays of its class (`Burstable`).
    let patch =
        r#"{"spec":{"containers":[{"name":"generator","resources":{"limits":{"cpu":"15m"}}}]}}"#;
    namespace.kubectl(&format!("patch pod {pod} --subresource resize --patch {patch}"));
    let output = running.wait().unwrap();
    assert_eq!(output.code, Some(3), "{output}");
    let causes = causes(&report(&output));
    let lag: Vec<_> = causes.iter().filter(|(name, _)| name == "generator lag").collect();
    assert_eq!(lag.len(), 1, "{causes:?}");
    let detail = &lag[0].1;
    assert!(detail.starts_with("generator process 2 (host shop-generators-2"), "{detail}");
    assert_eq!(detail.matches("generator process").count(), 1, "{detail}");
    delete(&namespace);
}
