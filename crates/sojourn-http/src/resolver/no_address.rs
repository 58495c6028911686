//! Why a name has no addresses.

/// Why a name has no addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoAddress {
    /// In words.
    pub(crate) why: String,
    /// It is known to have none: there is no such name, or it stands for something else.
    pub(crate) is_known: bool,
}

impl NoAddress {
    /// The name is known to have none.
    pub(crate) fn known(why: &str) -> Self {
        Self { why: why.to_owned(), is_known: true }
    }

    /// It could not be found out.
    pub(crate) fn unknown(why: String) -> Self {
        Self { why, is_known: false }
    }
}
