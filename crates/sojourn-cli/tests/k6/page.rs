//! The table of `docs/k6.md`, made of the scripts' first lines and the two lists.
//!
//! `K6_PAGE=write cargo test -p sojourn-cli --features script k6::page` writes it anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::lists::Lists;
use super::script::{self, Script};

/// The table is what stands between these lines.
const BEGIN: &str = "<!-- conformance: made by a test, see crates/sojourn-cli/tests/k6/page.rs -->";
const END: &str = "<!-- end of conformance -->";

/// Parts of the specification of k6's interface, by the number that rows begin with.
const PARTS: [(&str, &str); 11] = [
    ("8.1", "Environment of scripts"),
    ("8.2", "Lifecycle"),
    ("8.3", "Options, executors, thresholds"),
    ("8.4", "`k6`"),
    ("8.5", "`k6/http`"),
    ("8.6", "`k6/metrics`, `k6/data`, `k6/encoding`, `k6/crypto`, `k6/timers`, `k6/html`"),
    ("8.7", "`k6/execution`"),
    ("8.8", "`k6/ws`, `k6/websockets`, `k6/net/grpc`"),
    ("8.9", "WebCrypto, experimental modules, secrets"),
    ("8.10", "Built-in metrics"),
    ("8.11", "Command line and outputs"),
];

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/k6.md")
}

#[test]
fn the_page_tells_what_the_lists_tell() {
    let path = page();
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let expected = format!("{before}{BEGIN}\n\n{}\n{END}{after}", table());
    if std::env::var_os("K6_PAGE").is_some() {
        std::fs::write(&path, expected).unwrap();
    } else {
        assert!(text == expected, "{} is out of date: see {}", path.display(), file!());
    }
}

fn table() -> String {
    let (scripts, lists) = (script::all(), Lists::read());
    let mut text = totals(&scripts, &lists);
    let mut rows: BTreeMap<&str, Vec<&Script>> = BTreeMap::new();
    for script in &scripts {
        rows.entry(part_of(script)).or_default().push(script);
    }
    for (number, title) in PARTS.into_iter().chain([("mistakes", "Mistakes")]) {
        let Some(own) = rows.get_mut(number) else { continue };
        own.sort_by_key(|script| what(script));
        // Writing to a string can't fail.
        write!(text, "\n### {title}\n\n| what | |\n|---|---|\n").unwrap();
        for script in own.iter() {
            writeln!(text, "| {} | {} |", cell(what(script)), cell(&state(script, &lists)))
                .unwrap();
        }
    }
    text
}

fn totals(scripts: &[Script], lists: &Lists) -> String {
    let missing = scripts.iter().filter(|script| lists.is_missing(&script.name)).count();
    let different = scripts.iter().filter(|script| lists.different.contains_key(&*script.name));
    let different = different.count();
    let all = scripts.len();
    let works = all - missing - different;
    format!(
        "Of {all} scripts {works} do what k6 does in every field that is compared, {different} \
         differ on purpose\n(mostly in the words of a message), and {missing} need what is not there \
         yet.\n"
    )
}

fn state(script: &Script, lists: &Lists) -> String {
    if let Some(reason) = lists.missing.get(&*script.name) {
        return format!("missing: {reason}");
    }
    match lists.different.get(&*script.name) {
        Some(difference) => format!("differs: {}", difference.reason),
        None => "works".to_owned(),
    }
}

fn row(script: &Script) -> &str {
    script.directive("Row").unwrap_or("mistakes: an empty script")
}

fn part_of(script: &Script) -> &str {
    let first = row(script).split(' ').next().unwrap_or_default();
    first.trim_end_matches(':')
}

fn what(script: &Script) -> &str {
    row(script).split_once(' ').map_or("", |(_, what)| what)
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}
