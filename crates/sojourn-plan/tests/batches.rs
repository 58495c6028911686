//! Roots that send several journeys at once.

use sojourn_plan::{BatchForm, RenderContext, Selector};

use crate::util::{complete, plan, read_text};

fn batched(root: &str) -> String {
    complete(&format!("journeys:\n  order:\n    root:\n      key: \"{{{{ uuid() }}}}\"\n{root}"))
}

#[test]
fn a_batch_has_a_size_a_form_and_what_was_accepted() {
    let short = plan(&batched("      batch: 50\n      http: { url: /e, json: { a: 1 } }\n"));
    let batch = short.journeys[0].batch().unwrap();
    assert_eq!((batch.size, batch.form, batch.accepted.is_none()), (50, BatchForm::Array, true));
    assert_eq!(short.journeys[0].per_arrival(), 50);
    let declared = &short.load[0].declared;
    assert!(declared.starts_with("order (arrivals of 50 journeys): "), "{declared}");
    let long = plan(&batched(
        "      batch: { of: 3, as: lines, accepted: body.ids }\n      \
         http: { url: /e, json: { id: \"{{ key }}\" } }\n",
    ));
    let batch = long.journeys[0].batch().unwrap();
    assert_eq!((batch.size, batch.form), (3, BatchForm::Lines));
    assert!(matches!(&batch.accepted, Some(Selector::Body(path)) if path.text == "body.ids"));
}

#[test]
fn a_batch_may_be_sent_again_by_a_further_step() {
    let twice = plan(&complete(
        "
journeys:
  order:
    steps:
      - name: send
        key: '{{ uuid() }}'
        batch: &b { of: 3, accepted: body.ids }
        http: &e { url: /e, json: {} }
      - { name: again, batch: *b, http: *e }
",
    ));
    let [send, again] = twice.journeys[0].steps.as_slice() else { panic!("two steps") };
    assert!(send.key.is_some() && again.key.is_none());
    assert_eq!([send, again].map(|step| step.batch.as_ref().unwrap().size), [3, 3]);
    assert_eq!(twice.journeys[0].per_arrival(), 3);
}

#[test]
fn lines_have_their_content_type_unless_the_request_says_another() {
    let types = |headers: &str| {
        let text = format!(
            "      batch: {{ of: 3, as: lines }}\n      http: {{ url: /e, json: {{}}{headers} }}\n"
        );
        let plan = plan(&batched(&text));
        let http = plan.journeys[0].steps[0].action.http().unwrap().clone();
        let nothing = RenderContext {
            seed: 0,
            k: 0,
            run_id: "",
            key: "",
            variables: &[],
            own: &[],
            data: &[],
        };
        let shown = http.headers.iter().map(|(name, value)| {
            let mut out = Vec::new();
            value.render(&nothing, &mut out).unwrap();
            format!("{name}: {}", String::from_utf8(out).unwrap())
        });
        shown.collect::<Vec<_>>()
    };
    assert_eq!(types(""), ["Content-Type: application/x-ndjson"]);
    assert_eq!(
        types(", headers: { content-type: application/json }"),
        ["content-type: application/json"]
    );
}

#[test]
fn users_wait_for_the_root_of_a_batch_or_not_at_all() {
    let with = |load: &str| {
        format!(
            "{}    stages: [{{ name: seen, on: events, key: $.id }}]\n    within: 5s\n\
             load: {load}\n",
            "journeys:\n  order:\n    root:\n      key: \"{{ uuid() }}\"\n      batch: 5\n      \
             http: { url: /e, json: {} }\n"
        )
    };
    let errors = read_text(&complete(&with("{ users: 2, steady: 5s }"))).unwrap_err().to_string();
    assert!(errors.contains("users can't wait for the journeys of a batch (`order`)"), "{errors}");
    plan(&complete(&with("{ users: 2, until: root, steady: 5s }")));
}
