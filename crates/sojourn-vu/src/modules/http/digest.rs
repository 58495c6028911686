//! Digest access authentication (RFC 7616): the answer to a server's challenge.

use std::fmt::Write as _;

use crate::modules::crypto::{self, hash};

/// What a server asks for, of its header `WWW-Authenticate`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Challenge {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    /// As written.
    algorithm: Option<String>,
    /// Empty where there is none, as before RFC 2617.
    qop: Vec<String>,
}

/// Who asks for what.
pub(super) struct Asked<'a> {
    pub(super) user: &'a str,
    pub(super) password: &'a str,
    pub(super) method: &'a str,
    /// Path and query.
    pub(super) path: &'a str,
    pub(super) body: &'a [u8],
}

/// The value of `Authorization` that answers the challenge; `None` where that is none, or in no
/// algorithm that is known here.
pub(super) fn answer(challenge: &str, asked: &Asked<'_>, client_nonce: &str) -> Option<String> {
    let challenge = Challenge::read(challenge)?;
    let algorithm = challenge.algorithm.as_deref().unwrap_or("MD5").to_ascii_uppercase();
    let name = match algorithm.trim_end_matches("-SESS") {
        "MD5" => "md5",
        "SHA-256" => "sha256",
        "SHA-512-256" => "sha512_256",
        _ => return None,
    };
    let hash = |bytes: &[u8]| hash::digest(name, bytes).map(|digest| crypto::hex(&digest));
    let Asked { user, password, method, path, body } = *asked;
    let Challenge { realm, nonce, .. } = &challenge;
    let mut secret = hash(format!("{user}:{realm}:{password}").as_bytes())?;
    if algorithm.ends_with("-SESS") {
        secret = hash(format!("{secret}:{nonce}:{client_nonce}").as_bytes())?;
    }
    let offers = |wanted: &str| challenge.qop.iter().any(|own| own.eq_ignore_ascii_case(wanted));
    let qop = match (offers("auth"), offers("auth-int")) {
        (true, _) => Some("auth"),
        (false, true) => Some("auth-int"),
        (false, false) if challenge.qop.is_empty() => None,
        (false, false) => return None,
    };
    let request = match qop {
        Some("auth-int") => format!("{method}:{path}:{}", hash(body)?),
        _ => format!("{method}:{path}"),
    };
    let request = hash(request.as_bytes())?;
    let response = match qop {
        Some(qop) => {
            hash(format!("{secret}:{nonce}:00000001:{client_nonce}:{qop}:{request}").as_bytes())?
        }
        None => hash(format!("{secret}:{nonce}:{request}").as_bytes())?,
    };
    Some(challenge.header(asked, qop, client_nonce, &response))
}

impl Challenge {
    fn header(&self, asked: &Asked<'_>, qop: Option<&str>, nonce: &str, response: &str) -> String {
        let mut header = format!(
            "Digest username={}, realm={}, nonce={}, uri={}",
            quoted(asked.user),
            quoted(&self.realm),
            quoted(&self.nonce),
            quoted(asked.path)
        );
        // Writing to a string can't fail.
        if let Some(algorithm) = &self.algorithm {
            write!(header, ", algorithm={algorithm}").ok();
        }
        if let Some(qop) = qop {
            write!(header, ", qop={qop}, nc=00000001, cnonce=\"{nonce}\"").ok();
        }
        write!(header, ", response=\"{response}\"").ok();
        if let Some(opaque) = &self.opaque {
            write!(header, ", opaque={}", quoted(opaque)).ok();
        }
        header
    }

    fn read(header: &str) -> Option<Self> {
        let (scheme, rest) = header.trim_start().split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("digest") {
            return None;
        }
        let mut challenge = Self::default();
        let mut rest = rest;
        while let Some((name, value, after)) = parameter(rest) {
            rest = after;
            match name.to_ascii_lowercase().as_str() {
                "realm" => challenge.realm = value,
                "nonce" => challenge.nonce = value,
                "opaque" => challenge.opaque = Some(value),
                "algorithm" => challenge.algorithm = Some(value),
                "qop" => {
                    challenge.qop = value.split(',').map(|it| it.trim().to_owned()).collect();
                }
                _ => {}
            }
        }
        (!challenge.nonce.is_empty()).then_some(challenge)
    }
}

/// Name, value, and what follows of a list of parameters.
fn parameter(text: &str) -> Option<(&str, String, &str)> {
    let text = text.trim_start_matches([',', ' ', '\t']);
    let (name, rest) = text.split_once('=')?;
    let rest = rest.trim_start();
    let Some(inner) = rest.strip_prefix('"') else {
        let end = rest.find(',').unwrap_or(rest.len());
        return Some((name.trim(), rest[..end].trim().to_owned(), &rest[end..]));
    };
    let mut value = String::new();
    let mut letters = inner.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((name.trim(), value, &inner[at + 1..])),
            '\\' => value.extend(letters.next().map(|(_, escaped)| escaped)),
            plain => value.push(plain),
        }
    }
    Some((name.trim(), value, ""))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7616 §3.9.1.
    #[test]
    fn the_example_of_the_rfc() {
        let asked = Asked {
            user: "Mufasa",
            password: "Circle of Life",
            method: "GET",
            path: "/dir/index.html",
            body: b"",
        };
        let nonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
        for (algorithm, response) in [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ] {
            let challenge = format!(
                "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", \
                 algorithm={algorithm}, nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", \
                 opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
            );
            let header = answer(&challenge, &asked, nonce).expect("an answer");
            assert!(header.contains(&format!("response=\"{response}\"")), "{header}");
            assert!(header.contains("username=\"Mufasa\", realm=\"http-auth@example.org\""));
            assert!(
                header.contains("uri=\"/dir/index.html\"")
                    && header.contains("qop=auth, nc=00000001")
            );
            assert!(header.ends_with("opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""));
        }
    }

    /// The example of RFC 2617 §3.5, and without `qop` as RFC 2069 had it.
    #[test]
    fn older_challenges() {
        let asked = Asked {
            user: "Mufasa",
            password: "Circle Of Life",
            method: "GET",
            path: "/dir/index.html",
            body: b"",
        };
        let nonce = "dcd98b7102dd2f0e8b11d0f600bfb0c093";
        let with = format!(
            "Digest realm=\"testrealm@host.com\", qop=\"auth,auth-int\", nonce=\"{nonce}\""
        );
        let header = answer(&with, &asked, "0a4f113b").expect("an answer");
        assert!(header.contains("6629fae49393a05397450978507c4ef1"), "{header}");
        let without = format!("digest realm=\"testrealm@host.com\", nonce={nonce}");
        let header = answer(&without, &asked, "0a4f113b").expect("an answer");
        assert!(header.contains("670fd8c2df070c60b045671b8b24ff02"), "{header}");
    }

    #[test]
    fn what_is_no_challenge_has_no_answer() {
        let asked = Asked { user: "", password: "", method: "GET", path: "/", body: b"" };
        for challenge in [
            "",
            "Digest",
            "Basic realm=\"x\"",
            "Digest realm=\"x\"",
            "Digest nonce=\"1\", algorithm=ROT13",
            "Digest nonce=\"1\", qop=\"other\"",
            "Digest nonce=\"",
            "Digest ,,=,",
        ] {
            assert_eq!(answer(challenge, &asked, "0"), None, "{challenge}");
        }
    }
}
