//! Signature Version 4: how AWS knows who asks.

use aws_lc_rs::{digest, hmac};

use crate::credentials::Credentials;

/// A request to be signed. It has no query.
pub(crate) struct Unsigned<'a> {
    pub(crate) service: &'a str,
    pub(crate) region: &'a str,
    pub(crate) path: &'a str,
    /// Names in lower case and in alphabetical order, `host` and `x-amz-date` among them.
    pub(crate) headers: &'a [(&'a str, &'a str)],
    pub(crate) body: &'a [u8],
    /// `20150830T123600Z`, as in `x-amz-date`.
    pub(crate) date: &'a str,
}

/// The value of the `Authorization` header of a POST.
pub(crate) fn authorization(credentials: &Credentials, unsigned: &Unsigned<'_>) -> String {
    let Unsigned { service, region, path, headers, body, date } = unsigned;
    let day = &date[..8.min(date.len())];
    let names: Vec<_> = headers.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");
    let mut canonical = format!("POST\n{path}\n\n");
    for (name, value) in *headers {
        canonical.push_str(&format!("{name}:{}\n", value.trim()));
    }
    canonical.push_str(&format!("\n{names}\n{}", sha256(body)));
    let scope = format!("{day}/{region}/{service}/aws4_request");
    let text = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{}", sha256(canonical.as_bytes()));
    let secret = format!("AWS4{}", credentials.secret.reveal());
    let key = [day, region, service, "aws4_request"]
        .iter()
        .fold(secret.into_bytes(), |key, part| hmac_sha256(&key, part.as_bytes()));
    let signature = hex(&hmac_sha256(&key, text.as_bytes()));
    let id = &credentials.id;
    format!(
        "AWS4-HMAC-SHA256 Credential={id}/{scope}, SignedHeaders={names}, Signature={signature}"
    )
}

fn hmac_sha256(key: &[u8], data: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), data).as_ref().to_vec()
}

/// In hexadecimal digits.
pub(crate) fn sha256(data: impl AsRef<[u8]>) -> String {
    hex(digest::digest(&digest::SHA256, data.as_ref()).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use sojourn_plan::Secret;

    use super::*;

    /// Two cases of AWS's published test suite: `post-vanilla`, `post-x-www-form-urlencoded`.
    #[test]
    fn signatures_are_those_of_the_published_suite() {
        let credentials = Credentials {
            id: "AKIDEXAMPLE".to_owned(),
            secret: Secret::new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            token: None,
        };
        let date = "20150830T123600Z";
        let plain: &[(&str, &str)] = &[("host", "example.amazonaws.com"), ("x-amz-date", date)];
        let form: &[(&str, &str)] = &[
            ("content-type", "application/x-www-form-urlencoded"),
            ("host", "example.amazonaws.com"),
            ("x-amz-date", date),
        ];
        let of_plain = "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b";
        let of_form = "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a";
        let cases = [(plain, b"".as_slice(), of_plain), (form, b"Param1=value1", of_form)];
        for (headers, body, signature) in cases {
            let unsigned = Unsigned {
                service: "service",
                region: "us-east-1",
                path: "/",
                headers,
                body,
                date,
            };
            let value = authorization(&credentials, &unsigned);
            assert!(value.ends_with(&format!("Signature={signature}")), "{value}");
            let scope = "Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request";
            assert!(value.contains(scope), "{value}");
        }
    }
}
