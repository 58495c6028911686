//! What can be imported, and how.

use crate::{Scripts, bundle, result};

#[test]
fn modules_of_every_kind() {
    let scripts = Scripts::new(&[
        (
            "main.js",
            r#"
            import { add, Color } from "./lib/add.ts";
            import old, * as all from "./lib/old.js";
            import data from "./data.json";
            import host, { twice } from "host";
            import left from "left";
            const again = require("host");
            const meta = import.meta.url.endsWith("/main.js") && import.meta.resolve("./x.js").endsWith("/x.js");
            export default () => JSON.stringify([
                add(1, 2), Color.Green, old.name, old.host, Object.keys(all).join(), data.list[1],
                twice(4), host.twice(5), again === host, left, answer, meta,
                require("./lib/old.js").name, typeof require("./lib/add.ts").add,
            ]);
            "#,
        ),
        (
            "lib/add.ts",
            "export enum Color { Red, Green }\nexport function add(a: number, b: number): number { return a + b }\n",
        ),
        ("lib/old.js", "exports.name = 'old'; exports.host = typeof require('host').twice;"),
        ("data.json", r#"{"list": [1, "two"]}"#),
        ("node_modules/left/package.json", r#"{"main": "l.js"}"#),
        ("node_modules/left/l.js", "module.exports = 'left'"),
    ]);
    let bundle = bundle(&scripts.path("main.js"));
    let expected = r#"[3,1,"old","function","default,host,name","two",8,10,true,"left",42,true,"old","function"]"#;
    assert_eq!(result(&bundle).as_deref(), Ok(expected));
    // Once frozen, everything comes from the bundle, even if the files are gone.
    bundle.freeze();
    drop(scripts);
    assert_eq!(result(&bundle).as_deref(), Ok(expected));
}

#[test]
fn commonjs_entry() {
    let scripts = Scripts::new(&[(
        "main.js",
        "const { twice } = require('host');\nmodule.exports.default = function () { return String(twice(21)) };",
    )]);
    let bundle = bundle(&scripts.path("main.js"));
    assert_eq!(result(&bundle).as_deref(), Ok("42"));
}

#[test]
fn what_cannot_be_imported_is_told() {
    let check = |text: &str, told: &[&str]| {
        let scripts = Scripts::new(&[("main.js", text)]);
        let error = result(&bundle(&scripts.path("main.js"))).expect_err(text);
        for told in told {
            assert!(error.message.contains(told), "{error:?}");
        }
    };
    check("import 'nowhere'", &["nowhere", "node_modules"]);
    check("import './missing.js'", &["missing.js", "No such file"]);
    check("import 'http://a.example/b.js'", &["http:"]);
    check("import 'https://a.example/b.js'", &["https://a.example/b.js", "not fetched"]);
    check("export default () => {", &["SyntaxError"]);
}

#[test]
fn positions_are_those_of_the_source() {
    let scripts = Scripts::new(&[(
        "main.ts",
        "interface A {\n  b: number\n}\ntype C = A;\nfunction inner(c: C): string {\n\
         throw new Error('no ' + c.b);\n}\nexport default () => inner({ b: 7 });\n",
    )]);
    let error = result(&bundle(&scripts.path("main.ts"))).expect_err("it throws");
    assert_eq!(error.message, "Error: no 7");
    let first = error.stack.lines().next().expect("a stack");
    assert!(first.starts_with("at inner (file:///") && first.contains("main.ts:6:"), "{first}");
}

#[test]
fn typescript_without_types_in_a_js_file() {
    let scripts = Scripts::new(&[(
        "main.js",
        "const a: number = 1; export default (): string => String(a);",
    )]);
    assert_eq!(result(&bundle(&scripts.path("main.js"))).as_deref(), Ok("1"));
}

#[test]
fn commonjs_by_name() {
    let scripts = Scripts::new(&[
        (
            "main.js",
            r#"
            import whole, { one, dynamic, none } from "./whole.js";
            import * as all from "./whole.js";
            import main, { named } from "./compiled.js";
            import { again, called } from "./passed.js";
            import { missing, twice } from "host";
            import { needed } from "./inner/needs.js";
            let caught = "";
            try { require("./throws.js") } catch (error) { caught = error.message }
            export default () => JSON.stringify([
                whole.one, one, dynamic, typeof none, all.one, all.dynamic, main(), named,
                again, called, typeof missing, twice(2), needed, caught,
            ]);
            "#,
        ),
        ("whole.js", "module.exports = { one: 1 }; module.exports[`dyn${'amic'}`] = 2;"),
        (
            "compiled.js",
            "Object.defineProperty(exports, '__esModule', { value: true });\n\
             exports.named = 'n'; exports.default = () => 'main';",
        ),
        ("passed.js", "export { one as again } from './whole.js'; export * from './called.js';"),
        ("called.js", "exports.called = 'called';"),
        ("inner/needs.js", "export const needed = require('./part.js').part;"),
        ("inner/part.js", "exports.part = 'inner';"),
        ("throws.js", "throw new Error('thrown');"),
    ]);
    let bundle = bundle(&scripts.path("main.js"));
    let expected =
        r#"[1,1,2,"undefined",1,2,"main","n",1,"called","undefined",4,"inner","thrown"]"#;
    assert_eq!(result(&bundle).as_deref(), Ok(expected));
    bundle.freeze();
    drop(scripts);
    assert_eq!(result(&bundle).as_deref(), Ok(expected));
}

#[test]
fn positions_are_those_of_a_source_map() {
    let map = r#"{"version":3,"sources":["src/a.ts"],"names":[],"mappings":"AAUI"}"#;
    let check = |named: &str, place: &str| {
        let text = format!("export default () => {{ throw 0 || new Error('no') }}\n{named}");
        let scripts = Scripts::new(&[("main.js", &text), ("main.js.map", map)]);
        let error = result(&bundle(&scripts.path("main.js"))).expect_err("it throws");
        let first = error.stack.lines().next().expect("a stack");
        assert!(first.contains(place), "{named}: {first}");
    };
    check("//# sourceMappingURL=main.js.map", "/src/a.ts:11:5");
    let inline =
        "eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbInNyYy9hLnRzIl0sIm5hbWVzIjpbXSwibWFwcGluZ3MiOiJBQVVJIn0=";
    check(&format!("//# sourceMappingURL=data:application/json;base64,{inline}"), "/src/a.ts:11:5");
    // One that is missing or wrong is no error.
    check("//# sourceMappingURL=missing.map", "main.js:1:");
    check("//# sourceMappingURL=data:application/json;base64,e30=", "main.js:1:");
}
