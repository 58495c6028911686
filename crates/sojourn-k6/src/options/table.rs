//! Tables of options: one line per option gives its field, its key in JSON and its variable.

use serde_json::{Map, Value};

use crate::options::error::Wrong;

/// A value of an option: read from JSON with k6's leniency or from a text, shown as k6 shows it.
pub(crate) trait Kind: Sized {
    /// Whether an empty string stands for nothing given.
    const EMPTY_IS_NONE: bool = false;

    fn from_json(value: &Value) -> Result<Self, Wrong>;

    /// From the text of a variable or flag.
    fn from_text(text: &str) -> Result<Self, Wrong> {
        let value = serde_json::from_str(text)
            .map_err(|error| Wrong::new(format!("`{text}` is no JSON: {error}")))?;
        Self::from_json(&value)
    }

    fn to_json(&self) -> Value;
}

/// An option's value, `None` where nothing was given.
pub(crate) fn read<K: Kind>(value: &Value) -> Result<Option<K>, Wrong> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) if text.is_empty() && K::EMPTY_IS_NONE => Ok(None),
        value => K::from_json(value).map(Some),
    }
}

pub(crate) fn shown<K: Kind>(value: Option<&K>) -> Value {
    value.map_or(Value::Null, K::to_json)
}

/// The entries of a JSON object; an error that says `what` should have been one otherwise.
pub(crate) fn object<'a>(value: &'a Value, what: &str) -> Result<&'a Map<String, Value>, Wrong> {
    value.as_object().ok_or_else(|| Wrong::type_of(value, what))
}

/// What a table's struct can do.
pub(crate) trait Table {
    /// All keys, in the order in which k6 shows them.
    const KEYS: &'static [&'static str];

    /// Reads one entry of an object; false when there is no such key.
    fn read_entry(&mut self, key: &str, value: &Value) -> Result<bool, Wrong>;

    /// Reads the text of a variable or flag into the option with this key.
    fn read_text(&mut self, key: &str, text: &str) -> Result<(), Wrong>;

    /// The value of a key as k6 shows it; null where nothing was given.
    fn entry(&self, key: &str) -> Value;

    /// Takes over whatever a stronger set of options gives.
    fn overlay(&mut self, stronger: Self);
}

/// A struct of optional fields with their keys. Keys are told apart as Go's JSON reader does:
/// without regard to case.
macro_rules! table {
    (
        $(#[$struct_doc:meta])*
        pub struct $name:ident {
            $( $(#[$doc:meta])* $field:ident: $kind:ty = $key:literal; )*
        }
    ) => {
        $(#[$struct_doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $( $(#[$doc])* pub $field: Option<$kind>, )*
        }

        impl $crate::options::table::Table for $name {
            const KEYS: &'static [&'static str] = &[ $($key),* ];

            fn read_entry(
                &mut self,
                key: &str,
                value: &serde_json::Value,
            ) -> Result<bool, $crate::options::error::Wrong> {
                $(
                    if key.eq_ignore_ascii_case($key) {
                        self.$field = $crate::options::table::read(value)
                            .map_err(|wrong| wrong.within($key))?;
                        return Ok(true);
                    }
                )*
                Ok(false)
            }

            fn read_text(
                &mut self,
                key: &str,
                text: &str,
            ) -> Result<(), $crate::options::error::Wrong> {
                $(
                    if key == $key {
                        let value = <$kind as $crate::options::table::Kind>::from_text(text)?;
                        self.$field = Some(value);
                    }
                )*
                Ok(())
            }

            fn entry(&self, key: &str) -> serde_json::Value {
                $(
                    if key == $key {
                        return $crate::options::table::shown(self.$field.as_ref());
                    }
                )*
                serde_json::Value::Null
            }

            fn overlay(&mut self, stronger: Self) {
                $( if stronger.$field.is_some() { self.$field = stronger.$field; } )*
            }
        }
    };
}
pub(crate) use table;
