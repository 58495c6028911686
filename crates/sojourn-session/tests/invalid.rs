//! Scripts that are wrong: what is said, and where.

use std::path::Path;

use sojourn_script::Sources;
use sojourn_session::{Budget, evaluate};

use crate::util::{defined, script};

/// All errors of a whole script.
fn errors(text: &str) -> String {
    defined(text).map_or_else(|errors| errors.to_string(), |_| "no error".to_owned())
}

/// All errors of a session's steps, of which the first is on line 4.
fn of_steps(steps: &str) -> String {
    errors(&script(steps))
}

#[test]
fn every_slip_is_named_at_its_place() {
    for (steps, expected) in [
        (
            "session.get('/', 'invalid option');",
            "script.js:4:9: what follows the URL in get() must be an object, but is the text \"invalid option\"",
        ),
        (
            "const f = (context) => {\n  context.ge('/');\n};\nf(session);",
            "script.js:5:3: session has no `ge`\n  hint: did you mean `get`?",
        ),
        ("session.times(3, (s) => {});", "script.js:4:9: times() has no step"),
        ("session.if('a', '=', 'b', () => {});", "script.js:4:9: if() has no step"),
        ("session.forEver(() => {});", "script.js:4:9: forEver() has no step"),
        ("session.while('a', '=', 'b');", "script.js:4:9: while() needs a function"),
        (
            "session.times(-1, (s) => s.log('x'));",
            "script.js:4:9: the count of times() must be a whole number",
        ),
        (
            "session.if('a', '==', 'b', (s) => s.log('x'));",
            "script.js:4:9: the text \"==\" is no comparison",
        ),
        ("session.wait('long');", "script.js:4:9: the seconds of wait() must be a number"),
        ("session.waitUniform(3, 2);", "script.js:4:9: waitUniform() from 3 to 2"),
        (
            "session.get('/', { extraction: { regex: { a: 'b' } } });",
            "script.js:4:9: `regex` is no kind of extraction\n  hint: did you mean `regexp`?",
        ),
    ] {
        let found = of_steps(steps);
        assert!(found.starts_with(expected), "{steps}\n{found}");
    }
}

#[test]
fn every_wrong_argument_is_named_at_its_place() {
    for (steps, expected) in [
        (
            "session.get('/', { extraction: { regexp: { a: '(' } } });",
            "script.js:4:9: the regexp `(` for `a`: unclosed group",
        ),
        (
            "session.get('/', { extraction: { jsonpath: { a: '$..b' } } });",
            "script.js:4:9: the jsonpath `$..b` for `a`",
        ),
        ("session.get('ftp://a/x');", "script.js:4:9: `ftp://a/x` is neither http nor https"),
        (
            "session.get('http://me:secret@a.example/');",
            "script.js:4:9: the URL has a name or a password, which is not sent",
        ),
        (
            "session.get('/', { headers: { 'a b': 'c' } });",
            "script.js:4:9: `a b` is no name of a header",
        ),
        (
            "session.post('/', { payload: { a: { b: 1 } } });",
            "script.js:4:9: `a` in payload, which is an object",
        ),
        (
            "session.ds.generate('random_numbr', {});",
            "script.js:4:12: no values of the kind the text \"random_numbr\"",
        ),
        (
            "session.ds.generate('random_number', { range: [3, 1] });",
            "script.js:4:12: the high end of the range",
        ),
        ("session.else((s) => s.log('x'));", "script.js:4:9: else() follows an if()"),
        (
            "session.expect('paid', {});",
            "script.js:4:9: the key of expect() must be text, but is missing",
        ),
        ("session.getVar();", "script.js:4:9: the name of a variable must be text"),
        ("session.log(undefined);", "script.js:4:9: what is logged must be text, but is missing"),
        (
            "session.log(1 / 0);",
            "script.js:4:9: what is logged must be text, but is the number Infinity",
        ),
        ("throw new Error('own');", "script.js:4:"),
        ("null.x;", "script.js:4:"),
        ("", "script.js:3:12: session `s` has no step"),
    ] {
        let found = of_steps(steps);
        assert!(found.starts_with(expected), "{steps}\n{found}");
    }
}

#[test]
fn whole_scripts_that_lack_something() {
    let targeted = "definition.setTarget('a');\n";
    let phases = "definition.setArrivalPhases([{ duration: 1, rate: 1 }]);\n";
    let session = "definition.session('s', (s) => s.get('/'));\n";
    for (text, expected) in [
        (format!("{phases}{session}"), "script.js:1:1: no target is set"),
        (format!("{targeted}{session}"), "script.js:1:1: no arrival phase is set"),
        (format!("{targeted}{phases}"), "script.js:1:1: no session is declared"),
        (
            format!("{targeted}{phases}{session}{session}"),
            "script.js:4:12: there are two sessions `s`",
        ),
        (format!("{targeted}{phases}definition.foo();"), "script.js:3:1: definition has no `foo`"),
        (
            format!("{targeted}{phases}{}", session.replace("'s'", "'s (poisoned)'")),
            "script.js:3:12: a session can't be named `s (poisoned)`",
        ),
        (
            format!("{targeted}{phases}definition.sesion('s');"),
            "script.js:3:1: definition has no `sesion`\n  hint: did you mean `session`?",
        ),
        (
            "definition.setArrivalPhases([]);".to_owned(),
            "script.js:1:12: no arrival phase is given",
        ),
        (
            "definition.setArrivalPhases([{ rate: 1 }]);".to_owned(),
            "script.js:1:12: the duration of arrival phase 1",
        ),
        (
            "definition.setArrivalPhases([{ duration: 1, rate: -1 }]);".to_owned(),
            "script.js:1:12: the rate of arrival phase 1",
        ),
        (
            format!(
                "{targeted}{session}definition.setArrivalPhases([{{ duration: 1, rate: 1, name: 'x'.repeat(33) }}]);"
            ),
            "script.js:3:12: the name of an arrival phase has 33",
        ),
        (
            format!(
                "{targeted}{phases}{session}definition.setTestOptions({{ cluster: {{ sizing: 'larg' }} }});"
            ),
            "script.js:4:12: there is no sizing `larg`\n  hint: did you mean `large`?",
        ),
        ("definition.setTarget(;".to_owned(), "script.js:1:22: "),
        ("const a = 1;\nconst a = 2;\n".to_owned(), "script.js:2:"),
        ("missing();".to_owned(), "script.js:1:1: ReferenceError: missing is not defined"),
        ("import x from './none.js';".to_owned(), "script.js:1:"),
        ("for (;;) {}".to_owned(), "script.js:1:1: the script computes for too long"),
        (
            "let s; definition.session('a', (it) => { s = it; it.get('/'); }); s.get('/');"
                .to_owned(),
            "script.js:1:69: defaults are set only within a session",
        ),
    ] {
        let found = errors(&text);
        assert!(found.starts_with(expected), "{text}\n{found}");
    }
}

