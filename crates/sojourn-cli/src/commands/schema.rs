//! `sojourn schema`: the JSON Schema of journey files.

use crate::{errors::UsageError, outputs};

/// Prints it.
pub(crate) fn run() -> Result<u8, UsageError> {
    outputs::print(&format!("{:#}\n", sojourn_plan::schema()));
    Ok(0)
}
