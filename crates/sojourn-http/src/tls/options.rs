//! Whom to trust, and who to be.

use std::path::PathBuf;

/// TLS of all a client's connections. Files are PEM, read once by [`crate::Client::new`].
#[derive(Clone, Debug, Default)]
pub struct TlsOptions {
    /// Certificates trusted besides the system's (or those of `root_certs`).
    pub ca_file: Option<PathBuf>,
    /// Named certificates are roots and nothing else. Without it a server's own certificate is
    /// trusted too when it is one of them.
    pub roots_only: bool,
    /// Files of certificates trusted in place of the system's; empty: the system's.
    pub root_certs: Vec<PathBuf>,
    /// Texts of certificates (PEM) trusted likewise, in place of the system's.
    pub root_texts: Vec<String>,
    /// Shown to a server that asks who we are.
    pub client_certificate: Option<ClientCertificate>,
    /// Later connections resume the session of an earlier one (session tickets): a cheaper
    /// handshake, as of one user coming back. Without it each is as of a new user.
    pub resumption: bool,
    /// Do not verify the server's certificate; said loudly in reports.
    pub insecure: bool,
    /// The oldest version to speak; `None`: the oldest that there is.
    pub version_min: Option<TlsVersion>,
    /// The newest version to speak; `None`: the newest that there is.
    pub version_max: Option<TlsVersion>,
    /// Cipher suites of TLS 1.2 that may be agreed upon, by their names in IANA's list; empty: all.
    /// Those of 1.3 are always offered.
    pub cipher_suites: Vec<String>,
    /// Certificates in place of `client_certificate`, of which the first that the server takes is
    /// shown; one that is meant for the host comes before the others.
    pub host_certificates: Vec<HostCertificate>,
    /// Secrets of connections are appended to the file that the variable `SSLKEYLOGFILE` names, if
    /// it is set: who has them and the packets can read what was sent.
    pub key_log: bool,
}

/// The versions that are spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TlsVersion {
    /// RFC 5246.
    Tls12,
    /// RFC 8446.
    Tls13,
}

/// A certificate of the client's own for some hosts.
#[derive(Clone, PartialEq, Eq)]
pub struct HostCertificate {
    /// The certificate, and those between it and its root if there are any: PEM.
    pub certificate: String,
    /// Its private key, not encrypted: PEM. Never shown.
    pub key: String,
    /// Host names that it is meant for, or `*.` and what they end in; empty: every host.
    pub domains: Vec<String>,
}

impl std::fmt::Debug for HostCertificate {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("HostCertificate");
        shown.field("domains", &self.domains).finish_non_exhaustive()
    }
}

impl HostCertificate {
    /// Whether it is for this host.
    pub(crate) fn fits(&self, host: &str) -> bool {
        let fits = |domain: &String| match domain.strip_prefix('*') {
            Some(tail) => {
                let (at, rest) = (host.len().checked_sub(tail.len()), tail);
                let end = at.filter(|at| *at > 0).and_then(|at| host.get(at..));
                rest.starts_with('.') && end.is_some_and(|end| end.eq_ignore_ascii_case(rest))
            }
            None => domain.eq_ignore_ascii_case(host),
        };
        self.domains.is_empty() || self.domains.iter().any(fits)
    }
}

/// A certificate of the client's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The certificate, and those between it and its root if there are any.
    pub certificate: PathBuf,
    /// Its private key, not encrypted (PKCS#8, PKCS#1 or SEC1); may be the same file.
    pub key: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_for_its_domains_and_its_key_is_never_shown() {
        let of = |domains: &[&str]| HostCertificate {
            certificate: "public".to_owned(),
            key: "hidden".to_owned(),
            domains: domains.iter().map(|it| (*it).to_owned()).collect(),
        };
        assert!(of(&[]).fits("a.example"));
        assert!(of(&["b.example", "A.example"]).fits("a.EXAMPLE"));
        assert!(of(&["*.example"]).fits("a.b.example"));
        for host in ["example", ".example", "aexample", "a.example.org", "ä"] {
            assert!(!of(&["*.example"]).fits(host), "{host}");
        }
        assert!(!format!("{:?}", of(&[])).contains("hidden"));
    }
}
