//! What is wrong with a file, and where: `errors/*.txt` hold files, each with what is said about
//! it. A case is a file (completed with plain sections where it lacks some), a line `-----`, and
//! the expected errors; cases are separated by `=====`.

use sojourn_plan::{Overrides, read};

use crate::util::{complete, memory, read_text};

/// Checks every case of a table.
#[track_caller]
fn check(table: &str) {
    let mut wrong = Vec::new();
    let cases: Vec<&str> = table.split("=====\n").collect();
    assert!(!cases.is_empty());
    for case in cases {
        let (text, expected) = case.split_once("-----\n").unwrap();
        let got = match read_text(&complete(text)) {
            Ok(_) => "no error".to_owned(),
            Err(errors) => errors.to_string().replace("plan.yaml:", ""),
        };
        if got.trim_end() != expected.trim_end() {
            wrong.push(format!("{text}\nexpected:\n{expected}\ngot:\n{got}\n"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

macro_rules! tables {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            check(include_str!(concat!("errors/", stringify!($name), ".txt")));
        }
    )*};
}

tables! {
    batches channels clocks conditions data environment fields health http
    journeys limits load nats poison publish stages target templates yaml
}

#[test]
fn an_empty_file_says_what_belongs_into_it() {
    let errors = read_text("").unwrap_err();
    assert!(errors.to_string().starts_with("plan.yaml:1:1: expected the file, found nothing"));
}

#[test]
fn a_wrong_target_of_the_command_line_is_named() {
    let overrides = Overrides { target: Some("localhost:8080".into()), ..Overrides::default() };
    let errors = read("plan.yaml", &complete(""), &memory(), &overrides).unwrap_err();
    let shown = errors.to_string();
    assert_eq!(shown, "--target:1:1: not an absolute URL\n  hint: such as `http://127.0.0.1:8080`");
}

#[test]
fn thresholds_name_what_the_plan_has() {
    let text = "\
thresholds:
  - journey.paymnt.p99 < 1s
  - stage.setled.hop.p99 < 1s
  - step.rot.response.p99 < 1s
  - stage.payment/settld.hop.p99 < 1s
  - { threshold: journey.payment.p99, abort: 1 }
journeys:
  payment:
    root: { http: POST /pay, key: body.id }
    stages: [{ name: settled, on: events, key: $.id }]
    within: 30s
  refund:
    root: { http: POST /refund, key: body.id }
    stages: [{ name: settled, on: events, key: $.id }, { name: paid, on: dead-letters, key: $.id }]
    within: 30s
";
    let errors = read_text(&complete(text)).unwrap_err();
    let shown = errors.to_string().replace("plan.yaml:", "");
    let expected = "\
2:13: unknown journey `paymnt`
  hint: did you mean `payment`?
3:11: unknown stage `setled`
  hint: did you mean `settled`?
4:10: unknown step `rot`
  hint: did you mean `root`?
5:11: unknown stage `payment/settld`
  hint: did you mean `payment/settled`?
6:46: `1` is neither true nor false
  hint: write `true` or `false`";
    assert_eq!(shown, expected);

    let twice = text.replace("stage.setled.hop", "stage.settled.hop");
    let shown = read_text(&complete(&twice)).unwrap_err().to_string();
    let expected = "3:11: stage `settled` is in journey `payment` and in `refund`\n  \
                    hint: write `payment/settled`";
    assert!(shown.contains(expected), "{shown}");
}
