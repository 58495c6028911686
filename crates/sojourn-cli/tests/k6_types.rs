//! The declarations that `sojourn k6 types` writes, as TypeScript's own compiler reads them: beside
//! the examples, and against what modules really have.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use sojourn_testkit::services::TYPESCRIPT;
use sojourn_testkit::{Output, Program, TempDir, sojourn, temp_dir};

/// Declarations of no module that could be imported.
const NO_MODULES: [&str; 4] = ["globals", "jslib", "k6/options", "k6/summary"];

/// A folder with the declarations, and the settings that are told of along with them.
fn written() -> TempDir {
    let folder = temp_dir().unwrap();
    let output = sojourn(["k6", "types", "types"]).in_dir(folder.path()).run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    let (_, settings) = output.stdout.split_once("\n\n").unwrap();
    std::fs::write(folder.path().join("tsconfig.json"), settings).unwrap();
    folder
}

fn compile(folder: &Path) -> Output {
    let compiler = TYPESCRIPT.file("bin/tsc").unwrap();
    let arguments = [compiler.as_os_str(), "--pretty".as_ref(), "false".as_ref()];
    let program = Program::new("node").args(arguments).in_dir(folder);
    program.timeout(Duration::from_secs(120)).run().unwrap()
}

/// Modules that are declared, by their names in imports.
fn modules(folder: &Path, start: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            modules(&entry.path(), &format!("{start}{name}/"), found);
        } else if let Some(name) = name.strip_suffix(".d.ts") {
            found.push(format!("{start}{name}"));
        }
    }
}

/// What each of these modules really has, as a script sees it.
fn names_at_run_time(folder: &Path, modules: &[String]) -> Value {
    let mut script = String::new();
    for (number, name) in modules.iter().enumerate() {
        writeln!(script, "import * as m{number} from '{name}';").unwrap();
    }
    script.push_str("const names = {\n");
    for (number, name) in modules.iter().enumerate() {
        writeln!(script, "'{name}': Object.keys(m{number}),").unwrap();
    }
    script.push_str(
        "};\nexport default function () {}\n\
         export function handleSummary() { return { 'names.json': JSON.stringify(names) }; }\n",
    );
    std::fs::write(folder.join("names.js"), script).unwrap();
    let output = sojourn(["k6", "run", "--quiet", "names.js"]).in_dir(folder).run().unwrap();
    assert_eq!(output.code, Some(0), "{output}");
    // It is a script, and no part of what is compiled.
    std::fs::remove_file(folder.join("names.js")).unwrap();
    serde_json::from_str(&std::fs::read_to_string(folder.join("names.json")).unwrap()).unwrap()
}

/// A program that uses every name, and fits only if the declarations have these and no others.
fn every_name(names: &Value) -> String {
    let mut program = String::new();
    for (number, (module, names)) in names.as_object().unwrap().iter().enumerate() {
        writeln!(program, "import * as m{number} from '{module}';").unwrap();
        let names = names.as_array().unwrap().iter().filter_map(Value::as_str);
        let names: Vec<_> = names.filter(|name| *name != "default").collect();
        assert!(!names.is_empty(), "{module} has nothing");
        let type_of = format!("Exclude<keyof typeof m{number}, 'default'>");
        writeln!(program, "export const n{number}: Record<{type_of}, unknown> = {{").unwrap();
        for name in names {
            writeln!(program, "  {name}: m{number}.{name},").unwrap();
        }
        program.push_str("};\n");
    }
    program
}

#[test]
fn the_compiler_takes_the_examples_and_every_name_that_there_is() {
    let folder = written();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sojourn-vu/types/examples");
    let mut count = 0;
    for entry in std::fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "ts") {
            std::fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
            count += 1;
        }
    }
    assert!(count >= 5, "{count} examples");
    let mut declared = Vec::new();
    modules(&folder.path().join("types"), "", &mut declared);
    declared.retain(|name| !NO_MODULES.contains(&name.as_str()));
    let names = names_at_run_time(folder.path(), &declared);
    std::fs::write(folder.path().join("names.ts"), every_name(&names)).unwrap();
    let output = compile(folder.path());
    assert_eq!(output.code, Some(0), "{output}");
    // It does look at them.
    let wrong = "import http from 'k6/http';\nexport const answer: number = http.get('x').body;\n";
    std::fs::write(folder.path().join("wrong.ts"), wrong).unwrap();
    let output = compile(folder.path());
    assert_ne!(output.code, Some(0), "{output}");
    let errors: Vec<_> = output.stdout.lines().filter(|line| line.contains("error TS")).collect();
    assert!(errors.len() == 1 && errors[0].starts_with("wrong.ts(2,"), "{output}");
}

#[test]
fn what_somebody_else_has_written_is_overwritten_only_where_that_is_asked_for() {
    let folder = written();
    let file = folder.path().join("types/k6/http.d.ts");
    let ours = std::fs::read_to_string(&file).unwrap();
    let again = || sojourn(["k6", "types"]).in_dir(folder.path()).run().unwrap();
    assert_eq!(again().code, Some(0), "the same may be written again");
    std::fs::write(&file, "// mine").unwrap();
    let output = again();
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("http.d.ts") && output.stderr.contains("--force"), "{output}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "// mine");
    let forced = sojourn(["k6", "types", "--force"]).in_dir(folder.path()).run().unwrap();
    assert_eq!(forced.code, Some(0), "{forced}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), ours);
}
