//! Who lets a client in, and how: TLS, passwords, tokens.

use std::path::Path;

use serde::Deserialize;
use sojourn_broker_kafka::client::TokenSource;
use sojourn_plan::KafkaChannel;

use super::{aws, azure};

/// librdkafka's properties, by name.
type Properties = Vec<(String, String)>;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Sasl {
    username: Option<String>,
    password: Option<String>,
    algorithm: Option<String>,
    aws_profile: Option<String>,
    scope: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Tls {
    pub(super) enable_tls: Option<bool>,
    pub(super) insecure_skip_tls_verify: Option<bool>,
    pub(super) client_cert_pem: Option<String>,
    pub(super) client_key_pem: Option<String>,
    pub(super) server_ca_pem: Option<String>,
}

/// Who may come, and how.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Access {
    sasl: Option<Sasl>,
    tls: Option<Tls>,
}

/// Brokers, and what lets a client in besides properties.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    pub(super) kafka: KafkaChannel,
    pub(super) login: Option<Login>,
}

/// Whose tokens let a client in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Login {
    /// Amazon MSK.
    Aws { profile: Option<String>, region: Option<String> },
    /// Azure Event Hubs.
    Azure { scope: String },
}

impl Login {
    /// Where the tokens come from.
    pub(super) fn source(&self) -> TokenSource {
        match self.clone() {
            Self::Aws { profile, region } => {
                TokenSource::new(move || aws::token(profile.as_deref(), region.as_deref()))
            }
            Self::Azure { scope } => TokenSource::new(move || azure::token(&scope)),
        }
    }
}

impl Access {
    /// The cluster at these brokers.
    pub(super) fn cluster(
        &self,
        brokers: &[String],
        properties: Properties,
    ) -> Result<Cluster, String> {
        if brokers.iter().all(String::is_empty) {
            return Err("it needs brokers, such as [\"localhost:9092\"]".to_owned());
        }
        let login = self.login(brokers)?;
        let kafka = KafkaChannel { brokers: brokers.join(","), topics: Vec::new(), properties };
        Ok(Cluster { kafka, login })
    }

    fn algorithm(&self) -> Option<&str> {
        self.sasl.as_ref().and_then(|sasl| sasl.algorithm.as_deref())
    }

    /// Whose tokens are needed, if any are. What tokens are made of is looked at now, so that what
    /// is missing is said here and not when a connection fails.
    fn login(&self, brokers: &[String]) -> Result<Option<Login>, String> {
        let Some(sasl) = &self.sasl else { return Ok(None) };
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        match sasl.algorithm.as_deref() {
            Some("sasl_aws_iam") => {
                let profile = given(&sasl.aws_profile);
                let region = aws::region(brokers);
                aws::token(profile.as_deref(), region.as_deref())?;
                Ok(Some(Login::Aws { profile, region }))
            }
            Some("sasl_azure_entra") => {
                azure::check()?;
                let scope = given(&sasl.scope).map_or_else(|| azure::scope(brokers), Ok)?;
                Ok(Some(Login::Azure { scope }))
            }
            _ => Ok(None),
        }
    }

    pub(super) fn properties(&self) -> Result<Properties, String> {
        let mut properties = Properties::new();
        let mut set = |name: &str, value: &str| properties.push((name.into(), value.to_owned()));
        let algorithm = self.algorithm();
        let mechanism = mechanism(algorithm)?;
        let tls = self.tls.as_ref().filter(|tls| tls.enable_tls == Some(true));
        let has_tls = tls.is_some() || algorithm == Some("sasl_ssl");
        match (mechanism.is_some(), has_tls) {
            (false, false) => return Ok(properties),
            (false, true) => set("security.protocol", "ssl"),
            (true, false) => set("security.protocol", "sasl_plaintext"),
            (true, true) => set("security.protocol", "sasl_ssl"),
        }
        if let (Some(mechanism), Some(sasl)) = (mechanism, &self.sasl) {
            set("sasl.mechanism", mechanism);
            if mechanism != TOKENS {
                set("sasl.username", sasl.username.as_deref().unwrap_or_default());
                set("sasl.password", sasl.password.as_deref().unwrap_or_default());
            }
        }
        let Some(tls) = tls else { return Ok(properties) };
        if tls.insecure_skip_tls_verify == Some(true) {
            set("enable.ssl.certificate.verification", "false");
        }
        let files = [
            (&tls.client_cert_pem, "ssl.certificate"),
            (&tls.client_key_pem, "ssl.key"),
            (&tls.server_ca_pem, "ssl.ca"),
        ];
        for (given, name) in files {
            let Some(given) = given.as_deref().filter(|given| !given.is_empty()) else { continue };
            // Either the text itself or the file that has it.
            match given.contains("-----BEGIN") {
                true => set(&format!("{name}.pem"), given),
                false if Path::new(given).exists() => set(&format!("{name}.location"), given),
                false => return Err(format!("tls: there is no file {given}")),
            }
        }
        Ok(properties)
    }
}

/// The mechanism that takes tokens.
const TOKENS: &str = "OAUTHBEARER";

/// Kafka's name for what a script calls an algorithm.
fn mechanism(algorithm: Option<&str>) -> Result<Option<&'static str>, String> {
    Ok(match algorithm {
        None | Some("" | "none") => None,
        Some("sasl_plain" | "sasl_ssl") => Some("PLAIN"),
        Some("sasl_scram_sha256") => Some("SCRAM-SHA-256"),
        Some("sasl_scram_sha512") => Some("SCRAM-SHA-512"),
        Some("sasl_aws_iam" | "sasl_azure_entra") => Some(TOKENS),
        Some("sasl_gssapi") => {
            return Err("SASL by \"sasl_gssapi\" (Kerberos) is not there, since it takes the \
                        system's own Kerberos and SASL libraries; let the test in by SCRAM, a \
                        password or a client certificate, at a listener of its own if need be"
                .to_owned());
        }
        Some(other) => {
            return Err(format!(
                "SASL by \"{other}\" is not there: plain, scram, AWS IAM or Azure Entra"
            ));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(json: &str) -> Access {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn tokens_need_no_password() {
        let azure = access(r#"{"sasl":{"algorithm":"sasl_azure_entra","password":"x"}}"#);
        let properties = azure.properties().unwrap();
        let expected = [("security.protocol", "sasl_plaintext"), ("sasl.mechanism", "OAUTHBEARER")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(properties, expected);
    }

    #[test]
    fn what_is_not_there_is_said() {
        let refused = |algorithm: &str| {
            let json = format!(r#"{{"sasl":{{"algorithm":"{algorithm}"}}}}"#);
            access(&json).properties().unwrap_err()
        };
        assert!(refused("sasl_gssapi").contains("SCRAM"));
        assert!(refused("sasl_gcp_oauth").contains("\"sasl_gcp_oauth\""));
        assert!(access("{}").cluster(&[String::new()], Vec::new()).is_err());
    }
}
