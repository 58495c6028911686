//! A run's objects against golden files, and what no object may have.

use std::path::Path;

use serde_json::Value;
use sojourn_kubernetes::{
    Bundle, Coordinating, Placement, RunName, Size, Subject, Times, Toleration, Wanted, documents,
    manifests, role,
};

const KEY: &str = "a-join-key-that-nobody-may-see";

/// Compares with a golden file. `UPDATE_GOLDEN=1 cargo test …` writes it anew.
fn check(name: &str, actual: &str) {
    let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, actual).expect("the golden file is writable");
    }
    let expected = std::fs::read_to_string(&path).expect("there is a golden file");
    assert!(actual == expected, "{name} differs; got:\n{actual}");
}

fn bundle(folder: &Path) -> Bundle {
    std::fs::create_dir(folder.join("data")).unwrap();
    std::fs::write(folder.join("payments.yaml"), "name: payments\ndata: data/rows.csv\n").unwrap();
    std::fs::write(folder.join("data/rows.csv"), "amount\n1\n2\n").unwrap();
    let mut bundle = Bundle::below(folder).unwrap();
    bundle.add_file(&folder.join("payments.yaml")).unwrap();
    bundle.add_file(&folder.join("data/rows.csv")).unwrap();
    bundle.set_variable("API_TOKEN", "a-token-that-nobody-may-see").unwrap();
    bundle
}

fn plain(bundle: Bundle) -> Wanted {
    let size = |cpu: &str| Size { cpu: cpu.to_owned(), memory: "512Mi".to_owned() };
    Wanted {
        name: RunName::parse("payments-1f00").unwrap(),
        id: "5ca1ab1e".to_owned(),
        namespace: None,
        image: "localhost/sojourn:0.1.0".to_owned(),
        pull_secrets: Vec::new(),
        generators: 4,
        command: Coordinating::Journeys,
        words: vec!["payments.yaml".to_owned(), "--label=cost=$(5)".to_owned()],
        secret_words: Vec::new(),
        bundle,
        key: KEY.to_owned(),
        webhook_ports: Vec::new(),
        times: Times { run_s: 300, ready_s: 120, linger_s: 600, keep_s: 3_600 },
        coordinator: size("500m"),
        generator: size("1"),
        placement: Placement::default(),
        has_network_policies: true,
        leaves_user_open: false,
    }
}

fn everything(bundle: Bundle) -> Wanted {
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    Wanted {
        namespace: Some("load".to_owned()),
        pull_secrets: vec!["registry".to_owned()],
        webhook_ports: vec![9000, 9001],
        placement: Placement {
            node_labels: vec![pair("pool", "load")],
            tolerations: vec![Toleration::parse("load=yes:NoSchedule").unwrap()],
            away_from: vec![pair("app", "checkout")],
            priority_class: Some("batch-low".to_owned()),
        },
        leaves_user_open: true,
        ..plain(bundle)
    }
}

#[test]
fn a_plain_run() {
    let folder = tempfile::tempdir().unwrap();
    let objects = manifests(&plain(bundle(folder.path())), None).unwrap();
    check("plain.yaml", &documents("", &objects));
}

fn attack(has_records: bool) -> Wanted {
    let folder = tempfile::tempdir().unwrap();
    let mut bundle = Bundle::below(folder.path()).unwrap();
    let targets = b"GET http://checkout.shop:8080/\n".to_vec();
    let place = bundle.add_content(Path::new("/dev/stdin"), targets);
    Wanted {
        command: Coordinating::Attack { has_records },
        words: vec![format!("--targets={place}"), "--rate=40000".to_owned()],
        secret_words: vec!["--header=Authorization: Bearer nobody-may-see".to_owned()],
        ..plain(bundle)
    }
}

