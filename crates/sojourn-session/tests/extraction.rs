//! Values taken out of answers: every expression over a page of each kind.

use crate::util::{Reply, play, program, script};

/// Of the kind that targets of conformance tests serve, with all that has gone wrong before.
const JSON: &str = r#"{"null field": null, "empty": [], "none": {}, "single": [{"id": 1}], "lists": [[1, 2], [3]],
    "repeated": [{"id": 5, "n": "first"}, {"id": 6, "n": "other"}, {"id": 5, "n": "second"}], "flat": [1, 2, 3],
    "yes": true, "no": false, "complex key::accessor": "found", "bigint": 4555666777888999,
    "bigger": 123456789012345678901234567890, "percent": "100 %s %41", "price": 4.50}"#;
const ARRAY: &str = r#"[{"id":1,"name":"cup"},{"id":2,"name":"saucer"}]"#;
const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<set><item id=\"1\" rate=\"5%\"><name>cup</name></item>\
    <item id=\"2\"><name>100 % tea &amp; more</name></item></set>";
const HTML: &str = "<!doctype html><html><head><title>Tea</title></head><body>\
    <ul><li class=item>cup<li class=item>pot</ul>\
    <a href=\"/next?a=1&amp;b=%20\">next</a><img src=x><form><input name=csrf value=c0ffee></form></body></html>";

/// What an expression finds in a body.
fn found(kind: &str, expression: &str, body: &str) -> String {
    let expression = serde_json::Value::from(expression);
    let steps = format!(
        "session.get('/', {{ extraction: {{ {kind}: {{ v: {expression} }} }} }});
         session.log('<' + session.getVar('v') + '>');"
    );
    let reply = Reply {
        status: 200,
        headers: vec![("Content-Type", "text/plain"), ("X-Token", "a %41"), ("x-token", "b")],
        body: body.to_owned(),
    };
    let line = play(&program(&script(&steps)), 0, 0, 10, |_| Some(reply.clone())).lines.remove(1);
    line["log <".len()..line.len() - 1].to_owned()
}

#[test]
fn json_paths() {
    for (path, expected) in [
        ("$.yes", "true"),
        ("no", "false"),
        ("$.[\"complex key::accessor\"]", "found"),
        ("$[\"complex key::accessor\"]", "found"),
        ("$.bigint", "4555666777888999"),
        ("$.bigger", "123456789012345678901234567890"),
        ("$.price", "4.50"),
        ("$.percent", "100 %s %41"),
        ("$[\"null field\"]", ""),
        ("$.empty", "[]"),
        ("$.empty[0]", ""),
        ("$.none", "{}"),
        ("$.none.x", ""),
        ("$.single[0].id", "1"),
        ("$.lists[1][0]", "3"),
        ("$.flat[2]", "3"),
        ("$.flat[3]", ""),
        ("$.repeated[?id==5].n", "first"),
        ("$.repeated[?id==5][1].n", "second"),
        ("$.repeated[?n=='other'].id", "6"),
        ("$.repeated[?id==7].n", ""),
    ] {
        assert_eq!(found("jsonpath", path, JSON), expected, "{path}");
    }
    assert_eq!(found("jsonpath", "$[1].name", ARRAY), "saucer");
    assert_eq!(found("jsonpath", "[0].id", ARRAY), "1");
    assert_eq!(found("jsonpath", "$[?id==2].name", ARRAY), "saucer");
    assert_eq!(found("jsonpath", "$.a", "{\"a\": "), "");
}

#[test]
fn xpaths_in_xml_and_html() {
    for (path, expected) in [
        ("/set/item[1]/name", "cup"),
        ("//item[@id='2']/name", "100 % tea & more"),
        ("//item/@rate", "5%"),
        ("//item[3]", ""),
        ("count(//item)", "2"),
    ] {
        assert_eq!(found("xpath", path, XML), expected, "{path}");
    }
    for (path, expected) in [
        ("//a/@href", "/next?a=1&b=%20"),
        ("//title", "Tea"),
        ("//li[2]", "pot"),
        ("//input[@name='csrf']/@value", "c0ffee"),
        ("/html/body/form/input/@name", "csrf"),
    ] {
        assert_eq!(found("xpath", path, HTML), expected, "{path}");
    }
}

#[test]
fn regular_expressions_and_headers() {
    assert_eq!(found("regexp", "value=(\\w+)", HTML), "c0ffee");
    assert_eq!(found("regexp", "c0f+ee", HTML), "c0ffee");
    assert_eq!(found("regexp", "(x)?cup", HTML), "");
    assert_eq!(found("regexp", "nothing", HTML), "");
    assert_eq!(found("header", "X-TOKEN", ""), "a %41");
    assert_eq!(found("header", "x-other", ""), "");
}

#[test]
fn several_kinds_and_names_of_one_answer() {
    let steps = "session.get('/', { extraction: {
            jsonpath: { a: '$.flat[0]', b: '$.flat[1]' }, regexp: { c: 'n\": \"(o[a-z]+)' }, header: { d: 'etag' } } });
        session.log(['a', 'b', 'c', 'd'].map((name) => session.getVar(name)).join(' '));";
    let reply = Reply { headers: vec![("ETag", "e1")], ..Reply::ok(JSON) };
    let lines = play(&program(&script(steps)), 0, 0, 10, |_| Some(reply.clone())).lines;
    assert_eq!(lines[1], "log 1 2 other e1");
}
