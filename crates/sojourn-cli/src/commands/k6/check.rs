//! `sojourn k6 check`: what a script uses, and what of it is missing here or differs.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use sojourn_k6::exit_code::ExitCode;
use sojourn_vu::{
    Collecting, Console, LogFormat, ScriptUse, Secrets, Sources, collect, script_uses,
};

use super::differs;
use super::script::LIMITS;
use crate::errors::UsageError;

/// List what a script uses and what is missing here or differs, without running it
///
/// Modules that are imported, their names, and members of those, as far as they can be seen without
/// running the script. What is called by a computed name, or is a method of an object, is not seen.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  sojourn k6 check script.js

Exit codes: 0 everything is there, 104 something is missing.")]
pub(crate) struct Check {
    /// The script
    script: PathBuf,
}

/// What came of looking for something.
enum Found {
    Here,
    Missing(String),
    /// It can't be told without running the script.
    Unknown,
}

/// Prints the list.
pub(super) fn run(command: &Check) -> Result<u8, UsageError> {
    let uses = match script_uses(&command.script) {
        Ok(uses) => uses,
        Err(problem) => {
            eprintln!("sojourn k6: {problem}");
            return Ok(ExitCode::InvalidConfig.code());
        }
    };
    let (mut missing, mut different) = (0, 0);
    // Of what is missing, members are missing too: that is said once.
    let mut lost: Option<&ScriptUse> = None;
    for (used, found) in uses.iter().zip(look_for(&uses)) {
        let is_within =
            |lost: &ScriptUse| used.module == lost.module && used.names.starts_with(&lost.names);
        if lost.is_some_and(is_within) {
            continue;
        }
        let shown = shown(used);
        match (found, differs::how(&used.module, &used.names)) {
            (Found::Unknown, _) => {}
            (Found::Missing(problem), _) => {
                missing += 1;
                lost = Some(used);
                println!("✗ {shown}: {problem}");
            }
            (Found::Here, Some(how)) => {
                different += 1;
                println!("≈ {shown}: {how}");
            }
            (Found::Here, None) => println!("✓ {shown}"),
        }
    }
    println!("\n{}", conclusion(&command.script.display().to_string(), missing, different));
    Ok(if missing == 0 { 0 } else { ExitCode::InvalidConfig.code() })
}

fn shown(used: &ScriptUse) -> String {
    match &used.names[..] {
        [] => used.module.clone(),
        names => format!("{}  {}", used.module, names.join(".")),
    }
}

fn conclusion(script: &str, missing: u64, different: u64) -> String {
    let missing = match missing {
        0 => format!("Everything that {script} uses is there."),
        1 => format!("One thing that {script} uses is missing."),
        _ => format!("{missing} things that {script} uses are missing."),
    };
    match different {
        0 => missing,
        1 => format!("{missing} One differs from k6's."),
        _ => format!("{missing} {different} differ from k6's."),
    }
}

/// Looks for things, each a list of a module and names: what was found of each, in their order.
/// True: it is there. False: it is not. A text: why its module can't be imported. Null: it can't be
/// told.
const LOOK: &str = r#"
const isObject = (value) => value !== null && typeof value === "object";
async function look([from, name, member]) {
    let module;
    try {
        module = await import(from);
    } catch (error) {
        return error.message;
    }
    if (name === undefined) return true;
    const holder = [module, module.default].find((it) => isObject(it) && name in it);
    if (holder === undefined || member === undefined) return holder !== undefined;
    try {
        const value = holder[name];
        return isObject(value) ? member in value : null;
    } catch {
        return null;
    }
}
const found = [];
for (const wanted of all) found.push(await look(wanted));
export const options = { found };
export default function () {}
"#;

/// Imports each module in a script of our own, and looks.
fn look_for(uses: &BTreeSet<ScriptUse>) -> Vec<Found> {
    let all: Vec<Vec<&String>> = uses
        .iter()
        .map(|used| std::iter::once(&used.module).chain(&used.names).collect())
        .collect();
    // Texts have no reason not to be JSON.
    let text = format!("const all = {};{LOOK}", serde_json::json!(all));
    let silent = Console::new(LogFormat::Raw, false, false, Box::new(io::sink()), None);
    let collected = collect(Collecting {
        script: PathBuf::from("check.js"),
        sources: Sources { entry_text: Some(text), ..sojourn_vu::sources() },
        env: BTreeMap::new(),
        secrets: Secrets::default(),
        limits: LIMITS,
        connectors: Arc::default(),
        console: Arc::new(silent),
    });
    let found = collected.map_or(Value::Null, |collected| collected.options["found"].clone());
    let of_value = |value: &Value| match value {
        Value::Bool(true) => Found::Here,
        Value::Bool(false) => Found::Missing("there is no such name here".to_owned()),
        Value::String(problem) => Found::Missing(problem.clone()),
        _ => Found::Unknown,
    };
    (0..all.len()).map(|index| of_value(&found[index])).collect()
}
