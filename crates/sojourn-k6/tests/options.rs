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

/// Where we differ from k6 2.2 on purpose.
const DIFFERENT: &[(&str, &str)] = &[
    ("bare-externally-controlled", "k6 2 has removed it; we keep it"),
    ("full-external", "k6 2 has removed it; we keep it"),
    ("bad-hosts", "k6 takes an address that is none, and fails when it is used"),
    ("hosts-name", "k6 takes an address that is none, and fails when it is used"),
    ("exec-missing", "only who has the script's exports can tell"),
    ("flag-features", "a tag that only k6 needs"),
    ("flag-no-summary", "k6 2 has removed it; we keep it"),
    ("flag-summary-legacy", "k6 2 has removed it; we keep it"),
    ("ramp-down-negative", "shown as 0s"),
    ("thresholds-bad", "thresholds are read elsewhere"),
    ("thresholds-no-text", "thresholds are read elsewhere"),
];

/// The keys in which two objects differ, with both values.
fn differing(ours: &Value, theirs: &Value) -> [String; 2] {
    let keys = |value: &Value| -> Vec<String> {
        value.as_object().map(|entries| entries.keys().cloned().collect()).unwrap_or_default()
    };
    let mut all = keys(ours);
    all.extend(keys(theirs).into_iter().filter(|key| ours.get(key).is_none()));
    all.retain(|key| ours.get(key).map(Value::to_string) != theirs.get(key).map(Value::to_string));
    let side =
        |value: &Value| all.iter().map(|key| format!("{key}={:?} ", value.get(key))).collect();
    match all.is_empty() {
        // Order counts.
        true => [keys(ours).join(","), keys(theirs).join(",")],
        false => [side(ours), side(theirs)],
    }
}

/// What k6 warned of.
fn warned(golden: &Value) -> Vec<String> {
    let errors = golden["run"]["err"].as_str().unwrap_or_default();
    let texts = errors.lines().filter_map(|line| line.strip_prefix("level=warning msg="));
    let texts = texts.filter(|text| !text.contains("unknown fields"));
    texts.map(|text| serde_json::from_str(text).expect("quoted")).collect()
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
        if DIFFERENT.iter().any(|(different, _)| *different == name) {
            continue;
        }
        if let Some(text) = golden["inspect"]["out"].as_str().filter(|text| !text.is_empty()) {
            let theirs: Value = serde_json::from_str(text).expect("JSON");
            match ours(&case, false) {
                Ok(ours) => {
                    let [ours, theirs] = differing(&ours.inspected(), &theirs);
                    differ("inspect", ours, theirs);
                }
                Err(error) => differ("inspect refused", error, String::new()),
            }
        }
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
                    let [ours, theirs] = differing(&ours.options.to_json(), &theirs);
                    differ("options", ours, theirs);
                }
                differ("warnings", ours.warnings.join("\n"), warned(golden).join("\n"));
            }
        }
    }
    let count = differences.len();
    assert!(differences.is_empty(), "{count} differ:\n{}", differences.join("\n"));
}
