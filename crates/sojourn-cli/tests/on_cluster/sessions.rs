//! Session scripts by pods.

use super::*;

const SCRIPT: &str = r#"
import { path } from "./lib/path.js";
definition.setTarget("http://target:8080");
definition.setArrivalPhases([{ duration: 4, rate: 50, max_clients: 100 }]);
definition.session("reader", (session) => {
  const row = session.ds.pickFrom(session.ds.loadStructured("rows.csv"));
  session.get(path, { params: { shop, id: row.get("id") } });
});
"#;

/// With the file that it imports, its rows and the value of an identifier.
#[test]
fn a_session_script_is_run_by_pods_with_all_that_it_reads() {
    let namespace = Namespace::new("sessions", &plan(1, "1s"));
    namespace.start_target();
    std::fs::create_dir(namespace.path("lib")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(namespace.path(name), text).unwrap();
    write("test.js", SCRIPT);
    write("lib/path.js", "export const path = \"/:shop/:id\";\n");
    write("rows.csv", "id\n1\n2\n3\n");
    let line = RUN.replace("plan.yaml", "test.js");
    let output = namespace.sojourn(&format!("{line} --define shop=7 --format json")).run().unwrap();
    // Two processors with two nodes on them may be too slow for the load.
    assert!(matches!(output.code, Some(0 | 3)), "{output}");
    let report = report(&output);
    let total = &report["ledger"]["journeys_total"]["whole_run"];
    assert_eq!(total["started"], total["completed"], "{output}");
    assert_eq!(total["started"], 100, "{output}");
    assert_eq!(report["fleet"]["members"].as_array().unwrap().len() as u64, GENERATORS);
    delete_if_left(&namespace);
}

/// A run that was void is left for whoever looks after it.
fn delete_if_left(namespace: &Namespace) {
    if namespace.objects().contains("job.batch/shop") {
        delete(namespace);
    } else {
        nothing_is_left(namespace);
    }
}
