//! What is wrong with a script, with its file and line.

use std::fmt;

/// A script's error, or one of the site it is for: `bench.lua:12: …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError(pub(crate) String);

impl fmt::Display for ScriptError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for ScriptError {}

/// Where the host's own Lua code says it is: not where the mistake is.
pub(crate) const HOST_CHUNK: &str = "wrk";

/// Whether a place (`name` or `name:12:`) is in the host's own Lua code, or the library's.
pub(crate) fn is_ours(place: &str) -> bool {
    let name = place.split(':').next().unwrap_or_default();
    name == HOST_CHUNK || name == "[C]" || name.starts_with("__mlua")
}

/// Most memory of one Lua state.
pub(crate) const STATE_BYTES_MAX: usize = 512 << 20;

impl ScriptError {
    /// An error that Lua raised while `what` ran, in the script of this name.
    pub(crate) fn raised(error: &mlua::Error, what: &str, script: &str) -> Self {
        let (message, trace) = parts(error);
        let message = match position(&message) {
            Some(place) if is_ours(place) => message[place.len()..].trim_start(),
            _ => message.as_str(),
        };
        if let Some(place) = position(message) {
            let rest = message[place.len()..].trim_start();
            return Self(format!("{place} {rest}"));
        }
        // Raised by something that knows no lines: the innermost line of the script that led there.
        let mut places = trace.lines().filter_map(|line| position(line.trim_start()));
        match places.find(|place| !is_ours(place)) {
            Some(place) => Self(format!("{place} {message}")),
            None => Self(format!("{script}: {what}: {message}")),
        }
    }
}

/// The message and the traceback, as far as there is one.
fn parts(error: &mlua::Error) -> (String, String) {
    let split = |text: &str| match text.split_once("\nstack traceback:\n") {
        Some((message, trace)) => (message.to_owned(), trace.to_owned()),
        None => (text.to_owned(), String::new()),
    };
    match error {
        mlua::Error::SyntaxError { message, .. } => (message.clone(), String::new()),
        mlua::Error::RuntimeError(text) => split(text),
        mlua::Error::MemoryError(_) => (out_of_memory(), String::new()),
        mlua::Error::CallbackError { traceback, cause } => {
            let (message, inner) = parts(cause);
            let trace = traceback.trim_start_matches("stack traceback:\n");
            (message, format!("{inner}\n{trace}"))
        }
        mlua::Error::BadArgument { to, pos, cause, .. } => {
            let to = to.as_deref().unwrap_or("the function");
            (format!("argument {pos} of {to}: {}", parts(cause).0), String::new())
        }
        mlua::Error::FromLuaConversionError { from, to, message } => {
            let why = message.as_ref().map_or(String::new(), |why| format!(": {why}"));
            (format!("a {from} where {to} is needed{why}"), String::new())
        }
        other => split(&other.to_string()),
    }
}

fn out_of_memory() -> String {
    format!("it needs more than {} MB of Lua memory", STATE_BYTES_MAX >> 20)
}

/// `name:12:` at the beginning of a text.
fn position(text: &str) -> Option<&str> {
    let mut from = 0;
    // A name may have colons itself.
    while let Some(colon) = text.get(from..)?.find(':') {
        let after = &text[from + colon + 1..];
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && after[digits..].starts_with(':') {
            let place = &text[..from + colon + 1 + digits + 1];
            return (!place.contains(['\n', ' ']) || place.contains('/')).then_some(place);
        }
        from += colon + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raised(error: mlua::Error) -> String {
        ScriptError::raised(&error, "request()", "a.lua").0
    }

    #[test]
    fn every_error_has_its_place() {
        let runtime = |text: &str| raised(mlua::Error::RuntimeError(text.to_owned()));
        assert_eq!(
            runtime("a.lua:3: oh\nstack traceback:\n\t[C]: in function 'error'"),
            "a.lua:3: oh"
        );
        // A table as an error has no position of its own.
        assert_eq!(
            runtime("table: 0x1\nstack traceback:\n\t[C]: in ?\n\twrk:9: in x\n\ta.lua:7: in y"),
            "a.lua:7: table: 0x1"
        );
        assert_eq!(runtime("wrk:12: wrk.format: no"), "a.lua: request(): wrk.format: no");
        assert_eq!(runtime("plain"), "a.lua: request(): plain");
        let syntax =
            mlua::Error::SyntaxError { message: "a.lua:1: near x".into(), incomplete_input: true };
        assert_eq!(raised(syntax), "a.lua:1: near x");
        let memory = raised(mlua::Error::MemoryError("not enough memory".into()));
        assert_eq!(memory, "a.lua: request(): it needs more than 512 MB of Lua memory");
    }

    #[test]
    fn positions_are_told_from_other_colons() {
        assert_eq!(position("a.lua:3: x"), Some("a.lua:3:"));
        assert_eq!(position("/tmp/my dir/a.lua:3: x"), Some("/tmp/my dir/a.lua:3:"));
        assert_eq!(position("x:y/a.lua:12: z"), Some("x:y/a.lua:12:"));
        for text in ["", ":", "no place", "a: 3: b", "a:3", "bad host 127.0.0.1:80: refused"] {
            assert_eq!(position(text), None, "{text}");
        }
    }
}
