//! Poisoned roots: the journey apart that they become, and what it sends.

use sojourn_plan::{Action, HttpAction, Plan, Poison, StageSource, Template};

use crate::util::{complete, plan};

const POISONED: &str = r#"
seed: 3
journeys:
  first: { root: { http: { url: /first, json: "{{ uuid() }}" } }, weight: 3 }
  payment:
    root:
      http:
        url: /pay
        headers: { X-Kind: good }
        json: { amount: "{{ int(1, 9) }}", card: { number: 4, holder: Ann }, items: [1, 2] }
      key: body.id
      retry: { attempts: 3 }
      poison:
        share: 25%
        set: { amount: none, card.number: null, "items[0]": "{{ uuid() }}", more: [1] }
        remove: [card.holder]
        headers: { x-kind: bad }
    stages:
      - { name: dead, on: dead-letters, key: $.id, failure: true }
      - { name: state, poll: { url: "/pay/{{ key }}", until: { status: 200 }, budget: 40/s } }
    within: 30s
  last: { root: { http: { url: /last, json: "{{ uuid() }}" } } }
load: { rate: 10/s, steady: 1s }
"#;

fn http(plan: &Plan, journey: usize) -> &HttpAction {
    plan.journeys[journey].steps[0].action.http().unwrap()
}

fn shown(template: &Template) -> String {
    let mut out = Vec::new();
    let context = sojourn_plan::RenderContext {
        seed: 3,
        k: 5,
        run_id: "r",
        key: "k1",
        variables: &[],
        own: &[],
        data: &[],
    };
    template.render(&context, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_poisoned_root_is_a_journey_apart_that_differs_by_what_it_sends() {
    let plan = plan(&complete(POISONED));
    let names: Vec<_> = plan.journeys.iter().map(|journey| journey.name.as_str()).collect();
    assert_eq!(names, ["first", "payment", "last", "payment (poisoned)"]);
    assert_eq!(plan.journeys[3].poison, Some(Poison { of: 1, share: 0.25 }));
    assert!(plan.journeys[..3].iter().all(|journey| journey.poison.is_none()));
    let load = &plan.load[0];
    assert_eq!(load.journeys, [(0, 3.0), (1, 0.75), (3, 0.25), (2, 1.0)]);
    assert!(load.declared.ends_with(", 25 % of payment poisoned"), "{}", load.declared);

    let (healthy, poisoned) = (http(&plan, 1), http(&plan, 3));
    let body: serde_json::Value =
        serde_json::from_str(&shown(poisoned.body.as_ref().unwrap())).unwrap();
    assert_eq!(body["amount"], "none");
    assert_eq!(body["card"], serde_json::json!({ "number": null }));
    assert_eq!(body["items"][1], 2);
    assert_eq!(body["items"][0].as_str().unwrap().len(), 36);
    assert_eq!(body["more"], serde_json::json!([1]));
    let kinds = |action: &HttpAction| -> Vec<String> {
        let of = action.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("x-kind"));
        of.map(|(_, value)| shown(value)).collect()
    };
    assert_eq!((kinds(healthy), kinds(poisoned)), (vec!["good".into()], vec!["bad".into()]));
    assert_eq!(shown(&healthy.path), shown(&poisoned.path));
    let healthy_body = shown(healthy.body.as_ref().unwrap());
    assert!(healthy_body.contains("Ann") && !healthy_body.contains("none"), "{healthy_body}");
    // The same retries, key and stages; a poll's budget is of both together, not of each.
    let retries = [1, 3].map(|journey: usize| plan.journeys[journey].steps[0].retry.clone());
    assert!(retries[0].is_some() && retries[0] == retries[1]);
    let budgets = [1, 3].map(|journey: usize| match &plan.journeys[journey].stages[1].source {
        StageSource::Poll(poll) => poll.budget_per_s,
        StageSource::Event { .. } => panic!("a polled stage"),
    });
    assert_eq!(budgets, [40.0, 40.0]);
}

/// What is random elsewhere stays what it is without the poison.
#[test]
fn poison_changes_nothing_that_others_send() {
    let with = plan(&complete(POISONED));
    let (before, after) = POISONED.split_once("      poison:\n").unwrap();
    let (_, after) = after.split_once("    stages:\n").unwrap();
    let without = plan(&complete(&format!("{before}    stages:\n{after}")));
    assert_eq!(without.journeys.len(), 3);
    for journey in 0..3 {
        let body = |plan| shown(http(plan, journey).body.as_ref().unwrap());
        assert_eq!(body(&with), body(&without));
    }
}

#[test]
fn a_published_root_may_send_a_whole_other_payload() {
    let plan = plan(&complete(
        "
journeys:
  order:
    root:
      key: '{{ uuid() }}'
      publish: { to: events, headers: { type: Order, other: x }, json: { id: '{{ key }}' } }
      poison: { share: 1, body: '{\"id\": \"{{ key }}\", broken', headers: { type: Odd } }
    stages: [{ name: dead, on: dead-letters, key: $.id, failure: true }]
    within: 30s
",
    ));
    let Action::Publish(action) = &plan.journeys[1].steps[0].action else {
        panic!("a message");
    };
    assert_eq!(shown(&action.body), "{\"id\": \"k1\", broken");
    let headers: Vec<_> =
        action.headers.iter().map(|(name, value)| (name.as_str(), shown(value))).collect();
    assert_eq!(headers, [("other", "x".to_owned()), ("type", "Odd".to_owned())]);
    // All of them: nothing is left of the load for the healthy ones.
    assert_eq!(plan.load[0].journeys, [(1, 1.0)]);
}
