//! Large files of sessions: one copy for all processes, whatever becomes of the file.

use std::collections::BTreeSet;

use serde_json::Value;
use sojourn_testkit::{Server, sojourn, temp_dir};

use super::{Target, children, until};

/// Inodes of the memory files that a process has mapped.
fn mapped(pid: u32) -> BTreeSet<String> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let of_data = maps.lines().filter(|line| line.contains("memfd:sojourn-data"));
    of_data.map(|line| line.split_ascii_whitespace().nth(4).unwrap().to_owned()).collect()
}

#[test]
fn processes_share_a_large_file_and_hear_nothing_of_its_changes() {
    let target = Target::default();
    let server = Server::start(target.clone()).unwrap();
    let folder = temp_dir().unwrap();
    let script = format!(
        r#"
definition.setTarget("{}");
definition.setArrivalPhases([{{ duration: 4, rate: 100 }}]);
definition.session("reader", (session) => {{
  const row = session.ds.pickFrom(session.ds.loadStructured("rows.csv"));
  session.get("/:id/:name", {{ params: {{ id: row.get("id"), name: row.get("name") }} }});
}});
"#,
        server.url("")
    );
    let rows = 120_000;
    let file = folder.path().join("rows.csv");
    let text: String = (0..rows).map(|row| format!("{row},old-name-of-{row}\n")).collect();
    std::fs::write(&file, format!("id,name\n{text}")).unwrap();
    std::fs::write(folder.path().join("test.js"), script).unwrap();
    let words = ["run", "test.js", "--quiet", "--format", "json", "--generators", "2"];
    let words = words.iter().chain(&["--report", "r.json"]);
    let running = sojourn(words).in_dir(folder.path()).start().unwrap();
    until("the load has begun", || target.0.lock().unwrap().len() > 20);
    let shared = mapped(running.pid());
    // The cells, and where they end.
    assert_eq!(shared.len(), 2);
    for child in children(running.pid()) {
        assert_eq!(mapped(child), shared);
    }
    let length = std::fs::metadata(&file).unwrap().len() as usize;
    std::fs::write(&file, "x".repeat(length)).unwrap();
    let before = target.0.lock().unwrap().len();
    until("some have read after it", || target.0.lock().unwrap().len() > before + 50);
    std::fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(0).unwrap();
    let output = running.wait().unwrap();
    assert!(matches!(output.code, Some(0 | 3)), "{output}");
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    let asked = target.sorted();
    assert_eq!(super::whole_run(&report, "completed"), asked.len(), "{output}");
    for path in &asked {
        let id: usize = path.split('/').nth(1).unwrap().parse().unwrap();
        assert!(id < rows && *path == format!("/{id}/old-name-of-{id}"), "{path}");
    }
}
