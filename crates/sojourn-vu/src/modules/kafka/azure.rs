//! Tokens of Microsoft Entra for Azure Event Hubs: an application's, which shows its secret, or a
//! token that the cluster that it runs in has put into a file.

use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use sojourn_aws::{Variables, environment};
use sojourn_broker_kafka::client::Token;
use sojourn_outputs::wire::{Endpoint, Poster, Security};
use sojourn_plan::Secret;
use url::{Host, Url, form_urlencoded};

/// Who is asked, unless `AZURE_AUTHORITY_HOST` says otherwise.
const AUTHORITY: &str = "https://login.microsoftonline.com/";
const TIMEOUT: Duration = Duration::from_secs(10);
/// What a file's token is called when it is shown.
const ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// Who asks for tokens, and where.
#[derive(Debug)]
struct Application {
    authority: Url,
    tenant: String,
    client: String,
    proof: Proof,
}

/// What shows that it is the application that asks.
#[derive(Debug)]
enum Proof {
    Secret(Secret),
    /// Read each time, since it is replaced before it ends.
    File(PathBuf),
}

#[derive(Deserialize)]
struct Answer {
    access_token: String,
    /// Seconds.
    expires_in: u64,
}

/// Whether the environment says who asks.
pub(super) fn check() -> Result<(), String> {
    Application::find(&environment).map(|_| ())
}

/// What a token is for: the one broker, as Event Hubs have it.
pub(super) fn scope(brokers: &[String]) -> Result<String, String> {
    match brokers {
        [broker] => match broker.rsplit_once(':') {
            Some((host, _)) => Ok(format!("https://{host}/.default")),
            None => Err(format!("SASL by Azure Entra: the broker `{broker}` has no port")),
        },
        _ => Err("SASL by Azure Entra: one broker is wanted, or a `scope`".to_owned()),
    }
}

/// A token for this scope. Blocks for ten seconds at most.
pub(super) fn token(scope: &str) -> Result<Token, String> {
    let application = Application::find(&environment)?;
    let fetched = application.fetch(scope);
    fetched.map_err(|problem| format!("SASL by Azure Entra: no token: {problem}"))
}

impl Application {
    fn find(variable: Variables<'_>) -> Result<Self, String> {
        let needed = |name: &str| {
            variable(name).ok_or_else(|| {
                format!(
                    "SASL by Azure Entra: {name} is not set: it takes AZURE_TENANT_ID, \
                     AZURE_CLIENT_ID, and AZURE_CLIENT_SECRET or AZURE_FEDERATED_TOKEN_FILE"
                )
            })
        };
        let authority = variable("AZURE_AUTHORITY_HOST").unwrap_or_else(|| AUTHORITY.to_owned());
        let authority = Url::parse(&authority)
            .map_err(|error| format!("AZURE_AUTHORITY_HOST is no URL: {error}"))?;
        if authority.scheme() != "https" && !is_local(&authority) {
            return Err("AZURE_AUTHORITY_HOST is no https://: secrets are sent there".to_owned());
        }
        let proof = match variable("AZURE_FEDERATED_TOKEN_FILE") {
            Some(file) if variable("AZURE_CLIENT_SECRET").is_none() => Proof::File(file.into()),
            _ => Proof::Secret(Secret::new(needed("AZURE_CLIENT_SECRET")?)),
        };
        let (tenant, client) = (needed("AZURE_TENANT_ID")?, needed("AZURE_CLIENT_ID")?);
        Ok(Self { authority, tenant, client, proof })
    }

    fn fetch(&self, scope: &str) -> Result<Token, String> {
        let proof = match &self.proof {
            Proof::Secret(secret) => secret.clone(),
            Proof::File(file) => {
                let read = std::fs::read_to_string(file);
                let read = read.map_err(|error| format!("{}: {error}", file.display()))?;
                Secret::new(read.trim())
            }
        };
        let poster = Poster::new(&Endpoint::new(&self.authority, &[])?, &Security::default())?;
        let url = poster.url(&format!("/{}/oauth2/v2.0/token", self.tenant));
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        let asked_ms = Timestamp::now().as_millisecond();
        let answer = poster.post(&url, &headers, self.form(scope, &proof).as_bytes(), TIMEOUT);
        let answer = answer.map_err(|failure| redacted(&failure.to_string(), &proof))?;
        let answer: Answer = serde_json::from_slice(&answer)
            .map_err(|_| "the answer is no JSON with access_token and expires_in".to_owned())?;
        let subject = subject(&answer.access_token);
        Ok(Token {
            principal: subject.unwrap_or_else(|| self.client.clone()),
            value: answer.access_token,
            ends_ms: u64::try_from(asked_ms).unwrap_or(0) + answer.expires_in.saturating_mul(1_000),
        })
    }

