//! Where a broker is, and how it is trusted.

use std::fmt;
use std::path::PathBuf;

/// A broker's address and the name to log in with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Server {
    /// Host; an IPv6 address without its brackets.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Whether to speak TLS: by the URL's scheme.
    pub tls: bool,
    /// User, where the URL has one.
    pub user: Option<String>,
    /// Password, where the URL has one.
    pub password: Option<Secret>,
    /// Path of the URL without its first slash, decoded: a virtual host, a database, a database's
    /// number. Of HTTP and WebSocket as it is in the URL, not decoded, with the query.
    pub path: String,
    /// Whom to trust, and as whom to come.
    pub trust: Tls,
}

impl Server {
    /// `host:port`, for messages.
    pub fn address(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }
}

/// How a connection with TLS is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    /// File of certificates to trust (PEM) instead of the system's.
    pub ca: Option<PathBuf>,
    /// File of a client certificate (PEM).
    pub cert: Option<PathBuf>,
    /// File of its private key (PEM).
    pub key: Option<PathBuf>,
    /// Name that the server's certificate must carry, where it is not the host.
    pub name: Option<String>,
    /// Whether any certificate is taken.
    pub insecure: bool,
}

/// A text that is never shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps a text from being shown.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, to be sent and nothing else.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
