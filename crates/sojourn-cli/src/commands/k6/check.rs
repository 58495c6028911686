//! `sojourn k6 check`: what a script uses, and what of it is missing here.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use sojourn_k6::exit_code::ExitCode;
use sojourn_vu::{Collecting, Console, LogFormat, ScriptUse, Sources, collect, script_uses};

use super::script::LIMITS;
use crate::errors::UsageError;

/// List what a script uses and what is missing here, without running it
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  sojourn k6 check script.js

Exit codes: 0 everything is there, 104 something is missing.")]
pub(crate) struct Check {
    /// The script
    script: PathBuf,
}

/// A module: its exports, or why it can't be imported.
type Known = Result<BTreeSet<String>, String>;

/// Prints the list.
pub(super) fn run(command: &Check) -> Result<u8, UsageError> {
    let uses = match script_uses(&command.script) {
        Ok(uses) => uses,
        Err(problem) => {
            eprintln!("sojourn k6: {problem}");
            return Ok(ExitCode::InvalidConfig.code());
        }
    };
    let modules: BTreeSet<&str> = uses.iter().map(|used| used.module.as_str()).collect();
    let known = known(&modules);
    let mut missing = 0;
    for used in &uses {
        let is_lost = matches!(known.get(&used.module), Some(Err(_)));
        if is_lost && used.name.is_some() {
            // Said once, of the module.
            continue;
        }
        let verdict = verdict(used, &known);
        let shown = match &used.name {
            Some(name) => format!("{}  {name}", used.module),
            None => used.module.clone(),
        };
        match verdict {
            Ok(()) => println!("✓ {shown}"),
            Err(problem) => {
                missing += 1;
                println!("✗ {shown}: {problem}");
            }
        }
    }
    match missing {
        0 => println!("\nEverything that {} uses is there.", command.script.display()),
        1 => println!("\nOne thing that {} uses is missing.", command.script.display()),
        _ => println!("\n{missing} things that {} uses are missing.", command.script.display()),
    }
    Ok(if missing == 0 { 0 } else { ExitCode::InvalidConfig.code() })
}

fn verdict(used: &ScriptUse, known: &BTreeMap<String, Known>) -> Result<(), String> {
    match (known.get(&used.module), &used.name) {
        (Some(Err(problem)), None) => Err(problem.clone()),
        // Said of the module already.
        (Some(Err(_)) | None, _) | (Some(Ok(_)), None) => Ok(()),
        (Some(Ok(names)), Some(name)) if names.contains(name) => Ok(()),
        (Some(Ok(_)), Some(_)) => Err("the module has no such export here".to_owned()),
    }
}

/// Imports each module in a script of our own, and looks.
fn known(modules: &BTreeSet<&str>) -> BTreeMap<String, Known> {
    let list = serde_json::to_string(modules).unwrap_or_default();
    let text = format!(
        "const found = {{}};
for (const name of {list}) {{
    try {{
        const module = await import(name);
        const own = module.default;
        const inner = own !== null && typeof own === 'object' ? Object.keys(own) : [];
        found[name] = [...new Set([...Object.keys(module), ...inner])];
    }} catch (error) {{ found[name] = error.message; }}
}}
export const options = {{ found }};
export default function () {{}}"
    );
    let silent = Console::new(LogFormat::Raw, false, false, Box::new(io::sink()), None);
    let collected = collect(Collecting {
        script: PathBuf::from("check.js"),
        sources: Sources { entry_text: Some(text), ..sojourn_vu::sources() },
        env: BTreeMap::new(),
        limits: LIMITS,
        console: Arc::new(silent),
    });
    let found = match collected {
        Ok(collected) => collected.options["found"].clone(),
        Err(_) => Value::Null,
    };
    let of_value = |value: &Value| match value {
        Value::Array(names) => {
            Ok(names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect())
        }
        other => Err(other.as_str().unwrap_or("can't be imported").to_owned()),
    };
    let found = found.as_object().cloned().unwrap_or_default();
    found.iter().map(|(name, value)| (name.clone(), of_value(value))).collect()
}
