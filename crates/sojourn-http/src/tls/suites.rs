//! Versions and cipher suites: which are offered, and which was agreed upon.

use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::version::{TLS12, TLS13};
use rustls::{CipherSuite, ClientConnection, Error, ProtocolVersion, SupportedProtocolVersion};

use super::{TlsOptions, TlsVersion};
use crate::TlsAgreed;

/// What the handshake has agreed upon; `None` while it goes on.
pub(super) fn agreed(connection: &ClientConnection) -> Option<TlsAgreed> {
    let version = match connection.protocol_version()? {
        ProtocolVersion::TLSv1_3 => TlsVersion::Tls13,
        _ => TlsVersion::Tls12,
    };
    let suite = connection.negotiated_cipher_suite()?.suite();
    Some(TlsAgreed { version, suite: name(suite) })
}

/// The suites and versions that the options leave. Fails where nothing is left.
pub(super) fn chosen(
    options: &TlsOptions,
) -> Result<(CryptoProvider, Vec<&'static SupportedProtocolVersion>), Error> {
    let mut provider = aws_lc_rs::default_provider();
    let wanted = &options.cipher_suites;
    if !wanted.is_empty() {
        provider.cipher_suites.retain(|suite| {
            suite.version() == &TLS13 || wanted.iter().any(|name_| name_ == name(suite.suite()))
        });
    }
    let is_within = |version: TlsVersion| {
        options.version_min.is_none_or(|least| version >= least)
            && options.version_max.is_none_or(|most| version <= most)
    };
    let has_older = provider.cipher_suites.iter().any(|suite| suite.version() == &TLS12);
    let mut versions = Vec::new();
    if is_within(TlsVersion::Tls13) {
        versions.push(&TLS13);
    }
    if is_within(TlsVersion::Tls12) && has_older {
        versions.push(&TLS12);
    }
    if versions.is_empty() {
        let told = "the versions and cipher suites asked for leave none that is spoken here";
        return Err(Error::General(told.to_owned()));
    }
    Ok((provider, versions))
}

/// The names of IANA's list of those that the provider has.
fn name(suite: CipherSuite) -> &'static str {
    match suite {
        CipherSuite::TLS13_AES_128_GCM_SHA256 => "TLS_AES_128_GCM_SHA256",
        CipherSuite::TLS13_AES_256_GCM_SHA384 => "TLS_AES_256_GCM_SHA384",
        CipherSuite::TLS13_CHACHA20_POLY1305_SHA256 => "TLS_CHACHA20_POLY1305_SHA256",
        // The library calls the others as IANA does.
        other => other.as_str().unwrap_or(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(options: &TlsOptions) -> Option<(Vec<&'static str>, usize)> {
        let (provider, versions) = chosen(options).ok()?;
        Some((provider.cipher_suites.iter().map(|it| name(it.suite())).collect(), versions.len()))
    }

    #[test]
    fn only_what_was_asked_for_is_offered() {
        let all = left(&TlsOptions::default()).expect("some");
        assert_eq!((all.0.len(), all.1), (9, 2));
        assert!(all.0.iter().all(|name| name.starts_with("TLS_")), "{all:?}");
        let one = "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384";
        let mut options =
            TlsOptions { cipher_suites: vec![one.to_owned()], ..TlsOptions::default() };
        let (suites, versions) = left(&options).expect("some");
        assert!(suites.len() == 4 && suites.contains(&one) && versions == 2, "{suites:?}");
        options.version_max = Some(TlsVersion::Tls12);
        assert_eq!(left(&options).map(|left| left.1), Some(1));
        // A suite that nobody speaks any more.
        options.cipher_suites = vec!["TLS_RSA_WITH_RC4_128_SHA".to_owned()];
        assert_eq!(left(&options), None);
        options.version_max = None;
        assert_eq!(left(&options).map(|left| left.1), Some(1));
    }
}
