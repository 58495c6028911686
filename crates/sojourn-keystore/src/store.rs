//! A store, what is asked of it, and what can be wrong.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::digest::{LENGTH, with_password};
use crate::entries::{self, Entries, Entry};
use crate::protector;

/// What Java mixes into a store's digest.
const SALT: &[u8] = b"Mighty Aphrodite";
/// Characters of a line of PEM.
const LINE: usize = 64;

/// Why a store, or what is asked of it, can't be had. Says nothing of passwords.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It is something else altogether.
    #[error("it is no Java key store")]
    NotAStore,
    /// What Java makes since version 9, unless told otherwise.
    #[error("it is a PKCS#12 store, and only JKS can be read")]
    Pkcs12,
    /// Java's other store.
    #[error("it is a JCEKS store, and only JKS can be read")]
    Jceks,
    /// A version that is not known.
    #[error("it is a JKS store of version {0}, and only 1 and 2 can be read")]
    Version(u32),
    /// It ends too early, or a length in it is wrong.
    #[error("it is damaged or cut short")]
    Cut,
    /// An entry that is neither a key nor a certificate.
    #[error("it is damaged: an entry is of the kind {0}, and there are only 1 and 2")]
    Entry(u32),
    /// A certificate that is none of X.509.
    #[error("it has a certificate of the type `{0}`, and only X.509 can be read")]
    Certificate(String),
    /// The digest is another.
    #[error("the password is wrong, or the file was changed")]
    Password,
    /// The key's own password is wrong.
    #[error("the password of the key `{0}` is wrong, or the key was changed")]
    KeyPassword(String),
    /// The key is not guarded as Java's own stores guard keys.
    #[error("the key `{0}` is guarded in a way that is not known")]
    Guard(String),
    /// There is no such entry.
    #[error("there is no alias `{alias}`: it has {has}")]
    Alias {
        /// What was asked for.
        alias: String,
        /// What there is, in words.
        has: String,
    },
    /// A key is asked for, and there is a certificate.
    #[error("`{0}` is a certificate that is trusted, and no private key")]
    NotAKey(String),
    /// A certificate is asked for, and there is a key.
    #[error("`{0}` is a private key, and no certificate that is trusted")]
    NotTrusted(String),
}

/// A store.
pub struct KeyStore {
    entries: Entries,
}

/// A private key and the certificates for it.
pub struct PrivateKey {
    /// PKCS#8 in DER.
    pub key: Vec<u8>,
    /// In DER, its own first, then that of each one's issuer.
    pub chain: Vec<Vec<u8>>,
}

impl KeyStore {
    /// Takes a store apart.
    ///
    /// # Errors
    /// It is no store of the type JKS, it is damaged, or the password is another.
    pub fn read(store: &[u8], password: &str) -> Result<Self, Problem> {
        let (entries, taken) = entries::read(store)?;
        let (content, rest) = store.split_at(taken);
        let digest = rest.get(..LENGTH).ok_or(Problem::Cut)?;
        match with_password(password, &[SALT, content]) == digest {
            true => Ok(Self { entries }),
            false => Err(Problem::Password),
        }
    }

    /// The private key of this alias, upper and lower case being the same.
    ///
    /// # Errors
    /// There is none, or its password is another.
    pub fn key(&self, alias: &str, password: &str) -> Result<PrivateKey, Problem> {
        match self.entry(alias)? {
            Entry::Key { guarded, chain } => {
                let key = protector::open(guarded, alias, password)?;
                Ok(PrivateKey { key, chain: chain.clone() })
            }
            Entry::Trusted(_) => Err(Problem::NotAKey(alias.to_owned())),
        }
    }

    /// The trusted certificate of this alias, in DER, upper and lower case being the same.
    ///
    /// # Errors
    /// There is none.
    pub fn trusted(&self, alias: &str) -> Result<&[u8], Problem> {
        match self.entry(alias)? {
            Entry::Trusted(certificate) => Ok(certificate),
            Entry::Key { .. } => Err(Problem::NotTrusted(alias.to_owned())),
        }
    }

    fn entry(&self, alias: &str) -> Result<&Entry, Problem> {
        self.entries.get(&alias.to_lowercase()).ok_or_else(|| {
            let known: Vec<_> = self.entries.keys().map(|alias| format!("`{alias}`")).collect();
            let has = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            Problem::Alias { alias: alias.to_owned(), has }
        })
    }
}

impl fmt::Debug for KeyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.entries.keys()).finish()
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateKey").field("chain", &self.chain.len()).finish_non_exhaustive()
    }
}

