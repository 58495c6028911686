//! What goes wrong in scripts, in the words and at the positions of their authors.

use rquickjs::{CaughtError, Coerced, Ctx, Error, FromJs, Value};

use crate::{Bundle, commonjs};

/// A script that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ScriptError {
    /// `TypeError: x is not a function`; of what is thrown that is no error, its text.
    pub message: String,
    /// Where, a line for each call: `at name (file:///a/script.ts:3:5)`. Positions are those of the
    /// source as written. Empty where there is none.
    pub stack: String,
    /// It was stopped by its owner, by no fault of its own.
    pub interrupted: bool,
    /// It rejected a promise that nobody handles.
    pub is_rejection: bool,
}

impl ScriptError {
    pub(crate) fn load(message: String) -> Self {
        Self { message, stack: String::new(), interrupted: false, is_rejection: false }
    }

    /// What ends a script whose owner does not want it to go on.
    pub fn interrupted() -> Self {
        Self { interrupted: true, ..Self::load("interrupted".to_owned()) }
    }

    /// Something that is wrong with the script as a whole.
    pub fn other(message: &str) -> Self {
        Self::load(message.to_owned())
    }

    /// The script exports no function of this name.
    pub fn missing(function: &str) -> Self {
        Self::load(format!("function '{function}' not found in exports"))
    }

    /// The error behind `error`, which the engine is rid of afterwards.
    pub fn caught(ctx: &Ctx<'_>, bundle: &Bundle, error: Error) -> Self {
        match CaughtError::from_error(ctx, error) {
            CaughtError::Error(error) => Self::load(error.to_string()),
            CaughtError::Exception(exception) => {
                Self::of_value(ctx, bundle, exception.into_object().into_value())
            }
            CaughtError::Value(value) => Self::of_value(ctx, bundle, value),
        }
    }

    /// The error that a thrown or rejected `value` is.
    pub fn of_value<'js>(ctx: &Ctx<'js>, bundle: &Bundle, value: Value<'js>) -> Self {
        let text = |value: Value<'js>| -> Option<String> {
            let text = Coerced::<String>::from_js(ctx, value).map(|text| text.0);
            if text.is_err() {
                ctx.catch();
            }
            text.ok()
        };
        let stack = value
            .as_object()
            .filter(|object| object.is_error())
            .and_then(|object| object.get::<_, Option<String>>("stack").ok().flatten());
        let message = text(value).unwrap_or_else(|| "an exception without text".to_owned());
        let stack = stack.map(|stack| mapped(&stack, bundle)).unwrap_or_default();
        let interrupted = message.ends_with("interrupted") && message.starts_with("InternalError");
        Self { message, stack, interrupted, is_rejection: false }
    }

    /// Message and stack, as a log shows them.
    pub fn with_stack(&self) -> String {
        let mut text = self.message.clone();
        for line in self.stack.lines() {
            text.push_str("\n\t");
            text.push_str(line);
        }
        text
    }
}

/// The stack's lines with positions in sources as they were written.
fn mapped(stack: &str, bundle: &Bundle) -> String {
    let lines = stack.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<_> =
        lines.map(|line| mapped_line(line, bundle).unwrap_or_else(|| line.to_owned())).collect();
    lines.join("\n")
}

/// `at name (url:line:column)` with the source's line and column.
fn mapped_line(line: &str, bundle: &Bundle) -> Option<String> {
    let (head, place) = line.strip_suffix(')')?.rsplit_once('(')?;
    let (rest, column) = place.rsplit_once(':')?;
    let (url, row) = rest.rsplit_once(':')?;
    let (row, column): (u32, u32) = (row.parse().ok()?, column.parse().ok()?);
    let module = bundle.module(url)?;
    let is_wrapped = module.is_commonjs && row == 1;
    let column = if is_wrapped { commonjs::first_column(column) } else { column };
    let Some(map) = module.map else { return Some(format!("{head}({url}:{row}:{column})")) };
    let (source, row, column) = map.source(row.checked_sub(1)?, column.checked_sub(1)?)?;
    Some(format!("{head}({}:{}:{})", source.unwrap_or(url), row + 1, column + 1))
}
