//! Which thresholds hold, and with which code the test ends.

use serde_json::Value;
use sojourn_k6::thresholds::Moment;

use super::golden::{Run, elapsed_ns, folders, json, text};

#[test]
fn thresholds_end_as_k6s() {
    let mut failed = 0;
    for folder in folders("compact").into_iter().chain(folders("legacy")) {
        let mut run = Run::read(&folder);
        let export = json(&folder, "export.json");
        let elapsed_ns = elapsed_ns(&export);
        let ended = run.thresholds.evaluate(&run.totals, elapsed_ns, Moment::End);
        for metric in run.thresholds.iter() {
            let name = &run.registry.get(metric.metric).unwrap().name;
            for threshold in &metric.thresholds {
                // The export's booleans say whether it failed.
                let expected = &export["metrics"][&**name]["thresholds"][&threshold.text];
                let whose = format!("{} {name} {}", folder.display(), threshold.text);
                assert_eq!(Value::Bool(!threshold.ok), *expected, "{whose}");
            }
        }
        let code = if ended.failed.is_empty() { 0 } else { 99 };
        assert_eq!(text(&folder, "exit_code.txt").trim(), code.to_string(), "{folder:?}");
        failed += usize::from(code == 99);
        if code == 99 {
            let names = ended.failed.join(", ");
            let errors = text(&folder, "errors.txt");
            assert!(errors.contains(&format!("thresholds on metrics '{names}'")), "{errors}");
        }
    }
    assert!(failed > 3);
}
