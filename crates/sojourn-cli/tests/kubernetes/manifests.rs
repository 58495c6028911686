//! `sojourn fleet manifests` and `fleet role`, as YAML that is read again.

use serde_json::Value;
use sojourn_testkit::{Output, sojourn, temp_dir};

const PLAN: &str = r#"name: Pay
target: "http://${HOST}:${PORT:-80}"
channels:
  hook: { webhook: { listen: "${LISTEN:-0.0.0.0:9000}", path: /hook } }
data: { rows: { csv: data/rows.csv } }
journeys:
  get:
    root:
      http: { method: POST, url: "/{{ row.rows.id }}", json: { a: 1 } }
      key: { from: body.id }
    stages: [{ name: done, on: hook, key: $.id }]
    within: 5s
load:
  - { rate: 50/s, warmup: 5s, steady: 30s, drain: 20s }
"#;

fn manifests(flags: &str, change: impl Fn(&std::path::Path)) -> Output {
    let folder = temp_dir().unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    std::fs::write(folder.path().join("data/rows.csv"), "id\n1\n2\n").unwrap();
    std::fs::write(folder.path().join("plan.yaml"), PLAN).unwrap();
    change(folder.path());
    let line = format!("fleet manifests plan.yaml --generators 3 {flags}");
    let words = line.split_whitespace();
    let program = sojourn(words).in_dir(folder.path()).env("HOST", "checkout.shop");
    program.env("INFLUX_TOKEN", "of-influx").run().unwrap()
}

fn documents(output: &Output) -> Vec<Value> {
    assert_eq!(output.code, Some(0), "{output}");
    let texts = output.stdout.split("---\n").skip(1);
    texts.map(|text| serde_saphyr::from_str(text).unwrap()).collect()
}

fn of<'a>(objects: &'a [Value], kind: &str, name: &str) -> &'a Value {
    let is_it = |it: &&Value| it["kind"] == kind && it["metadata"]["name"] == name;
    objects.iter().find(is_it).unwrap_or_else(|| panic!("no {kind} {name}"))
}

#[test]
fn a_plan_goes_along_with_what_it_reads_and_nothing_is_shown() {
    let output = manifests(
        "--run-name pay-1 -e TOKEN=very-secret --label git=4b1 --threads 2 --on-loss abort --namespace load",
        |_| {},
    );
    let objects = documents(&output);
    assert_eq!(objects.len(), 6);
    assert!(objects.iter().all(|object| object["metadata"]["namespace"] == "load"));
    let secret = &of(&objects, "Secret", "pay-1")["stringData"];
    assert_eq!(secret["file.plan.yaml"], PLAN);
    assert_eq!(secret["file.data_rows.csv"], "id\n1\n2\n");
    assert_eq!(secret["env.HOST"], "checkout.shop");
    assert_eq!(secret["env.TOKEN"], "very-secret");
    assert_eq!(secret["join.key"].as_str().unwrap().trim().len(), 64);
    assert_eq!(output.stdout.matches("very-secret").count(), 1);
    let pod = &of(&objects, "Job", "pay-1")["spec"]["template"]["spec"];
    let coordinator = &pod["containers"][0];
    let words: Vec<&str> =
        coordinator["args"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    let expected = "fleet locked /results coordinator plan.yaml --label=git=4b1 --threads=2 \
                    --on-loss=abort --listen 0.0.0.0:7000 --key-file /key/join.key --generators 3 \
                    --ready-timeout 120s --output /results/run.sojourn --report /results/report.html";
    assert_eq!(words.join(" "), expected);
    let service = of(&objects, "Service", "pay-1");
    assert_eq!(service["spec"]["ports"][1]["port"], 9000);
    let generators = &of(&objects, "Job", "pay-1-generators")["spec"];
    assert_eq!(generators["completions"], 3);
    // 55 s of load, 5 s to the deadline and what lingers, 120 s until they are ready.
    let run_s = generators["activeDeadlineSeconds"].as_u64().unwrap();
    assert!((480..=900).contains(&run_s), "{run_s}");
}

/// Who may read Jobs may read their words.
#[test]
fn passwords_of_urls_are_refused_and_variables_of_outputs_go_along() {
    for flag in [
        "--out influxdb2=https://me:my-word@host/?org=o&bucket=b",
        "--out prometheus-rw=http://my-word@host/api",
        "--observe q=up --prometheus http://me:my-word@host:9090",
    ] {
        let output = manifests(flag, |_| {});
        assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""), "{output}");
        assert!(output.stderr.contains("a URL with a user or a password"), "{output}");
        assert!(output.stderr.contains("in the Secret"), "{output}");
        assert!(!output.stderr.contains("my-word"), "{output}");
    }
    // Of a target no plan takes them.
    let output = manifests("--target http://me:my-word@host:8080", |_| {});
    assert_eq!((output.code, output.stdout.as_str()), (Some(2), ""), "{output}");
    assert!(output.stderr.contains("credentials don't belong into a URL"), "{output}");
    assert!(!output.stderr.contains("my-word"), "{output}");
    let flag = "--run-name pay-1 --out influxdb2=https://host/?org=me@there&bucket=b";
    let objects = documents(&manifests(flag, |_| {}));
    assert_eq!(of(&objects, "Secret", "pay-1")["stringData"]["env.INFLUX_TOKEN"], "of-influx");
    let with_token = objects.iter().filter(|object| object.to_string().contains("of-influx"));
    assert_eq!(with_token.count(), 1);
    let objects = documents(&manifests("--run-name pay-1", |_| {}));
    assert!(of(&objects, "Secret", "pay-1")["stringData"]["env.INFLUX_TOKEN"].is_null());
}