#[test]
fn several_errors_are_told_at_once_in_order() {
    let found =
        of_steps("if (session.getVar('x')) {}\nsession.get('ftp://a');\nsession.get('//b');");
    let lines: Vec<_> = found.lines().filter(|line| line.starts_with("script.js")).collect();
    assert_eq!(lines.len(), 3, "{found}");
    assert!(lines.is_sorted(), "{found}");
}

#[test]
fn async_functions_are_refused() {
    let found = of_steps("session.times(2, async (s) => { s.get('/'); });");
    assert!(found.starts_with("script.js:4:9: the function of times() is async"), "{found}");
}

#[test]
fn unknown_options_and_unset_variables_are_warnings() {
    let text = script(
        "session.get('/', { headrs: {} });\nsession.log(session.getVar('tokn'));\nsession.setVar('token', 1);\n\
         session.log('a' + Math.random());\nsession.get('/', { payload: 'x' });\nsession.wait(1, { random: true });\n\
         session.forEver((s) => s.log('busy'));",
    );
    let warnings = defined(&text).unwrap().warnings;
    let shown: Vec<_> =
        warnings.iter().map(|it| format!("{}:{} {}", it.line, it.column, it.message)).collect();
    let expected = [
        "4:9 get() has no option `headrs`; it is ignored",
        "5:9 the variable `tokn` is never set in this session",
        "7:19 this is evaluated once",
        "8:9 GET with a payload",
        "9:9 wait(…, {random: true}) is an old form",
        "10:9 forEver() has neither a request nor a wait",
    ];
    assert_eq!(shown.len(), expected.len(), "{shown:#?}");
    for (shown, expected) in shown.iter().zip(expected) {
        assert!(shown.starts_with(expected), "{shown}");
    }
}

#[test]
fn typescript_and_modules_have_places_too() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "steps.ts",
        "interface Any { x: number }\n\nexport const ask = (s: any): void => {\n  s.gett('/');\n};\n",
    );
    write(
        "main.ts",
        "import { ask } from './steps';\ntype Name = string;\nconst name: Name = 's';\n\
         definition.setTarget('a');\ndefinition.setArrivalPhases([{ duration: 1, rate: 1 }]);\n\
         definition.session(name, (s: any) => ask(s));\n",
    );
    let main = folder.path().join("main.ts");
    let found = evaluate(&main, Sources::default(), Budget::default()).unwrap_err().to_string();
    let expected = format!(
        "{}:4:3: session has no `gett`",
        folder.path().join("steps.ts").canonicalize().unwrap().display()
    );
    assert!(found.starts_with(&expected), "{found}");
    write("steps.ts", "export const ask = (s: any) => s.get('/');");
    assert!(evaluate(&main, Sources::default(), Budget::default()).is_ok());
    write("main.ts", "const x: = 1;");
    let found = evaluate(&main, Sources::default(), Budget::default()).unwrap_err().to_string();
    assert!(found.starts_with(&format!("{}:1:10: syntax error: ", main.display())), "{found}");
    let found = evaluate(Path::new("/none/x.js"), Sources::default(), Budget::default())
        .unwrap_err()
        .to_string();
    assert!(found.starts_with("/none/x.js:1:1: "), "{found}");
}

#[test]
fn deep_nesting_is_an_error_and_no_crash() {
    let deep = 20_000;
    for text in [
        "[".repeat(deep),
        format!("{}1{}", "(".repeat(deep), ")".repeat(deep)),
        format!("const x = {}1;", "!".repeat(deep)),
        format!("const x = 1{};", "+1".repeat(deep)),
        format!("const f = {}1;", "a=>".repeat(deep)),
        format!("{}{}", "{".repeat(deep), "}".repeat(deep)),
    ] {
        assert!(defined(&text).is_err());
    }
    // As deep as a script may be.
    for text in [
        format!("const x = {}1{};", "[".repeat(300), "]".repeat(300)),
        format!("const x = {}1;", "!".repeat(9_900)),
        format!("const x = 1{};", "+1".repeat(4_900)),
        format!("const f = {}1;", "a=>".repeat(3_200)),
        format!("const f = 1{};", "?1:1".repeat(2_400)),
    ] {
        assert!(defined(&text).is_err());
    }
}
