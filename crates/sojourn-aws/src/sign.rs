//! Signature Version 4: how AWS knows who asks.

use aws_lc_rs::{digest, hmac};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::credentials::Credentials;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";
/// What stays as it is in a query, as AWS has it.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A POST to be signed. It has no query.
#[derive(Debug)]
pub struct Unsigned<'a> {
    /// `sqs`.
    pub service: &'a str,
    /// `eu-west-1`.
    pub region: &'a str,
    /// `/`.
    pub path: &'a str,
    /// Names in lower case and in alphabetical order, `host` and `x-amz-date` among them.
    pub headers: &'a [(&'a str, &'a str)],
    /// The whole body.
    pub body: &'a [u8],
    /// `20150830T123600Z`, as in `x-amz-date`.
    pub date: &'a str,
}

/// The value of the `Authorization` header of a POST.
pub fn authorization(credentials: &Credentials, unsigned: &Unsigned<'_>) -> String {
    let Unsigned { service, region, path, headers, body, date } = unsigned;
    let names: Vec<_> = headers.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");
    let mut canonical = format!("POST\n{path}\n\n");
    for (name, value) in *headers {
        canonical.push_str(&format!("{name}:{}\n", value.trim()));
    }
    canonical.push_str(&format!("\n{names}\n{}", sha256(body)));
    let scope = scope(date, region, service);
    let signature = signature(credentials, &canonical, date, &scope);
    let id = &credentials.id;
    format!("{ALGORITHM} Credential={id}/{scope}, SignedHeaders={names}, Signature={signature}")
}

/// A GET of `https://HOST/` whose signature is in its URL.
#[derive(Debug)]
pub struct Presigned<'a> {
    /// `kafka-cluster`.
    pub service: &'a str,
    /// `eu-west-1`.
    pub region: &'a str,
    /// Without a port.
    pub host: &'a str,
    /// What is asked for; names that sort before `X-Amz-`.
    pub query: &'a [(&'a str, &'a str)],
    /// `20150830T123600Z`.
    pub date: &'a str,
    /// How long the URL is good, in seconds.
    pub seconds: u64,
}

/// The URL, with its signature at the end.
pub fn presigned(credentials: &Credentials, request: &Presigned<'_>) -> String {
    let Presigned { service, region, host, query, date, seconds } = request;
    let scope = scope(date, region, service);
    let credential = format!("{}/{scope}", credentials.id);
    let seconds = seconds.to_string();
    let mut pairs = query.to_vec();
    pairs.extend([
        ("X-Amz-Algorithm", ALGORITHM),
        ("X-Amz-Credential", &credential),
        ("X-Amz-Date", date),
        ("X-Amz-Expires", &seconds),
    ]);
    if let Some(token) = &credentials.token {
        pairs.push(("X-Amz-Security-Token", token.reveal()));
    }
    pairs.push(("X-Amz-SignedHeaders", "host"));
    let pair = |(name, value): &(&str, &str)| {
        format!("{}={}", utf8_percent_encode(name, QUERY), utf8_percent_encode(value, QUERY))
    };
    let query = pairs.iter().map(pair).collect::<Vec<_>>().join("&");
    let canonical = format!("GET\n/\n{query}\nhost:{host}\n\nhost\n{}", sha256(b""));
    let signature = signature(credentials, &canonical, date, &scope);
    format!("https://{host}/?{query}&X-Amz-Signature={signature}")
}

/// Where and when a signature holds.
fn scope(date: &str, region: &str, service: &str) -> String {
    let day = &date[..8.min(date.len())];
    format!("{day}/{region}/{service}/aws4_request")
}

/// Of a request in its canonical form.
fn signature(credentials: &Credentials, canonical: &str, date: &str, scope: &str) -> String {
    let text = format!("{ALGORITHM}\n{date}\n{scope}\n{}", sha256(canonical.as_bytes()));
    let secret = format!("AWS4{}", credentials.secret.reveal());
    let key =
        scope.split('/').fold(secret.into_bytes(), |key, part| hmac_sha256(&key, part.as_bytes()));
    hex(&hmac_sha256(&key, text.as_bytes()))
}

fn hmac_sha256(key: &[u8], data: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), data).as_ref().to_vec()
}

/// In hexadecimal digits.
pub fn sha256(data: impl AsRef<[u8]>) -> String {
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

    /// As botocore's `SigV4QueryAuth` signs the same at the same time.
    #[test]
    fn urls_are_signed_as_aws_own_library_signs_them() {
        let mut credentials = Credentials {
            id: "AKIDEXAMPLE".to_owned(),
            secret: Secret::new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            token: None,
        };
        let request = Presigned {
            service: "kafka-cluster",
            region: "us-west-2",
            host: "kafka.us-west-2.amazonaws.com",
            query: &[("Action", "kafka-cluster:Connect")],
            date: "20150830T123600Z",
            seconds: 900,
        };
        let plain = "https://kafka.us-west-2.amazonaws.com/?Action=kafka-cluster%3AConnect\
                     &X-Amz-Algorithm=AWS4-HMAC-SHA256\
                     &X-Amz-Credential=AKIDEXAMPLE%2F20150830%2Fus-west-2%2Fkafka-cluster\
                     %2Faws4_request&X-Amz-Date=20150830T123600Z&X-Amz-Expires=900\
                     &X-Amz-SignedHeaders=host\
                     &X-Amz-Signature=\
                     2c973e9d100edda2e1a67fdf713430733a1cf411f2d934b92e799a208550d79f";
        assert_eq!(presigned(&credentials, &request), plain);
        credentials.token = Some(Secret::new("to/ken+with=signs"));
        let url = presigned(&credentials, &request);
        assert!(url.contains("&X-Amz-Security-Token=to%2Fken%2Bwith%3Dsigns&X-Amz-Sig"), "{url}");
        let of_token = "309a400cc26ea88a88002606cb1e0e0e495b3b5f9db6795d63cbd96d3db5dc7e";
        assert!(url.ends_with(&format!("&X-Amz-Signature={of_token}")), "{url}");
    }
}
