//! Values that are known only while a client runs: what may be done with them, and what not.

use crate::util::{defined, lines, script};

/// The only error of a session's steps, without its hint.
fn error(steps: &str) -> String {
    match defined(&script(&format!("{steps}\nsession.log('end');"))) {
        Ok(_) => "no error".to_owned(),
        Err(errors) => errors.0[0].to_string().lines().next().unwrap_or_default().to_owned(),
    }
}

#[test]
fn they_can_be_joined_to_text_in_every_way() {
    let steps = "session.setVar('a', '1 2');
        const a = session.getVar('a');
        session.get('/x?' + a);
        session.get(`/y/${a}/z`);
        session.get(['/j', a, a].join('/'));
        session.get('/c'.concat('/', a));
        session.get(a.concat('/b'));
        session.get('/r/X'.replace('X', a));
        session.log(String(a) + '!');
        session.get('/e/' + encodeURIComponent(a + '&'));
        session.post('/p', { payload: a, headers: { 'X-A': a } });";
    let expected = [
        "GET http://a.example/x?1%202",
        "GET http://a.example/y/1%202/z",
        "GET http://a.example/j/1%202/1%202",
        "GET http://a.example/c/1%202",
        "GET http://a.example/1%202/b",
        "GET http://a.example/r/1%202",
        "log 1 2!",
        "GET http://a.example/e/1%202%26",
        "POST http://a.example/p 1 2",
    ];
    assert_eq!(lines(steps), expected);
}

#[test]
fn json_quotes_them_and_the_old_way_around_works() {
    let steps = r#"session.setVar("n", "4555666777888999");
        const n = session.getVar("n");
        session.log(JSON.stringify({ id: n }));
        session.log(JSON.stringify({ id: "MARK" }).replace('"MARK"', n));
        const g = session.ds.generate("random_number", { range: [7, 7] });
        session.log(JSON.stringify({ a: [`${g}`, "x" + g] }));
        session.setVar("t", 'a "b"');
        session.log(session.json({ id: n, t: session.getVar("t"), m: `<${session.getVar("t")}>`, g,
           l: [1, true, null] }));"#;
    let expected = [
        r#"log {"id":"4555666777888999"}"#,
        r#"log {"id":4555666777888999}"#,
        r#"log {"a":["7","x7"]}"#,
        r#"log {"id":4555666777888999,"t":"a \"b\"","m":"<a \"b\">","g":7,"l":[1,true,null]}"#,
    ];
    assert_eq!(lines(steps), expected);
}

#[test]
fn a_known_number_is_not_quoted_in_silence() {
    for (value, what) in [
        ("session.ds.generate('random_number', { range: [1, 2] })", "of the kind random_number"),
        ("session.ds.generate('sequence')", "of the kind sequence"),
        ("session.ds.generate('timestamp')", "of the kind timestamp"),
        ("session.lastHttpStatus()", "lastHttpStatus()"),
    ] {
        let steps = format!("const n = {value};\nsession.log(\n  JSON.stringify({{ n: [n] }}));");
        let found = error(&steps);
        assert!(found.starts_with("script.js:6:"), "{value}\n{found}");
        assert!(found.contains(what) && found.contains("is a number"), "{value}\n{found}");
        // What is meant as text, and what is written as a number, is fine.
        for fine in ["JSON.stringify({ n: `${n}` })", "session.json({ n: [n] })"] {
            let found = error(&format!("const n = {value};\nsession.log({fine});"));
            assert_eq!(found, "no error", "{value} {fine}");
        }
    }
    for kind in ["random_string", "random_hex"] {
        let steps = format!(
            "session.log(JSON.stringify([session.ds.generate('{kind}', {{ length: 3 }})]));"
        );
        assert_eq!(error(&steps), "no error", "{kind}");
    }
}

#[test]
fn json_within_json_leaves_the_outer_one_as_it_is() {
    let steps = "const n = session.ds.generate('random_number', { range: [7, 7] });
        session.log(session.json({ a: { toJSON: () => session.json({ n }) }, n }));
        session.setVar('t', 'a \"b\"');
        session.setVar('inner', session.json({ t: session.getVar('t') }));
        session.log(session.json({ Message: session.getVar('inner') }));";
    let expected =
        [r#"log {"a":"{\"n\":7}","n":7}"#, r#"log {"Message":"{\"t\":\"a \\\"b\\\"\"}"}"#];
    assert_eq!(lines(steps), expected);
    for inner in ["session.json({ t })", "session.json({ t: `<${t}>` })"] {
        let steps =
            format!("const t = session.getVar('t');\nsession.log(session.json([{inner}]));");
        let found = error(&steps);
        assert!(found.starts_with("script.js:5:"), "{found}");
        assert!(found.contains("a value that stands in JSON already"), "{found}");
    }
}

#[test]
fn arithmetic_and_properties_are_errors_at_their_place() {
    for (steps, expected) in [
        ("const x = session.getVar('x');\nconst y = { v: x };\ny.v * 2;", "script.js:6:"),
        ("const y = { v: session.getVar('x') };\nMath.round(y.v);", "script.js:5:"),
        ("const y = { v: session.getVar('x') };\n[1, 2][+y.v];", "script.js:5:"),
        ("const y = { v: session.getVar('x') };\ny.v.trim();", "script.js:5:"),
        ("const y = { v: session.getVar('x') };\ny.v.length;", "script.js:5:"),
        ("const y = { v: session.getVar('x') };\nif (y.v < 3) {}", "script.js:5:"),
        ("if (session.getVar('x')) {}", "script.js:4:5: a condition on"),
        ("const x = session.lastHttpStatus();\nif (x == 200) {}", "script.js:5:5: a comparison on"),
        ("session.log(`${session.getVar('x')}`.toUpperCase());", "script.js:4:9: text was cut"),
        ("session.log(`${session.getVar('x')}`.slice(3, -3));", "script.js:4:9: text was cut"),
        (
            "session.times(`${session.getVar('x')}`, () => {});",
            "script.js:4:9: the count of times()",
        ),
    ] {
        let found = error(steps);
        assert!(found.starts_with(expected), "{steps}\n{found}");
    }
    let found = error("const y = { v: session.getVar('x') };\ny.v - 1;");
    assert!(found.contains("the variable `x` is used as a number"), "{found}");
    let found = error("session.getVar('x').trim();");
    assert!(found.contains("the variable `x` has no `trim`"), "{found}");
}

#[test]
fn what_is_used_at_each_place_is_drawn_anew() {
    let steps = "const n = session.ds.generate('random_number', { range: [1, 1000000000] });
        session.log(`${n} ${n}`); session.setVar('kept', n);
        const kept = session.getVar('kept'); session.log(`${kept} ${kept}`);";
    let lines = lines(steps);
    let pair = |line: &str| {
        let (a, b) = line.strip_prefix("log ").unwrap().split_once(' ').unwrap();
        (a.to_owned(), b.to_owned())
    };
    let (a, b) = pair(&lines[0]);
    let (c, d) = pair(&lines[1]);
    assert!(a != b && c == d && c != b, "{lines:?}");
}
