//! Tokens for Amazon MSK with IAM: a URL that only its signer could have made, in Base64. MSK takes
//! them by OAUTHBEARER.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use sojourn_aws::{NO_KEYS_HINT, Presigned, Variables, environment, find, find_in, presigned};
use sojourn_broker_kafka::client::Token;

/// How long a token is good, as AWS's own signers have it.
const SECONDS: u64 = 900;
/// What AWS's own signers add behind the signature: who made the token.
const MADE_BY: &str = concat!("&User-Agent=sojourn%2F", env!("CARGO_PKG_VERSION"));

/// A token of a profile's keys, or of those that the environment has, for a region, or for that of
/// the environment.
pub(super) fn token(profile: Option<&str>, region: Option<&str>) -> Result<Token, String> {
    made(profile, region, &environment, Timestamp::now())
}

/// The region that brokers of Amazon MSK have in their names.
pub(super) fn region(brokers: &[String]) -> Option<String> {
    let of_broker = |broker: &String| {
        let (host, _) = broker.split_once(".amazonaws.com")?;
        let (before, region) = host.rsplit_once('.')?;
        let (_, service) = before.rsplit_once('.')?;
        matches!(service, "kafka" | "kafka-serverless").then(|| region.to_owned())
    };
    brokers.iter().find_map(of_broker)
}

fn made(
    profile: Option<&str>,
    region: Option<&str>,
    variable: Variables<'_>,
    at: Timestamp,
) -> Result<Token, String> {
    let found = match profile {
        Some(profile) => find_in(variable, profile),
        None => find(variable),
    };
    let region = region.or(found.region.as_deref());
    let region = region.ok_or("SASL by AWS IAM: no region is given (set AWS_REGION)")?;
    let keys = found.credentials.as_ref();
    let keys =
        keys.ok_or_else(|| format!("SASL by AWS IAM: {} ({NO_KEYS_HINT})", found.no_keys()))?;
    let url = presigned(
        keys,
        &Presigned {
            service: "kafka-cluster",
            region,
            host: &format!("kafka.{region}.amazonaws.com"),
            query: &[("Action", "kafka-cluster:Connect")],
            date: &at.strftime("%Y%m%dT%H%M%SZ").to_string(),
            seconds: SECONDS,
        },
    );
    Ok(Token {
        value: URL_SAFE_NO_PAD.encode(url + MADE_BY),
        principal: keys.id.clone(),
        ends_ms: (u64::try_from(at.as_second()).unwrap_or(0) + SECONDS) * 1_000,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: i64 = 1_440_938_160;

    fn keys(name: &str) -> Option<String> {
        let value = match name {
            "AWS_ACCESS_KEY_ID" => "AKIDEXAMPLE",
            "AWS_SECRET_ACCESS_KEY" => "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            _ => return None,
        };
        Some(value.to_owned())
    }

    fn at() -> Timestamp {
        Timestamp::from_second(AT).unwrap()
    }

    #[test]
    fn a_token_is_a_signed_url() {
        let token = made(None, Some("us-west-2"), &keys, at()).unwrap();
        let url = String::from_utf8(URL_SAFE_NO_PAD.decode(&token.value).unwrap()).unwrap();
        let begin = "https://kafka.us-west-2.amazonaws.com/?Action=kafka-cluster%3AConnect&";
        assert!(url.starts_with(begin), "{url}");
        // As botocore's `SigV4QueryAuth` signs the same at the same time.
        let signature = "2c973e9d100edda2e1a67fdf713430733a1cf411f2d934b92e799a208550d79f";
        let end = format!("&X-Amz-Signature={signature}{MADE_BY}");
        assert!(url.contains("&X-Amz-Date=20150830T123600Z&") && url.ends_with(&end), "{url}");
        assert_eq!(token.ends_ms, (AT as u64 + 900) * 1_000);
        assert_eq!(token.principal, "AKIDEXAMPLE");
    }

    #[test]
    fn what_is_missing_is_said() {
        let error = made(None, None, &keys, at()).unwrap_err();
        assert!(error.contains("AWS_REGION"), "{error}");
        let error = made(None, Some("eu-west-1"), &|_| None, at()).unwrap_err();
        assert!(error.contains("AWS_ACCESS_KEY_ID") && error.contains("export-cred"), "{error}");
        // A profile that is named has its own keys or none.
        let error = made(Some("load"), Some("eu-west-1"), &keys, at()).unwrap_err();
        assert!(error.contains("profile `load`"), "{error}");
    }

    #[test]
    fn brokers_name_their_region() {
        let of = |broker: &str| region(&[broker.to_owned()]);
        let provisioned = "b-1.demo.a1b2c3.c2.kafka.us-east-1.amazonaws.com:9198";
        assert_eq!(of(provisioned).as_deref(), Some("us-east-1"));
        let serverless = "boot-abc.c1.kafka-serverless.eu-central-1.amazonaws.com:9098";
        assert_eq!(of(serverless).as_deref(), Some("eu-central-1"));
        assert_eq!(of("b-1.kafka.cn-north-1.amazonaws.com.cn:9098").as_deref(), Some("cn-north-1"));
        for other in ["127.0.0.1:9092", "x.amazonaws.com:1", "s3.eu-west-1.amazonaws.com:443"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
