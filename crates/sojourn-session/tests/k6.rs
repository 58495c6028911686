//! What stands between k6 scripts and sessions.

use sojourn_session::k6_obstacles;

const SCRIPT: &str = r#"import http from "k6/http";
import { check, sleep, group } from "k6";
import { Counter } from "k6/metrics";
import { SharedArray } from "k6/data";
import ws from "k6/ws";
import { helper } from "./helper.js";

export const options = { vus: 10, thresholds: { http_req_failed: ["rate<0.01"] } };
const errors = new Counter("errors");
const rows = new SharedArray("rows", () => JSON.parse(open("rows.json")));
let seen = 0;

export function setup() { return { at: Date.now() }; }

export default function (data) {
  const res = http.get(`${__ENV.BASE}/login?n=${Math.random()}`);
  check(res, {
    "status is 200": (r) => r.status === 200,
    "has a token": (r) => r.json("token") !== "",
  });
  const token = res.json("token");
  if (res.status !== 200) {
    errors.add(1);
  }
  while (http.get("http://a/state").body !== "done") sleep(1);
  seen = seen + 1;
  group("cart", () => {
    http.post("http://a/cart", JSON.stringify({ token, user: __VU }));
    http.batch([["GET", "http://a/1"], ["GET", "http://a/2"]]);
  });
  try { http.del("http://a/cart"); } catch (e) { console.log(e); }
  for (let i = 0; i < 3; i++) http.get("http://a/ping");
  sleep(Math.random() * 3);
  sleep(1);
}
"#;

#[test]
fn everything_that_a_session_could_not_do_is_told_at_its_place() {
    let found = k6_obstacles("test.js", SCRIPT).unwrap();
    let told: Vec<(usize, &str)> =
        found.list.iter().map(|it| (it.line, it.message.as_str())).collect();
    let expected = [
        (5, "the module `k6/ws`"),
        (8, "the option `vus`"),
        (8, "the option `thresholds`"),
        (9, "`new Counter`"),
        (10, "`new SharedArray`"),
        (10, "`open()`"),
        (13, "the exported function `setup`"),
        (13, "`Date.now()`"),
        (16, "the environment variable `BASE`"),
        (16, "`Math.random()`"),
        (19, "the check `\"has a token\"`"),
        (21, "`json` of an answer"),
        (22, "a condition on what an answer says: `res.status !== 200`"),
        (25, "a loop on what an answer says: `http.get(\"http://a/state\").body !== \"done\"`"),
        (26, "`seen`, kept from one iteration to the next"),
        (27, "`group()`"),
        (28, "`__VU`"),
        (29, "`http.batch()`"),
        (31, "`try` around steps"),
        (31, "`console.log()`"),
        (33, "`sleep` of a random time"),
    ];
    assert_eq!(told, expected);
    assert!(found.list.iter().all(|it| it.file == "test.js" && it.hint.is_some()));
    let hint = found.list[11].hint.as_deref().unwrap();
    assert!(hint.contains("extraction: { jsonpath:"), "{hint}");
    assert_eq!(found.requests, 5);
}

#[test]
fn a_script_that_only_asks_has_no_obstacles() {
    let text = "import http from 'k6/http';\nimport { check, sleep } from 'k6';
        export default function () {
          const res = http.get('http://a/');
          check(res, { ok: (r) => r.status < 400 });
          for (const path of ['a', 'b']) http.put('http://a/' + path, 'x');
          sleep(1);
        }";
    let found = k6_obstacles("test.js", text).unwrap();
    assert_eq!((found.list, found.requests), (Vec::new(), 2));
    let error = k6_obstacles("bad.js", "export default function ( {").unwrap_err();
    assert!(error.to_string().starts_with("bad.js:1:1: no script"), "{error}");
}
