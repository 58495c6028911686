//! Global identifiers that whoever runs a script gives values: `--define env=prod`.

use std::fmt::Write as _;

use serde_json::Value;

/// Identifiers and their values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Defines {
    /// Path of names, and the value: in the given order, the later one wins.
    list: Vec<(Vec<String>, Value)>,
}

/// Why a definition can't be made, as a fragment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DefineError {
    /// Nothing is given to the name.
    #[error("`{0}` gives no value: write NAME=VALUE")]
    NoValue(String),
    /// Not what JavaScript calls an identifier, or a reserved word.
    #[error(
        "`{name}` in `{given}` is no identifier: letters, digits, `_` and `$`, not a digit first"
    )]
    NoIdentifier {
        /// The part that is none.
        name: String,
        /// What was given.
        given: String,
    },
    /// The name means something already.
    #[error("`{0}` is a name of JavaScript's own or of session scripts: choose another")]
    Taken(String),
}

/// Words that are no identifiers in modules.
const RESERVED: [&str; 46] = [
    "arguments",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "var",
    "void",
    "while",
];

/// Names that mean something already.
const TAKEN: [&str; 33] = [
    "AggregateError",
    "Array",
    "ArrayBuffer",
    "BigInt",
    "Boolean",
    "DataView",
    "Date",
    "Error",
    "Function",
    "Infinity",
    "Intl",
    "Iterator",
    "JSON",
    "Map",
    "Math",
    "NaN",
    "Number",
    "Object",
    "Promise",
    "Proxy",
    "RangeError",
    "Reflect",
    "RegExp",
    "Set",
    "String",
    "Symbol",
    "SyntaxError",
    "TypeError",
    "WeakMap",
    "WeakSet",
    "definition",
    "globalThis",
    "undefined",
];

impl Defines {
    /// From `NAME=VALUE`, one each. A name may be a path (`process.env.NODE_ENV`); a value is JSON,
    /// or else text.
    pub fn parse<S: AsRef<str>>(given: &[S]) -> Result<Self, DefineError> {
        let mut list = Vec::new();
        for given in given.iter().map(AsRef::as_ref) {
            let no_value = || DefineError::NoValue(given.to_owned());
            let (path, value) = given.split_once('=').ok_or_else(no_value)?;
            let names: Vec<String> = path.split('.').map(str::to_owned).collect();
            for (at, name) in names.iter().enumerate() {
                // Fields may be called by reserved words.
                if !is_identifier(name) || at == 0 && RESERVED.contains(&name.as_str()) {
                    return Err(DefineError::NoIdentifier {
                        name: name.clone(),
                        given: given.to_owned(),
                    });
                }
            }
            if TAKEN.contains(&names[0].as_str()) || names[0].starts_with("__sojourn") {
                return Err(DefineError::Taken(names[0].clone()));
            }
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
            list.push((names, value));
        }
        Ok(Self { list })
    }

    /// As the prelude reads it: a JSON list of paths and values.
    pub(super) fn to_json(&self) -> String {
        let pair = |(names, value): &(Vec<String>, Value)| {
            Value::from(vec![Value::from(names.clone()), value.clone()])
        };
        Value::from(self.list.iter().map(pair).collect::<Vec<_>>()).to_string()
    }

    /// What is defined, for reports: names without their values, which may be secrets.
    pub fn names(&self) -> String {
        let mut out = String::new();
        for (names, _) in &self.list {
            let comma = if out.is_empty() { "" } else { ", " };
            // Writing to a string never fails.
            write!(out, "{comma}{}", names.join(".")).ok();
        }
        out
    }
}

fn is_identifier(name: &str) -> bool {
    let is_first = |letter: char| letter.is_alphabetic() || letter == '_' || letter == '$';
    name.chars().next().is_some_and(is_first)
        && name.chars().all(|letter| is_first(letter) || letter.is_numeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers_and_values_json_or_text() {
        let defines = Defines::parse(&["env=prod", "n=7", "a.class=", "o={\"x\":[1]}"]).unwrap();
        let json = r#"[[["env"],"prod"],[["n"],7],[["a","class"],""],[["o"],{"x":[1]}]]"#;
        assert_eq!(defines.to_json(), json);
        assert_eq!(defines.names(), "env, n, a.class, o");
        for (given, said) in [
            ("env", "`env` gives no value"),
            ("=x", "`` in `=x` is no identifier"),
            ("1a=x", "`1a` in `1a=x` is no identifier"),
            ("a b=x", "`a b` in"),
            ("a..b=x", "`` in `a..b=x`"),
            ("if=x", "`if` in"),
            ("definition=1", "`definition` is a name of JavaScript's own"),
            ("Math.PI=3", "`Math` is a name"),
        ] {
            let error = Defines::parse(&[given]).unwrap_err().to_string();
            assert!(error.starts_with(said), "{given}: {error}");
        }
    }
}
