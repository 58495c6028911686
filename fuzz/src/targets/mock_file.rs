//! Mock files and OpenAPI documents: errors name a place, and memory is bounded.

use sojourn_mock::{RunFiles, read_mock, read_openapi};
use sojourn_plan::Overrides;

use crate::Input;
use crate::targets::journey_file::{Memory, check_errors};

/// Option 0: an OpenAPI document.
pub(crate) fn check(input: Input<'_>) {
    let Ok(text) = str::from_utf8(input.bytes) else {
        return;
    };
    if input.has(0) {
        if let Err(error) = read_openapi("file.yaml", text, 1) {
            assert!(error.to_string().contains("file.yaml"), "{error}");
        }
        return;
    }
    let read = read_mock("file.yaml", text, &Memory, &RunFiles::default(), &Overrides::default());
    if let Err(errors) = read {
        check_errors(&errors, text);
    }
}
