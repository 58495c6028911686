//! The section `resources`.

use sojourn_plan::{Resource, ResourceSource};

use crate::util::{complete, plan, read_text};

fn resources(section: &str) -> Vec<Resource> {
    plan(&complete(&format!("resources:\n{section}"))).resources
}

#[test]
fn processes_groups_and_queries() {
    let found = resources(
        "  - { name: api, pid: \"${COUNT}\" }\n  - { cgroup: /sys/fs/cgroup/a.slice }\n  - \
         prometheus: http://load:p4ss@127.0.0.1:9090/prom\n    headers: { x-scope: \"${TOKEN}\" }\n    \
         observe: { queue: 'sum(length)', up: up }\n  - { observe: { later: down } }\n",
    );
    let names: Vec<Option<&str>> = found.iter().map(|it| it.name.as_deref()).collect();
    assert_eq!(names, [Some("api"), None, Some("queue"), Some("up"), Some("later")]);
    assert_eq!(found[0].source, ResourceSource::Process { pid: 5 });
    assert_eq!(found[1].in_words(), "cgroup /sys/fs/cgroup/a.slice");
    let ResourceSource::Query { prometheus: Some(prometheus), query } = &found[2].source else {
        panic!("{found:?}");
    };
    assert_eq!((prometheus.server.port, query.as_str()), (9_090, "sum(length)"));
    assert_eq!(prometheus.target(query), "/prom/api/v1/query?query=sum%28length%29");
    assert_eq!(prometheus.request_headers().len(), 2);
    let shown = format!("{found:?}");
    assert!(!shown.contains("p4ss") && !shown.contains("s3cret-t0ken"), "{shown}");
    assert!(matches!(&found[4].source, ResourceSource::Query { prometheus: None, .. }));
}

#[test]
fn what_is_wrong_is_said_at_its_place() {
    for (section, said) in [
        ("  - { pid: 0 }", "`0` is out of range"),
        ("  - { name: a }", "a resource of nothing"),
        ("  - { pid: 1, cgroup: /a }", "two resources in one"),
        ("  - { pid: 1, prometheus: \"http://h\" }", "`prometheus` goes with `observe`"),
        ("  - { name: a b, pid: 1 }", "`a b` can't name a resource"),
        ("  - { name: a, pid: 1 }\n  - { name: a, pid: 2 }", "two resources are named `a`"),
        ("  - { name: a, observe: { b: up } }", "`name` is of `pid` and `cgroup`"),
        ("  - { observe: { a b: up } }", "`a b` can't name a resource"),
        ("  - { observe: { b: ' ' } }", "an empty query"),
        ("  - { headers: { a: b }, observe: { b: up } }", "`headers` goes with `prometheus`"),
        ("  - { prometheus: \"ftp://u:p4ss@h\", observe: { b: up } }", "`ftp://` is not spoken"),
        ("  - { pidd: 1 }", "did you mean `pid`?"),
        ("  pid: 1", "expected a list"),
    ] {
        let text = complete(&format!("resources:\n{section}\n"));
        let errors = read_text(&text).map(|_| text.clone()).unwrap_err().to_string();
        assert!(errors.contains(said), "{section}: {errors}");
        assert!(errors.contains("plan.yaml:2:") || errors.contains("plan.yaml:3:"), "{errors}");
        assert!(!errors.contains("p4ss"), "{errors}");
    }
}
