//! Every case of `golden/options/cases.jsonl` beside what k6 2.2 said of it.

use std::{collections::BTreeMap, fs, path::Path};

use clap::Parser;
use serde_json::Value;
use sojourn_k6::{
    flags::{RunFlags, Settings},
    options::{Consolidated, Environment, Options, OptionsError, Tier, Tiers, consolidate},
};

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    run: RunFlags,
}

fn lines(name: &str) -> BTreeMap<String, Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/options").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let cases = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    cases.map(|case| (case["name"].as_str().expect("name").to_owned(), case)).collect()
}

/// What we make of a case: with flags and configuration file as `run`, without as `inspect`.
fn ours(case: &Value, with_flags: bool) -> Result<Consolidated, String> {
    let text = |error: OptionsError| error.to_string();
    let words = case["flags"].as_array().into_iter().flatten().filter(|_| with_flags);
    let words = ["k6"].into_iter().chain(words.map(|word| word.as_str().expect("word")));
    let flags = Cli::try_parse_from(words).map_err(|error| error.to_string())?.run;
    let environment: Environment = case["environment"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.clone(), value.as_str().expect("text").to_owned()))
        .collect();
    let config = if with_flags { &case["config"] } else { &Value::Null };
    let (config_file, _) = Options::from_json(Tier::ConfigFile, config).map_err(text)?;
    let (script, _) = Options::from_json(Tier::Script, &case["options"]).map_err(text)?;
    let environment_options = Options::from_environment(&environment).map_err(text)?;
    Settings::new(&flags, &environment, config).map_err(text)?;
    consolidate(Tiers {
        config_file,
        script,
        environment: environment_options,
        flags: flags.options().map_err(text)?,
    })
    .map_err(text)
}

/// The options that the script showed in `setup()`.
fn shown(golden: &Value) -> Option<Value> {
    let errors = golden["run"]["err"].as_str()?;
    let line = errors.lines().find(|line| line.contains("msg=\"{\\\"paused"))?;
    let message = line.split_once("msg=")?.1.split(" source=").next()?;
    serde_json::from_str(&serde_json::from_str::<String>(message).ok()?).ok()
}

/// The banner's lines on scenarios.
fn banner(golden: &Value) -> Vec<String> {
    let out = golden["run"]["out"].as_str().unwrap_or_default();
    let lines = out.lines().map(str::trim);
    let lines = lines.skip_while(|line| !line.starts_with("scenarios: "));
    let lines = lines.take_while(|line| line.starts_with("scenarios: ") || line.starts_with("* "));
    lines.map(String::from).collect()
}

fn our_banner(ours: &Consolidated) -> Vec<String> {
    let segment = ours.options.execution_segment.unwrap_or_default();
    let first = ours.requirements().line(ours.scenarios.len(), &segment);
    let lines = ours.scenarios.iter().map(|scenario| format!("* {}", scenario.line()));
    [first].into_iter().chain(lines).collect()
}

#[test]
fn every_case_is_as_k6_says() {
    let golden = lines("golden.jsonl");
    let mut differences = Vec::new();
    for (name, case) in lines("cases.jsonl") {
        let golden = golden.get(&name).unwrap_or_else(|| panic!("{name}: record it"));
        let mut differ = |what: &str, ours: String, theirs: String| {
            if ours != theirs {
                differences.push(format!("{name}: {what}\n  ours: {ours}\n  k6's: {theirs}"));
            }
        };
        let run = ours(&case, true);
        let is_refused = golden["run"]["code"] == 104 || golden["run"]["code"] == 255;
        let told = golden["run"]["err"].as_str().unwrap_or_default().to_owned();
        match &run {
            Err(error) if !is_refused => differ("refused", error.clone(), told),
            Ok(_) if is_refused => differ("taken", String::new(), told),
            Err(_) => {}
            Ok(ours) => {
                let theirs = banner(golden).join("\n");
                differ("banner", our_banner(ours).join("\n"), theirs);
                if let Some(theirs) = shown(golden) {
                    differ("options", ours.options.to_json().to_string(), theirs.to_string());
                }
            }
        }
    }
    let count = differences.len();
    assert!(differences.is_empty(), "{count} differ:\n{}", differences.join("\n"));
}
