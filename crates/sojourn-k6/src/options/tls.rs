//! Options on TLS: versions, cipher suites, client certificates.

use serde_json::{Value, json};

use crate::options::{
    error::Wrong,
    table::{Kind, object, read},
};

/// Which versions of TLS may be spoken, by k6's words (`tls1.2`); empty: any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsVersions {
    /// The least.
    pub min: String,
    /// The greatest.
    pub max: String,
}

const VERSIONS: &[&str] = &["", "tls1.0", "tls1.1", "tls1.2", "tls1.3"];

fn version(value: &Value) -> Result<String, Wrong> {
    let text: String = read(value)?.unwrap_or_default();
    if VERSIONS.contains(&text.as_str()) {
        return Ok(text);
    }
    Err(Wrong::new(format!("`{text}` is none of {}", VERSIONS[1..].join(", "))))
}

impl Kind for TlsVersions {
    fn from_json(value: &Value) -> Result<Self, Wrong> {
        if value.is_string() {
            let only = version(value)?;
            return Ok(Self { min: only.clone(), max: only });
        }
        let mut versions = Self::default();
        for (key, value) in object(value, "a version such as \"tls1.2\", or {min, max}")? {
            match key.to_ascii_lowercase().as_str() {
                "min" => versions.min = version(value).map_err(|wrong| wrong.within("min"))?,
                "max" => versions.max = version(value).map_err(|wrong| wrong.within("max"))?,
                _ => {}
            }
        }
        Ok(versions)
    }

    fn to_json(&self) -> Value {
        json!({"min": self.min, "max": self.max})
    }
}

/// Cipher suites that can be asked for, by their names in IANA's list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CipherSuites(pub Vec<String>);

/// Those that k6 knows (Go's, the insecure ones included).
const SUITES: &[&str] = &[
    "TLS_RSA_WITH_RC4_128_SHA",
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
];

impl Kind for CipherSuites {
    fn from_json(value: &Value) -> Result<Self, Wrong> {
        let names = Vec::<String>::from_json(value)?;
        match names.iter().position(|name| !SUITES.contains(&name.as_str())) {
            Some(at) => Err(Wrong::new(format!("unknown cipher suite `{}`", names[at])).within(at)),
            None => Ok(Self(names)),
        }
    }

    fn to_json(&self) -> Value {
        self.0.to_json()
    }
}

/// A certificate that the client shows, by the domains to which it does.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct TlsAuth {
    /// The certificate, PEM.
    pub cert: String,
    /// Its key, PEM. Never shown.
    pub key: String,
    /// What the key is encrypted with. Never shown.
    pub password: Option<String>,
    /// Host names, or `*.` before one; none: all.
    pub domains: Option<Vec<String>>,
}

impl std::fmt::Debug for TlsAuth {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("TlsAuth").field("domains", &self.domains).finish_non_exhaustive()
    }
}

impl TlsAuth {
    fn from_entries(value: &Value) -> Result<Self, Wrong> {
        let mut auth = Self::default();
        for (key, value) in object(value, "an object {cert, key, password, domains}")? {
            // Never the value: it may be a key.
            let wrong = |_| Wrong::new("not of the type that it should be").within(key);
            match key.to_ascii_lowercase().as_str() {
                "cert" => auth.cert = read(value).map_err(wrong)?.unwrap_or_default(),
                "key" => auth.key = read(value).map_err(wrong)?.unwrap_or_default(),
                "password" => auth.password = read(value).map_err(wrong)?,
                "domains" => auth.domains = read(value).map_err(wrong)?,
                _ => {}
            }
        }
        if !auth.cert.contains("-----BEGIN") {
            return Err(Wrong::new("is no certificate in PEM").within("cert"));
        }
        Ok(auth)
    }
}

impl Kind for Vec<TlsAuth> {
    fn from_json(value: &Value) -> Result<Self, Wrong> {
        let list = value.as_array().ok_or_else(|| Wrong::new("not a list of certificates"))?;
        let entries = list.iter().enumerate();
        entries
            .map(|(at, auth)| {
                // An entry that is no object might be a key by itself.
                if !auth.is_object() {
                    return Err(Wrong::new("not an object {cert, key}").within(at));
                }
                TlsAuth::from_entries(auth).map_err(|wrong| wrong.within(at))
            })
            .collect()
    }

    fn to_json(&self) -> Value {
        let entry = |auth: &TlsAuth| {
            json!({
                "cert": auth.cert,
                "key": auth.key,
                "password": auth.password,
                "domains": auth.domains,
            })
        };
        self.iter().map(entry).collect()
    }
}
