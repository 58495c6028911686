//! Session scripts as journey files: whatever is declared, the file that is made of it can be read.

use std::path::Path;

use sojourn_plan::Overrides;
use sojourn_script::Sources;
use sojourn_session::{Budget, Data, Definition, evaluate, journey_file};

use crate::Input;
use crate::targets::journey_file::Memory;

/// Some milliseconds.
pub(super) const BUDGET: Budget =
    Budget { memory_bytes: 8 << 20, stack_bytes: 128 << 10, asks_max: 20 };

pub(crate) fn check(input: Input<'_>) {
    let Ok(text) = std::str::from_utf8(input.bytes) else { return };
    let sources = Sources { entry_text: Some(text.to_owned()), ..Sources::default() };
    if let Ok(definition) = evaluate(Path::new("/nowhere/fuzzed.js"), sources, BUDGET) {
        check_journeys(&definition);
    }
}

/// What is made of a definition is a journey file, and its remarks say something.
pub(super) fn check_journeys(definition: &Definition) {
    let Ok(data) = Data::load(definition, &Memory) else { return };
    let Some(made) = journey_file("fuzzed", definition, &data) else { return };
    for remark in &made.remarks {
        assert!(!remark.message.is_empty(), "{remark}");
    }
    let read = sojourn_plan::read("fuzzed.yaml", &made.text, &Memory, &Overrides::default());
    let plan = read.unwrap_or_else(|errors| panic!("{errors}\n{}", made.text));
    assert!(!plan.journeys.is_empty() && !plan.load.is_empty(), "{}", made.text);
}
