//! What answers say of a batch.

use sojourn_http::Response;

use super::*;
use crate::testing::plan;

const PLAN: &str = "
name: batched
journeys:
  order:
    root:
      key: \"{{ uuid() }}\"
      batch: { of: 4, accepted: body.ids }
      http: { method: POST, url: /e, json: { id: \"{{ key }}\" } }
      expect: { status: 200 }
load: { rate: 1/s, steady: 1s }
";

fn judged(status: u16, body: &str) -> (u32, Option<String>) {
    let plan = plan(PLAN, "http://127.0.0.1:1");
    let step = &plan.journeys[0].steps[0];
    let response = Response { status, body: body.as_bytes().to_vec(), ..Response::default() };
    let judged = judge(step, step.batch.as_ref().unwrap(), &Answer::new(&response), 4);
    assert!(judged.accepted == 4 || !judged.reason.is_empty());
    (judged.accepted, judged.unexpected)
}

#[test]
fn the_first_so_many_events_are_accepted() {
    assert_eq!(judged(200, r#"{"ids":[1,2,3,4]}"#), (4, None));
    assert_eq!(judged(200, r#"{"ids":[1,2]}"#), (2, None));
    assert_eq!(judged(200, r#"{"ids":3}"#), (3, None));
    assert_eq!(judged(200, r#"{"ids":"3"}"#), (3, None));
    let (accepted, unexpected) = judged(400, r#"{"ids":[1],"error":"no name"}"#);
    assert_eq!((accepted, unexpected.as_deref()), (1, Some("status 400, expected status: 200")));
}

#[test]
fn an_answer_that_says_nothing_or_too_much_accepts_none() {
    for (status, body, reason) in [
        (200, r#"{"ids":[1,2,3,4,5]}"#, "5 events accepted of a batch of 4"),
        (200, "{}", "accepted: not in the answer"),
        (200, r#"{"ids":-1}"#, "accepted: not in the answer"),
        (200, "<html>", "accepted: the body is not JSON"),
        (503, "", "status 503"),
    ] {
        let (accepted, unexpected) = judged(status, body);
        assert_eq!(accepted, 0, "{body}");
        assert!(unexpected.unwrap().starts_with(reason), "{body}");
    }
}
