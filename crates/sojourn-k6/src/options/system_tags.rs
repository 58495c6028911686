//! Tags that are set without a script's doing.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::options::{error::Wrong, table::Kind};

/// Names of system tags that are set, sorted. Unknown names are dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemTags(pub BTreeSet<&'static str>);

/// All there are, with whether they are on by default.
const ALL: &[(&str, bool)] = &[
    ("proto", true),
    ("subproto", true),
    ("status", true),
    ("method", true),
    ("url", true),
    ("name", true),
    ("group", true),
    ("check", true),
    ("error", true),
    ("error_code", true),
    ("tls_version", true),
    ("scenario", true),
    ("service", true),
    ("expected_response", true),
    ("iter", false),
    ("vu", false),
    ("ocsp_status", false),
    ("ip", false),
];

impl Default for SystemTags {
    fn default() -> Self {
        Self(ALL.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect())
    }
}

impl SystemTags {
    /// Whether a tag is set.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    fn of(names: &[String]) -> Self {
        let known = ALL.iter().map(|(name, _)| *name);
        Self(known.filter(|known| names.iter().any(|name| name == known)).collect())
    }
}

impl Kind for SystemTags {
    fn from_json(value: &Value) -> Result<Self, Wrong> {
        Vec::<String>::from_json(value).map(|names| Self::of(&names))
    }

    fn from_text(text: &str) -> Result<Self, Wrong> {
        Vec::<String>::from_text(text).map(|names| Self::of(&names))
    }

    fn to_json(&self) -> Value {
        if self.0.is_empty() {
            return Value::Null;
        }
        self.0.iter().copied().collect()
    }
}
