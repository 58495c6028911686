//! Recordings of browsers: any text is read; what becomes a script is a session script without an
//! error, and what becomes a journey file of that is one.

use std::path::Path;

use sojourn_script::Sources;
use sojourn_session::{evaluate, har_script};

use crate::Input;
use crate::targets::session_journeys::{BUDGET, check_journeys};

pub(crate) fn check(input: Input<'_>) {
    let Ok(text) = std::str::from_utf8(input.bytes) else { return };
    let script = match har_script(text) {
        Ok(script) => script,
        Err(error) => {
            let message = error.to_string();
            assert!(!message.is_empty() && message.chars().count() < 10_000, "{message}");
            return;
        }
    };
    let sources = Sources { entry_text: Some(script.clone()), ..Sources::default() };
    let definition = evaluate(Path::new("/nowhere/fuzzed.js"), sources, BUDGET)
        .unwrap_or_else(|errors| panic!("{errors}\n{script}"));
    assert!(!definition.sessions.is_empty() && !definition.targets.all().is_empty(), "{script}");
    check_journeys(&definition);
}
