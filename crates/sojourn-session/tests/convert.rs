//! Recordings to scripts, sessions to commands.

use sojourn_session::{curl_commands, har_script};

use crate::util::{Reply, defined, play, program, script};

const HAR: &str = r##"{"log": {"version": "1.2", "entries": [
    {"startedDateTime": "2026-01-05T10:00:00.000Z", "_resourceType": "document",
     "request": {"method": "GET", "url": "https://shop.example/?q=it's \"x\"#top", "headers": [
        {"name": ":method", "value": "GET"}, {"name": "Accept", "value": "text/html"}, 
        {"name": "Cookie", "value": "id=s3cret"},
        {"name": "sec-ch-ua", "value": "x"}, {"name": "Host", "value": "shop.example"}]},
     "response": {"content": {"mimeType": "text/html"}}},
    {"startedDateTime": "2026-01-05T10:00:00.120Z",
     "request": {"method": "GET", "url": "https://static.example/app.js", "headers": []},
     "response": {"content": {"mimeType": "application/javascript"}}},
    {"startedDateTime": "2026-01-05T10:00:00.140Z", "_resourceType": "image",
     "request": {"method": "GET", "url": "https://static.example/logo", "headers": []}, "response": {}},
    {"startedDateTime": "2026-01-05T10:00:02.620Z",
     "request": {"method": "POST", "url": "https://u:s3cret@shop.example/cart",
        "headers": [{"name": "Content-Type", "value": "application/json"}],
        "postData": {"mimeType": "application/json", "text": "{\"id\": 7, \"note\": \"a\u2028b\\n\"}"}},
     "response": {"content": {}}},
    {"request": {"method": "GET", "url": "data:image/png;base64,AAAA", "headers": []}, "response": {}},
    {"request": {"method": "CONNECT", "url": "https://shop.example/", "headers": []}, "response": {}}
]}}"##;

#[test]
fn a_recording_becomes_a_script_that_asks_the_same() {
    let text = har_script(HAR).unwrap();
    assert!(!text.contains("s3cret"), "{text}");
    let definition = defined(&text).unwrap_or_else(|errors| panic!("{text}\n{errors}"));
    assert_eq!(definition.warnings, []);
    let hosts: Vec<_> =
        definition.targets.all().iter().map(|target| target.host.as_str()).collect();
    assert_eq!(hosts, ["shop.example", "static.example"]);
    let program = program(&text);
    let story = play(&program, 0, 0, 100, |_| Some(Reply::ok("")));
    let expected = [
        "GET https://shop.example/?q=it%27s%20%22x%22",
        "GET https://static.example/app.js",
        "GET https://static.example/logo",
        "wait 2.5",
        "POST https://shop.example/cart {\"id\": 7, \"note\": \"a\u{2028}b\\n\"}",
    ];
    assert_eq!(story.lines, expected);
    assert_eq!(story.headers[0], [("Accept".to_owned(), "text/html".to_owned())]);
    assert_eq!(text.matches("tag: \"asset\"").count(), 2);
    assert_eq!(program.tags(), ["asset"]);
}

/// Names that no header can have once made a script that could not be read.
#[test]
fn a_recording_with_impossible_headers_becomes_a_script_without_them() {
    let text = r#"{"log": {"entries": [{"request": {"method": "GET", "url": "http://a.example/", "headers": [
        {"name": "X A", "value": "1"}, {"name": "X-\n}", "value": "\n2"}, {"name": "X-B", "value": "3"}]}}]}}"#;
    let program = program(&har_script(text).unwrap());
    let story = play(&program, 0, 0, 100, |_| Some(Reply::ok("")));
    assert_eq!(story.headers[0], [("X-B".to_owned(), "3".to_owned())]);
}

#[test]
fn what_is_no_recording_is_refused() {
    for (text, expected) in [
        ("", "not a HAR file: EOF"),
        ("{\"log\": {}}", "not a HAR file: missing field `entries`"),
        ("{\"log\": {\"entries\": []}}", "there is no request over http or https"),
    ] {
        let error = har_script(text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn sessions_are_shown_as_commands() {
    let steps = r#"session.setAuthentication({ username: "ann", password: "s3cret" });
        session.get("/a?x=" + session.getVar("x"), { gzip: true, headers: { "X-A": "it's" } });
        session.if(session.lastHttpStatus(), "=", 200, (s) => {
          s.post("https://a.example/b", { 
             payload: session.json({ n: s.ds.generate("random_number", { range: [1, 2] }) }),
             
            headers: { Authorization: "Bearer s3cret", "Content-Type": "application/json" } });
        });
        session.get("/to?http://b.example/");
        session.put("c", { payload: { a: 1 } });
        session.patch("/d", { payload: "text" });
        session.head(session.getVar("url"));
        session.post("/f", { payload_from_file: session.ds.getRawFile("body.bin") });"#;
    let expected = [
        "curl --compressed -H 'X-A: it'\\''s' -u 'ann:***' 'http://a.example/a?x={{x}}'",
        "curl -X POST -H 'Authorization: ***' -H 'Content-Type: application/json' -u 'ann:***' \
         --data-raw '{\"n\":\"{{generated}}\"}' 'https://a.example/b'",
        "curl -u 'ann:***' 'http://a.example/to?http://b.example/'",
        "curl -X PUT -u 'ann:***' --data-raw 'a=1' 'http://a.example/c'",
        "curl -X PATCH -u 'ann:***' -H 'Content-Type:' --data-raw 'text' 'http://a.example/d'",
        "curl --head -u 'ann:***' '{{url}}'",
        "curl -X POST -u 'ann:***' --data-binary '@body.bin' 'http://a.example/f'",
    ];
    assert_eq!(curl_commands(&defined(&script(steps)).unwrap(), 0), expected);
    assert_eq!(curl_commands(&defined(&script(steps)).unwrap(), 1), [""; 0]);
}
