//! Examples, first files and every block of the documentation.

use sojourn_plan::{Model, Overrides, StarterKind, read, starter};

use crate::util::{complete, memory, plan};

const PAYMENTS: &str = include_str!("../../../examples/payments.yaml");
const EXPERIMENT: &str = include_str!("../../../examples/published-experiment.yaml");
const POISONED: &str = include_str!("../../../examples/poisoned-payments.yaml");
const EVENT_QUEUE: &str = include_str!("../../../examples/event-queue.yaml");
const INNGEST: &str = include_str!("../../../examples/inngest.yaml");
const JOURNEY_FILES: &str = include_str!("../../../docs/journey-files.md");
const DECODERS: &str = include_str!("../../../docs/decoders.md");
const FROM_NBOMBER: &str = include_str!("../../../docs/from-nbomber.md");

/// Every file that the project publishes, with a name for messages.
pub(crate) fn files() -> Vec<(String, String)> {
    let mut files = vec![
        ("payments.yaml".to_owned(), PAYMENTS.to_owned()),
        ("published-experiment.yaml".to_owned(), EXPERIMENT.to_owned()),
        ("event-queue.yaml".to_owned(), EVENT_QUEUE.to_owned()),
        ("poisoned-payments.yaml".to_owned(), POISONED.to_owned()),
        ("inngest.yaml".to_owned(), INNGEST.to_owned()),
    ];
    for kind in [StarterKind::Http, StarterKind::Kafka, StarterKind::Webhook] {
        files.push((format!("{kind:?}"), starter(kind)));
    }
    let pages = [
        ("journey-files.md", JOURNEY_FILES),
        ("decoders.md", DECODERS),
        ("from-nbomber.md", FROM_NBOMBER),
    ];
    for (page, text) in pages {
        for (number, block) in blocks(text).into_iter().enumerate() {
            files.push((format!("{page} block {number}"), complete(&block)));
        }
    }
    files
}

#[test]
fn every_published_file_reads() {
    let files = files();
    assert!(files.len() > 25, "only {} files found", files.len());
    for (name, text) in files {
        if let Err(errors) = read(&name, &text, &memory(), &Overrides::default()) {
            panic!("{errors}\n{text}");
        }
    }
}

#[test]
fn examples_and_first_files_have_no_warnings() {
    for (name, text) in files().into_iter().take(8) {
        let warnings = plan(&text).warnings;
        assert!(warnings.is_empty(), "{name}: {warnings:?}");
    }
}

#[test]
fn the_examples_are_what_they_say() {
    let payments = plan(PAYMENTS);
    assert_eq!(payments.name, "payments");
    let [payment, rejected] = payments.journeys.as_slice() else {
        panic!("two journeys");
    };
    let stages: Vec<_> = payment.stages.iter().map(|stage| stage.name.as_str()).collect();
    assert_eq!(stages, ["initiated", "created", "settled", "completed", "dead_letter"]);
    assert!(rejected.stages.is_empty());
    assert_eq!(payments.load[0].journeys, [(0, 49.0), (1, 1.0)]);
    assert_eq!(
        payments.load[0].declared,
        "payment 49, rejected 1: poisson, 50/s for 35s, warm-up 5s"
    );

    let experiment = plan(EXPERIMENT);
    let load = &experiment.load[0];
    assert_eq!((load.warmup_ns, load.steady_ns), (0, 30_000_000_000));
    assert!(matches!(&load.model, Model::Open { limit: None, .. }));
    assert_eq!(experiment.journeys.len(), 1);
    assert_eq!(experiment.journeys[0].within_ns, 60_000_000_000);
}

#[test]
fn a_page_names_every_field() {
    let schema = sojourn_plan::schema();
    let mut shapes = vec![("file".to_owned(), schema.clone())];
    let definitions = schema["$defs"].as_object().unwrap();
    shapes.extend(definitions.iter().map(|(name, shape)| (name.clone(), shape.clone())));
    for (shape, schema) in shapes {
        for field in schema["properties"].as_object().unwrap().keys() {
            let words = JOURNEY_FILES.split(|c: char| !c.is_alphanumeric() && c != '_');
            let is_named = words.into_iter().any(|word| word == field);
            assert!(is_named, "docs/journey-files.md does not name `{field}` of a {shape}");
        }
    }
}

/// The insides of a page's YAML blocks.
fn blocks(page: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut block: Option<String> = None;
    for line in page.lines() {
        match (&mut block, line) {
            (None, "```yaml") => block = Some(String::new()),
            (Some(_), "```") => blocks.extend(block.take()),
            (Some(text), line) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, _) => {}
        }
    }
    blocks
}
