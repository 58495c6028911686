//! JUnit's XML, read by an XML parser.

use std::sync::LazyLock;

use proptest::prelude::*;
use roxmltree::{Document, Node};
use sojourn_report::{
    ReportModel,
    model::{Outcome, RequirementOutcome},
    render,
};

use crate::{payments, text::check};

#[test]
fn a_payments_run() {
    check("payments.junit.xml", &render::junit(&payments::model()));
}

fn cases<'a>(document: &'a Document<'_>, class: &str) -> Vec<Node<'a, 'a>> {
    let of_class = move |node: &Node<'_, '_>| {
        node.has_tag_name("testcase")
            && node.attribute("classname").is_some_and(|name| name.ends_with(class))
    };
    document.descendants().filter(of_class).collect()
}

fn child<'a>(case: &Node<'a, 'a>) -> Option<Node<'a, 'a>> {
    case.children().find(Node::is_element)
}

#[test]
fn counts_are_those_of_the_cases_and_each_failure_says_what_was_asked_and_measured() {
    let model = payments::model();
    let xml = render::junit(&model);
    let document = Document::parse(&xml).unwrap();
    let suite = document.descendants().find(|node| node.has_tag_name("testsuite")).unwrap();
    let all = |tag: &str| document.descendants().filter(|node| node.has_tag_name(tag)).count();
    for (attribute, tag) in [
        ("tests", "testcase"),
        ("failures", "failure"),
        ("errors", "error"),
        ("skipped", "skipped"),
    ] {
        assert_eq!(suite.attribute(attribute), Some(&*all(tag).to_string()), "{attribute}");
    }
    assert_eq!(all("testcase"), 1 + model.thresholds.len() + model.requirements.len());
    for (case, row) in cases(&document, ".thresholds").iter().zip(&model.thresholds) {
        assert_eq!(case.attribute("name"), Some(&*row.text));
        let failure = child(case);
        assert_eq!(failure.is_none(), row.held);
        if let Some(failure) = failure {
            let message = failure.attribute("message").unwrap();
            assert_eq!(message, format!("asked {}, measured {}", row.text, row.measured_text));
        }
    }
    for (case, row) in cases(&document, ".requirements").iter().zip(&model.requirements) {
        let expected = match row.outcome {
            RequirementOutcome::Met => None,
            _ if row.failed => Some("failure"),
            _ => Some("skipped"),
        };
        assert_eq!(child(case).map(|node| node.tag_name().name()), expected, "{row:?}");
    }
    let property = |name: &str| {
        let found = document.descendants().find(|node| node.attribute("name") == Some(name));
        found.and_then(|node| node.attribute("value")).map(str::to_owned)
    };
    assert_eq!(property("run_id").unwrap(), model.identity.run_id);
    assert_eq!(property("label.git").unwrap(), "4b1f0c2");
}

#[test]
fn a_void_run_is_an_error_and_not_a_failure() {
    let mut model = payments::model();
    for (outcome, expected) in [
        (Outcome::Pass, None),
        (Outcome::Fail, Some("failure")),
        (Outcome::Void, Some("error")),
        (Outcome::Unfinished, Some("error")),
    ] {
        model.verdict.outcome = outcome;
        let xml = render::junit(&model);
        let document = Document::parse(&xml).unwrap();
        let verdict = cases(&document, ".run")[0];
        assert_eq!(child(&verdict).map(|node| node.tag_name().name()), expected);
        if let Some(told) = child(&verdict) {
            assert_eq!(told.attribute("message"), Some(&*model.verdict.headline));
            assert_eq!(told.text(), Some("threshold: lost == 0: measured 4"));
        }
    }
}

/// The payments run, simulated once.
static PAYMENTS: LazyLock<ReportModel> = LazyLock::new(payments::model);

proptest! {
    #[test]
    fn any_name_is_one_in_xml(name in any::<String>()) {
        let mut model = PAYMENTS.clone();
        model.identity.name = name.clone();
        model.thresholds[2].text = name.clone();
        model.verdict.headline = name.clone();
        model.identity.labels = vec![("label".into(), name.clone())];
        let xml = render::junit(&model);
        let document = Document::parse(&xml).unwrap();
        let shown: String = name
            .chars()
            .map(|c| match c {
                '\t' | '\n' | '\r' => c,
                '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
                c => c,
            })
            .collect();
        let failed = cases(&document, ".thresholds")[2];
        prop_assert_eq!(failed.attribute("name"), Some(&*shown));
        let message = format!("asked {shown}, measured 4");
        prop_assert_eq!(child(&failed).unwrap().text(), Some(&*message));
    }
}
