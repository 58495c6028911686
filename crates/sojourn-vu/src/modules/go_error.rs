//! Errors under the name that k6's own have, which scripts see as text: `GoError: …`.

use sojourn_script::js::{Ctx, Error, Exception};

/// Throws an error with this text.
pub(crate) fn throw(ctx: &Ctx<'_>, told: &str) -> Error {
    match Exception::from_message(ctx.clone(), told) {
        Ok(exception) => {
            // Failing that, it is called Error.
            exception.as_object().set("name", "GoError").ok();
            exception.throw()
        }
        Err(error) => error,
    }
}
