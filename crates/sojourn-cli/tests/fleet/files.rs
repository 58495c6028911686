//! What a plan or a script is made of comes to generators that cannot see it.

use super::*;

#[test]
fn bodies_rows_and_variables_go_along() {
    let target = Target::default();
    let server = Server::start(target.clone()).unwrap();
    let folder = temp_dir().unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    std::fs::write(folder.path().join("data/rows.csv"), "id\n1\n2\n3\n").unwrap();
    std::fs::write(folder.path().join("data/body.json"), r#"{"amount":7}"#).unwrap();
    let plan = format!(
        "name: files\ntarget: {}\ndata: {{ rows: {{ csv: data/rows.csv }} }}\njourneys:\n  visit:\n    \
         root: {{ http: {{ method: POST, url: '/${{REGION}}/{{{{ row.rows.id }}}}', body: \
         {{ file: data/body.json }} }} }}\nload: {{ rate: 30/s, steady: 1s, drain: 5s }}\n\
         health: {{ lag_p99_max: 60s }}\n",
        server.url("")
    );
    std::fs::write(folder.path().join("plan.yaml"), plan).unwrap();
    let flags = ["--generators", "2"];
    let fleet = Fleet::start_with(folder, "plan.yaml", &flags, |it| it.env("REGION", "north"));
    let ended = fleet.join(2).end();
    assert_eq!(ended.causes(), Vec::<String>::new(), "{}", ended.output);
    let asked = target.sorted();
    for row in 1..=3 {
        let path = format!("/north/{row}");
        assert_eq!(asked.iter().filter(|it| **it == path).count(), 10, "{asked:?}");
    }
}

#[cfg(feature = "script")]
#[test]
fn session_scripts_and_their_files_go_along() {
    let target = Target::default();
    let server = Server::start(target.clone()).unwrap();
    let folder = temp_dir().unwrap();
    let script = format!(
        r#"
definition.setTarget("{}");
definition.setArrivalPhases([{{ duration: 2, rate: 40 }}]);
definition.session("reader", (session) => {{
  const row = session.ds.pickFrom(session.ds.loadStructured("rows.csv"));
  session.get("/:id/:name", {{ params: {{ id: row.get("id"), name: row.get("name") }} }});
}});
"#,
        server.url("")
    );
    // Large enough to be shared by processes of one machine.
    let text: String = (0..100_000).map(|row| format!("{row},name-of-{row}\n")).collect();
    std::fs::write(folder.path().join("rows.csv"), format!("id,name\n{text}")).unwrap();
    std::fs::write(folder.path().join("test.js"), script).unwrap();
    let ended = Fleet::start(folder, "test.js", &["--generators", "2"]).join(2).end();
    assert_eq!(ended.causes(), Vec::<String>::new(), "{}", ended.output);
    let asked = target.sorted();
    assert!(asked.len() > 20, "{}", ended.output);
    assert_eq!(whole_run(&ended.report, "completed"), asked.len(), "{}", ended.output);
    for path in &asked {
        let id = path.split('/').nth(1).unwrap();
        assert_eq!(*path, format!("/{id}/name-of-{id}"));
    }
}