    fn form(&self, scope: &str, proof: &Secret) -> String {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("grant_type", "client_credentials");
        form.append_pair("client_id", &self.client).append_pair("scope", scope);
        match self.proof {
            Proof::Secret(_) => form.append_pair("client_secret", proof.reveal()),
            Proof::File(_) => form
                .append_pair("client_assertion_type", ASSERTION)
                .append_pair("client_assertion", proof.reveal()),
        };
        form.finish()
    }
}

/// Whether a server is this machine itself.
fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        _ => false,
    }
}

/// Whose token it is, as it says itself; the broker looks whether that is true.
fn subject(token: &str) -> Option<String> {
    let payload = token.split('.').nth(1)?;
    let payload = URL_SAFE_NO_PAD.decode(payload.trim_end_matches('=')).ok()?;
    let claims: Value = serde_json::from_slice(&payload).ok()?;
    Some(claims["sub"].as_str()?.to_owned())
}

fn redacted(text: &str, proof: &Secret) -> String {
    match proof.reveal() {
        "" => text.to_owned(),
        secret => text.replace(secret, "***"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + use<'a> {
        move |name: &str| {
            pairs.iter().find(|(known, _)| *known == name).map(|(_, it)| (*it).to_owned())
        }
    }

    const WHO: [(&str, &str); 2] = [("AZURE_TENANT_ID", "t"), ("AZURE_CLIENT_ID", "c")];

    #[test]
    fn the_environment_says_who_asks() {
        let secret = [WHO.as_slice(), &[("AZURE_CLIENT_SECRET", "hunter2 &")]].concat();
        let application = Application::find(&of(&secret)).unwrap();
        assert_eq!(application.authority.as_str(), AUTHORITY);
        assert!(!format!("{application:?}").contains("hunter2"));
        let form = application.form("https://hub/.default", &Secret::new("hunter2 &"));
        let expected = "grant_type=client_credentials&client_id=c\
                        &scope=https%3A%2F%2Fhub%2F.default&client_secret=hunter2+%26";
        assert_eq!(form, expected);
        let file = [WHO.as_slice(), &[("AZURE_FEDERATED_TOKEN_FILE", "/f")]].concat();
        let application = Application::find(&of(&file)).unwrap();
        assert!(application.form("s", &Secret::new("jwt")).ends_with("&client_assertion=jwt"));
    }

    #[test]
    fn what_is_missing_is_said() {
        let error = Application::find(&of(&WHO)).unwrap_err();
        assert!(error.contains("AZURE_CLIENT_SECRET is not set"), "{error}");
        let authority = |url| [("AZURE_CLIENT_SECRET", "s"), ("AZURE_AUTHORITY_HOST", url)];
        let find = |url| Application::find(&of(&[WHO, authority(url)].concat())).map(|_| ());
        assert!(find("http://login.example/").unwrap_err().contains("https"));
        assert_eq!(find("http://127.0.0.1:1/"), Ok(()));
        assert!(scope(&["a:1".to_owned(), "b:1".to_owned()]).unwrap_err().contains("scope"));
        assert_eq!(scope(&["ns:9093".to_owned()]).unwrap(), "https://ns/.default");
    }

    #[test]
    fn a_tokens_subject_is_read() {
        let token = format!("e30.{}.", URL_SAFE_NO_PAD.encode(r#"{"sub":"me","exp":1}"#));
        assert_eq!(subject(&token).as_deref(), Some("me"));
        assert_eq!((subject("x"), subject("a.!.b"), subject("")), (None, None, None));
    }
}
