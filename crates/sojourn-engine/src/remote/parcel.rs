//! What a plan is made of, for processes that cannot see its files.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Files and variables that a plan and its work were made of, by the names they were asked for.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parcel {
    /// Content of each file.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Value of each variable of the environment; `None` where it had none.
    pub variables: BTreeMap<String, Option<String>>,
}

/// Names and lengths alone: contents may be secrets.
impl std::fmt::Debug for Parcel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lengths = self.files.iter().map(|(name, content)| (name, content.len()));
        f.debug_map().entries(lengths).finish()
    }
}