/// Its targets came by standard input.
#[test]
fn an_attack() {
    let wanted = Wanted { secret_words: Vec::new(), ..attack(true) };
    check("attack.yaml", &documents("", &manifests(&wanted, None).unwrap()));
    let objects = manifests(&attack(true), None).unwrap();
    let words = objects.iter().find_map(|it| it["stringData"]["words.json"].as_str()).unwrap();
    assert_eq!(words, r#"["--header=Authorization: Bearer nobody-may-see"]"#);
    let args = |objects: &[Value]| {
        let of = &objects[0]["spec"]["template"]["spec"]["containers"][0]["args"];
        of.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let with = args(&objects);
    let without = args(&manifests(&attack(false), None).unwrap());
    assert_eq!(with[..without.len()], without);
    assert_eq!(with[without.len()..], ["--output", "/results/records.bin"]);
}

#[test]
fn a_session_script_has_its_own_command() {
    let folder = tempfile::tempdir().unwrap();
    let run = Wanted { command: Coordinating::Sessions, ..plain(bundle(folder.path())) };
    let objects = manifests(&run, None).unwrap();
    let args = &objects[0]["spec"]["template"]["spec"]["containers"][0]["args"];
    assert_eq!(args[3], "session");
    assert_eq!(args[4], "coordinator");
}

#[test]
fn a_run_with_everything_owned_by_its_coordinators_job() {
    let folder = tempfile::tempdir().unwrap();
    let objects = manifests(&everything(bundle(folder.path())), Some("7d1c-uid")).unwrap();
    check("everything.yaml", &documents("", &objects));
    let owners: Vec<&Value> = objects.iter().map(|it| &it["metadata"]["ownerReferences"]).collect();
    assert!(owners[0].is_null());
    for owner in &owners[1..] {
        assert_eq!(owner[0]["uid"], "7d1c-uid");
        assert_eq!(owner[0]["name"], objects[0]["metadata"]["name"]);
    }
}

/// A pod of an earlier run of the name may take two minutes to end.
#[test]
fn the_service_leads_to_no_pod_of_another_run_of_the_name() {
    let folder = tempfile::tempdir().unwrap();
    let run = plain(bundle(folder.path()));
    let again = Wanted { id: "0ddba11".to_owned(), ..run.clone() };
    let parts = |wanted: &Wanted| {
        let objects = manifests(wanted, None).unwrap();
        let of = |kind: &str| objects.iter().find(|it| it["kind"] == kind).unwrap().clone();
        let (job, service) = (of("Job"), of("Service"));
        (service["spec"]["selector"].clone(), job["spec"]["template"]["metadata"]["labels"].clone())
    };
    let is_led_to = |(selector, _): &(Value, Value), (_, labels): &(Value, Value)| {
        let mut wanted = selector.as_object().unwrap().iter();
        wanted.all(|(label, value)| labels[label] == *value)
    };
    let (run, again) = (parts(&run), parts(&again));
    assert!(is_led_to(&run, &run) && is_led_to(&again, &again));
    assert!(!is_led_to(&again, &run) && !is_led_to(&run, &again));
}

#[test]
fn the_role() {
    let subjects = [
        Subject::Group("testers".to_owned()),
        Subject::User("ann".to_owned()),
        Subject::ServiceAccount("ci".to_owned()),
    ];
    check("role.yaml", &documents("", &role(Some("load"), &subjects)));
    assert_eq!(role(None, &[]).len(), 1);
}

#[test]
fn secrets_stand_in_the_secret_alone() {
    let folder = tempfile::tempdir().unwrap();
    for wanted in [everything(bundle(folder.path())), attack(false)] {
        let objects = manifests(&wanted, None).unwrap();
        let with: Vec<_> = objects
            .iter()
            .filter(|object| object.to_string().contains("nobody-may-see"))
            .map(|object| object["kind"].as_str().unwrap())
            .collect();
        assert_eq!(with, ["Secret"]);
    }
}

#[test]
fn what_would_not_work_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let fine = plain(bundle(folder.path()));
    let refused = |wanted: &Wanted| manifests(wanted, None).unwrap_err().to_string();
    assert!(refused(&Wanted { generators: 0, ..fine.clone() }).contains("0 generators"));
    let same_port = Wanted { webhook_ports: vec![7000], ..fine.clone() };
    assert!(refused(&same_port).contains("port 7000"));
    let huge = Wanted { key: "k".repeat(1 << 20), ..fine };
    assert!(refused(&huge).contains("1 MiB"));
}
