//! What the receiver holds at most, and which requests are its own.

/// What the receiver holds at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Messages queued.
    pub(crate) messages_max: usize,
    /// Bytes of bodies, being received or queued.
    pub(crate) bytes_max: usize,
    /// Bytes of one body.
    pub(crate) body_bytes_max: usize,
    /// Connections open at once.
    pub(crate) connections_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            messages_max: 10_000,
            bytes_max: 256 << 20,
            body_bytes_max: 10 << 20,
            connections_max: 4_096,
        }
    }
}

/// Which paths are the webhook's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathPattern {
    /// This one.
    Exact(String),
    /// All that begin so.
    Prefix(String),
}

impl PathPattern {
    /// Reads a path, or a prefix ending in `*`. A leading slash may be left out; no path is all
    /// paths.
    pub(crate) fn new(path: &str) -> Self {
        let slash = if path.starts_with('/') { "" } else { "/" };
        match path.strip_suffix('*') {
            Some(prefix) => Self::Prefix(format!("{slash}{prefix}")),
            None if path.is_empty() => Self::Prefix("/".to_owned()),
            None => Self::Exact(format!("{slash}{path}")),
        }
    }

    /// Whether a request's path fits.
    pub(crate) fn fits(&self, path: &str) -> bool {
        match self {
            Self::Exact(exact) => path == exact,
            Self::Prefix(prefix) => path.starts_with(prefix.as_str()),
        }
    }
}

impl std::fmt::Display for PathPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exact(exact) => f.write_str(exact),
            Self::Prefix(prefix) => write!(f, "{prefix}*"),
        }
    }
}
