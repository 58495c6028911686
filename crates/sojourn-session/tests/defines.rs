//! Identifiers that are given values from outside.

use std::path::Path;

use sojourn_plan::PlanErrors;
use sojourn_script::Sources;
use sojourn_session::{Action, Budget, Client, Data, Defines, Definition, Input, Memory, Program};

use crate::util::{Disk, script};

fn defined(text: &str, given: &[&str]) -> Result<Definition, PlanErrors> {
    let sources = Sources { entry_text: Some(text.to_owned()), ..Sources::default() };
    let defines = Defines::parse(given).expect("they are identifiers");
    sojourn_session::evaluate_with(Path::new("script.js"), sources, Budget::default(), &defines)
}

/// What the first client of a script writes to its log.
fn logged(text: &str, given: &[&str]) -> String {
    let definition = defined(text, given).unwrap_or_else(|errors| panic!("{text}\n{errors}"));
    assert_eq!(definition.warnings, [], "{text}");
    let data = Data::load(&definition, &Disk).expect("its files are there");
    let program = Program::compile(&definition, &data).expect("it compiles");
    let mut memory = Memory::new(1, 0, 1);
    let mut client = Client::new(&program, 0, 0);
    match client.step(&program, &mut memory, Input::Go) {
        Action::Log(text) => text.to_owned(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn identifiers_have_the_given_values() {
    let idiom = format!(
        "defines = {{}};\nconst env = defines.env || \"staging\";\n{}",
        script("session.log(env);")
    );
    assert_eq!(logged(&idiom, &[]), "staging");
    assert_eq!(logged(&idiom, &["env=prod"]), "prod");
    assert_eq!(logged(&idiom, &["defines.env=\"prod\""]), "prod");
    let bare = script("session.log(typeof env === 'undefined' ? 'none' : env);");
    assert_eq!(logged(&bare, &[]), "none");
    assert_eq!(logged(&bare, &["env=prod"]), "prod");
    assert_eq!(logged(&bare, &["env=a", "env=b"]), "b");
    let without = script("session.log(String(defines.env));");
    assert_eq!(
        (logged(&without, &[]), logged(&without, &["env=x"])),
        ("undefined".into(), "x".into())
    );
    let path = script("session.log(process.env.NODE_ENV + process.env.N);");
    assert_eq!(logged(&path, &["process.env.NODE_ENV=test", "process.env.N=7"]), "test7");
    let json = script("session.log(JSON.stringify([list, n + 1, flag]));");
    assert_eq!(logged(&json, &["list=[1,\"a\"]", "n=7", "flag=false"]), "[[1,\"a\"],8,false]");
    let kept = format!(
        "defines = {{ other: 1, env: 'own' }};\n{}",
        script("session.log(defines.env + defines.other);")
    );
    assert_eq!(logged(&kept, &["env=prod"]), "prod1");
    let own =
        format!("const defines = {{ env: 'own' }};\n{}", script("session.log(defines.env + env);"));
    assert_eq!(logged(&own, &["env=prod"]), "ownprod");
}

#[test]
fn a_name_that_the_script_does_not_ask_for_is_probably_a_slip() {
    let text = script("defines = {}; session.log(typeof env + defines.other);");
    let definition = defined(&text, &["env=prod", "evn=prod", "a.b=1", "other=2"]).unwrap();
    let warnings: Vec<_> = definition.warnings.iter().map(|it| it.message.as_str()).collect();
    let expected = [
        "`evn` is given a value, but the script does not ask for it",
        "`a.b` is given a value, but the script does not ask for it",
    ];
    assert_eq!(warnings, expected);
    assert_eq!(defined(&text, &[]).unwrap().warnings, []);
    let all = script("session.log(JSON.stringify(defines));");
    assert_eq!(logged(&all, &["b=1", "c.d=2", "defines.e=3"]), r#"{"b":1,"e":3}"#);
}