#[test]
fn each_run_has_a_name_and_a_key_of_its_own() {
    let (one, other) = (manifests("", |_| {}), manifests("", |_| {}));
    let name =
        |output: &Output| documents(output)[0]["metadata"]["name"].as_str().unwrap().to_owned();
    assert!(name(&one).starts_with("pay-") && name(&one) != name(&other), "{one}");
    let key = |output: &Output| {
        let objects = documents(output);
        objects.iter().find(|it| it["kind"] == "Secret").unwrap()["stringData"]["join.key"].clone()
    };
    assert_ne!(key(&one), key(&other));
}

/// They may be there before the coordinator's image is, and wait as long as that may take.
#[test]
fn generators_wait_for_their_coordinator_as_long_as_that_waits_for_them() {
    let output = manifests("--run-name pay-1 --ready-timeout 20m", |_| {});
    let objects = documents(&output);
    let pod = &of(&objects, "Job", "pay-1-generators")["spec"]["template"]["spec"];
    let words = pod["containers"][0]["args"].as_array().unwrap();
    let at = words.iter().position(|word| word == "--join-within").unwrap();
    let seconds = words[at + 1].as_str().unwrap().strip_suffix('s').unwrap();
    assert!(seconds.parse::<u64>().unwrap() > 20 * 60, "{seconds}");
}

#[test]
fn a_webhook_that_nobody_would_reach_is_refused() {
    for listen in ["127.0.0.1:9000", "0.0.0.0:0"] {
        let output = manifests(&format!("-e LISTEN={listen}"), |_| {});
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stderr.contains("channel `hook` listens at"), "{output}");
    }
}

#[test]
fn more_than_a_secret_holds_is_refused_with_its_name() {
    let output = manifests("", |folder| {
        std::fs::write(folder.join("data/rows.csv"), "id\n1\n".repeat(300_000)).unwrap();
    });
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("data/rows.csv") && output.stderr.contains("1 MiB"), "{output}");
}

/// It may stand anywhere, and be larger than a Secret.
#[test]
fn what_the_image_has_does_not_go_along() {
    let elsewhere = temp_dir().unwrap();
    let rows = elsewhere.path().join("rows.csv");
    std::fs::write(&rows, "id\n1\n".repeat(300_000)).unwrap();
    let name_it = |folder: &std::path::Path| {
        let plan = PLAN.replace("data/rows.csv", &rows.display().to_string());
        std::fs::write(folder.join("plan.yaml"), plan).unwrap();
    };
    let flags = format!("--run-name pay-1 --in-image {}", rows.display());
    let objects = documents(&manifests(&flags, name_it));
    let secret = of(&objects, "Secret", "pay-1")["stringData"].as_object().unwrap();
    let files: Vec<&String> = secret.keys().filter(|key| key.starts_with("file.")).collect();
    assert_eq!(files, ["file.plan.yaml"]);
    let job = of(&objects, "Job", "pay-1").to_string();
    assert!(!job.contains("in-image"), "{job}");
    for flag in ["--in-image /no/such.csv", "--in-image data/rows.csv"] {
        let output = manifests(flag, |_| {});
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stderr.contains("reads no such path"), "{output}");
    }
}

#[test]
fn the_role_is_for_one_namespace() {
    let output =
        sojourn(["fleet", "role", "--namespace", "load", "--group", "testers"]).run().unwrap();
    let objects = documents(&output);
    assert_eq!(objects[0]["kind"], "Role");
    assert_eq!(objects[1]["subjects"][0]["name"], "testers");
    assert!(objects.iter().all(|object| object["metadata"]["namespace"] == "load"));
    assert!(!output.stdout.contains('*'), "{output}");
}