/// DER as PEM, under a label such as `CERTIFICATE`.
pub fn pem(label: &str, der: &[u8]) -> String {
    let mut rest = STANDARD.encode(der);
    let mut text = format!("-----BEGIN {label}-----\n");
    while !rest.is_empty() {
        let next = rest.split_off(rest.len().min(LINE));
        text.push_str(&rest);
        text.push('\n');
        rest = next;
    }
    text.push_str(&format!("-----END {label}-----\n"));
    text
}

#[cfg(test)]
mod tests {
    use sha1::{Digest as _, Sha1};

    use super::*;

    /// By `keytool` of Java 17: `client`, a key with a password of its own, and `caroot`.
    const STORE: &[u8] = include_bytes!("../tests/stores/two.jks");
    const PASSWORD: &str = "changeit";
    const OF_KEY: &str = "s3cret é";

    fn sha1(bytes: &[u8]) -> String {
        Sha1::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn refused(store: &[u8], password: &str) -> Problem {
        KeyStore::read(store, password).unwrap_err()
    }

    /// Digests are of what `keytool` and `openssl` take out of the same store.
    #[test]
    fn what_keytool_put_in_comes_out() {
        let store = KeyStore::read(STORE, PASSWORD).unwrap();
        let PrivateKey { key, chain } = store.key("Client", OF_KEY).unwrap();
        assert_eq!(sha1(&key), "6e3bb8f2eb4f6b3de11874f7a4a8fe593a25038b");
        let chain: Vec<_> = chain.iter().map(|der| sha1(der)).collect();
        assert_eq!(chain, ["8b76bc2dffae9a9ca9dc12fa718bb0ac1f25a1ea"]);
        assert_eq!(
            sha1(store.trusted("CAROOT").unwrap()),
            "bc042fee123faeefc21ba69dc4fe2489bbde861e"
        );
        assert_eq!(format!("{store:?}"), r#"{"caroot", "client"}"#);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let store = KeyStore::read(STORE, PASSWORD).unwrap();
        let key = |alias: &str, password: &str| store.key(alias, password).unwrap_err();
        assert_eq!(key("client", PASSWORD), Problem::KeyPassword("client".to_owned()));
        assert_eq!(key("caroot", OF_KEY), Problem::NotAKey("caroot".to_owned()));
        let error = store.trusted("nobody").unwrap_err().to_string();
        assert_eq!(error, "there is no alias `nobody`: it has `caroot`, `client`");
        let client = Problem::NotTrusted("client".to_owned());
        assert_eq!(store.trusted("client").unwrap_err(), client);
        assert_eq!(refused(STORE, "x"), Problem::Password);
        assert_eq!(refused(b"\x30\x82\x0A\x0B", "x"), Problem::Pkcs12);
        assert_eq!(refused(b"\xCE\xCE\xCE\xCE", "x"), Problem::Jceks);
        assert_eq!(refused(b"-----BEGIN", "x"), Problem::NotAStore);
        assert_eq!(refused(b"", "x"), Problem::NotAStore);
        assert_eq!(refused(b"\xFE\xED\xFE\xED\0\0\0\x03", "x"), Problem::Version(3));
    }

    #[test]
    fn damage_is_found_wherever_it_is() {
        for length in 4..STORE.len() {
            assert_eq!(refused(&STORE[..length], PASSWORD), Problem::Cut, "{length}");
        }
        for at in 0..STORE.len() {
            let mut store = STORE.to_vec();
            store[at] ^= 1;
            refused(&store, PASSWORD);
        }
    }

    /// Version 1 says no certificate's type.
    #[test]
    fn a_store_of_version_1() {
        let mut store = b"\xFE\xED\xFE\xED\0\0\0\x01\0\0\0\x01\0\0\0\x02\0\x02CA".to_vec();
        store.extend(b"\0\0\0\0\0\0\0\0\0\0\0\x03der");
        store.extend(with_password("", &[SALT, &store]));
        assert_eq!(KeyStore::read(&store, "").unwrap().trusted("ca").unwrap(), b"der");
    }

    #[test]
    fn pem_has_lines_of_64() {
        let text = pem("CERTIFICATE", &[0; 49]);
        let lines: Vec<_> = text.lines().map(str::len).collect();
        assert_eq!(lines, [27, 64, 4, 25]);
        assert_eq!(pem("X", b""), "-----BEGIN X-----\n-----END X-----\n");
    }
}
