//! Two runs against a server whose truth is known: what differs is found, what doesn't is not.

use std::{num::NonZeroUsize, path::Path, sync::Arc};

use sojourn_clock::MILLISECOND_NS;
use sojourn_mock::{Latency, Mock, MockOptions, Respond, Source, Watched};
use sojourn_testkit::{Output, sojourn, temp_dir};

use crate::common;

/// Runs the same file against a mock that holds answers for so long at least, and half again as
/// long at most.
fn measure(folder: &Path, name: &str, least_ms: u64) {
    let (low_ns, high_ns) = (least_ms * MILLISECOND_NS, least_ms * MILLISECOND_NS * 3 / 2);
    let respond = Respond {
        file: None,
        status: 200,
        headers: Vec::new(),
        latency: Latency::Uniform { low_ns: low_ns as f64, high_ns: high_ns as f64 },
        queue: None,
        query_overrides: false,
        seed: 11,
    };
    let book = Watched::new(Source::Respond(respond)).read().expect("an answer");
    let options = MockOptions {
        listen: ([127, 0, 0, 1], 0).into(),
        threads: NonZeroUsize::MIN,
        connections_max: 1_000,
        truth: None,
        run_id: "compare".to_owned(),
        connectors: Arc::default(),
        tls: None,
        spin: false,
    };
    let mock = Mock::start(book, &options).expect("a mock");
    let plan = format!(
        "name: shop\ntarget: {}\njourneys:\n  order:\n    root: {{ http: GET / }}\nload:\n  - {{ \
         rate: 100/s, warmup: 1s, steady: 12s }}\n",
        mock.url("")
    );
    std::fs::write(folder.join("plan.yaml"), plan).expect("a file");
    let file = format!("{name}.sojourn");
    let arguments = ["run", "plan.yaml", "--quiet", "--output", &file];
    let attempt = || sojourn(arguments).in_dir(folder).run().expect("a run");
    // A run that a busy machine made void says so, and is no ground to compare on.
    let void = |output: &Output| output.code == Some(3);
    let output = std::iter::repeat_with(attempt).take(4).find(|output| !void(output));
    let output = output.expect("a run that is not void");
    drop(mock.finish());
    assert_eq!(output.code, Some(0), "{output}");
}

fn compare(folder: &Path, arguments: &[&str]) -> Output {
    sojourn([&["compare"], arguments].concat()).in_dir(folder).run().expect("an end")
}

#[test]
fn what_became_slower_is_found_and_what_did_not_is_not() {
    let _turn = common::alone();
    let folder = temp_dir().expect("a folder");
    let folder = folder.path();
    measure(folder, "before", 20);
    measure(folder, "same", 20);
    measure(folder, "slower", 30);

    let same = compare(folder, &["before.sojourn", "same.sojourn", "--tolerance", "10%"]);
    assert_eq!(same.code, Some(0), "{same}");
    assert!(same.stdout.starts_with("no difference seen"), "{same}");

    let slower = compare(folder, &["before.sojourn", "slower.sojourn"]);
    assert_eq!(slower.code, Some(99), "{slower}");
    assert!(slower.stdout.starts_with("✗ worse: journey order p50 +"), "{slower}");
    assert!(!slower.stdout.contains("✓ better"), "{slower}");
    let faster = compare(folder, &["slower.sojourn", "before.sojourn"]);
    assert_eq!(faster.code, Some(0), "{faster}");
    assert!(faster.stdout.starts_with("✓ better"), "{faster}");

    let kept = compare(folder, &["before.sojourn", "--keep", "main"]);
    assert_eq!((kept.code, kept.stdout.as_str()), (Some(0), ""), "{kept}");
    let arguments = ["slower.sojourn", "--baseline", "main", "--format", "json"];
    let told = compare(folder, &arguments);
    assert_eq!(told.code, Some(99), "{told}");
    let told: serde_json::Value = serde_json::from_str(&told.stdout).expect("JSON");
    let median = &told["subjects"][0]["figures"][0]["change"];
    let [low, high] = [0, 1].map(|end| median["interval"][end].as_f64().expect("a number"));
    // A half more, but for what the network adds to both.
    assert!((low..=high).contains(&0.49), "{median}");

    let page = compare(folder, &["before.sojourn", "slower.sojourn", "--output", "page.html"]);
    assert_eq!(page.code, Some(99), "{page}");
    let page = std::fs::read_to_string(folder.join("page.html")).expect("a page");
    assert!(page.contains("✗ worse") && page.contains("<circle"), "{page}");
}

#[test]
fn runs_that_cannot_be_compared_are_refused_with_a_reason() {
    let folder = temp_dir().expect("a folder");
    let folder = folder.path();
    let refused = |arguments: &[&str], words: &str| {
        let output = compare(folder, arguments);
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stderr.contains(words), "`{words}` is not in\n{output}");
    };
    refused(&["a.sojourn"], "a second run is missing");
    refused(&["a.sojourn", "--baseline", "main"], "no run is kept under the name main");
    refused(&["a.sojourn", "b.sojourn"], "a.sojourn");
    refused(&["a.sojourn", "b.sojourn", "--tolerance", "much"], "a share is written as 5%");
    refused(&["a.sojourn", "b.sojourn", "--output", "page.doc"], "no report format");
}
