//! From a channel's settings to where requests go and who signs them.

use sojourn_aws::{Credentials, Found, NO_KEYS_HINT, Variables, find};
use sojourn_broker::BrokerError;
use sojourn_http::{Origin, TlsOptions};
use sojourn_plan::{SqsChannel, SqsCredentials, SqsSource};

/// Which of AWS's services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    Sqs,
    Sns,
    CloudWatch,
}

impl Service {
    /// Its name in endpoints and signatures.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Sqs => "sqs",
            Self::Sns => "sns",
            Self::CloudWatch => "monitoring",
        }
    }

    /// The variable that names another endpoint, as AWS's tools know it.
    fn variable(self) -> &'static str {
        match self {
            Self::Sqs => "AWS_ENDPOINT_URL_SQS",
            Self::Sns => "AWS_ENDPOINT_URL_SNS",
            Self::CloudWatch => "AWS_ENDPOINT_URL_CLOUDWATCH",
        }
    }
}

/// Where requests go, and who signs them.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) service: Service,
    pub(crate) origin: Origin,
    pub(crate) region: String,
    /// `None`: a server of the user's own that takes requests without a signature.
    pub(crate) credentials: Option<Credentials>,
    pub(crate) tls: TlsOptions,
}

impl Settings {
    /// Settings of a channel, with what the environment adds. Errs when there is no region, when
    /// the endpoint is no URL, and when AWS is meant and there are no keys.
    pub(crate) fn new(
        channel: &SqsChannel,
        service: Service,
        variable: Variables<'_>,
    ) -> Result<Self, BrokerError> {
        let mut found = find(variable);
        found.credentials = channel.credentials.as_ref().map(own).or(found.credentials);
        let word = service.word();
        let of_channel = channel.endpoint.clone();
        let of_service = || variable(service.variable());
        let endpoint = match service {
            // A channel's endpoint is that of its queues, which may know nothing of ages.
            Service::CloudWatch => of_service().or(of_channel),
            Service::Sqs | Service::Sns => of_channel.or_else(of_service),
        };
        let endpoint = endpoint.or_else(|| variable("AWS_ENDPOINT_URL"));
        let region = region(channel, &found).or_else(|| {
            // A server of one's own has no regions.
            endpoint.as_ref().map(|_| "us-east-1".to_owned())
        });
        let region = region.ok_or_else(|| {
            BrokerError::new(format!("{word}: no region is given"))
                .with_hint("set `region` in the channel, or AWS_REGION")
        })?;
        if endpoint.is_none() && found.credentials.is_none() {
            return Err(no_keys(word, &found));
        }
        let url = endpoint.unwrap_or_else(|| {
            let domain =
                if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
            format!("https://{word}.{region}.{domain}")
        });
        let origin = Origin::parse(&url).map_err(|error| {
            BrokerError::new(format!("{word}: the endpoint cannot be used: {error}"))
                .with_hint("write it as `http://127.0.0.1:9324`")
        })?;
        let ca_file = variable("AWS_CA_BUNDLE").map(Into::into);
        let tls =
            TlsOptions { ca_file, roots_only: true, resumption: true, ..TlsOptions::default() };
        Ok(Self { service, origin, region, credentials: found.credentials, tls })
    }

    /// `sqs at 127.0.0.1:9324`, for messages.
    pub(crate) fn place(&self) -> String {
        format!("{} at {}:{}", self.service.word(), self.origin.host, self.origin.port)
    }

    /// A server's words without what they may repeat of the keys, and not longer than a line.
    pub(crate) fn redact(&self, text: &str) -> String {
        let mut text = text.lines().next().unwrap_or_default().to_owned();
        if let Some(credentials) = &self.credentials {
            let token = credentials.token.iter();
            for secret in token.chain([&credentials.secret]) {
                text = text.replace(secret.reveal(), "***");
            }
        }
        text.chars().take(400).collect()
    }
}

/// The channel's own keys.
fn own(keys: &SqsCredentials) -> Credentials {
    let SqsCredentials { id, secret, token } = keys.clone();
    Credentials { id, secret, token }
}

fn no_keys(word: &str, found: &Found) -> BrokerError {
    BrokerError::new(format!("{word}: {}", found.no_keys())).with_hint(NO_KEYS_HINT)
}

/// The plan's, that of the queue's URL or the topic's ARN, the environment's.
fn region(channel: &SqsChannel, found: &Found) -> Option<String> {
    let name = channel.source.name();
    let of_name = match &channel.source {
        SqsSource::Topic(_) => name.split(':').nth(3),
        SqsSource::Queue(_) => name
            .strip_prefix("https://sqs.")
            .and_then(|rest| rest.split_once(".amazonaws."))
            .map(|(region, _)| region),
    };
    let of_name = of_name.filter(|region| !region.is_empty()).map(str::to_owned);
    channel.region.clone().or(of_name).or_else(|| found.region.clone())
}

#[cfg(test)]
mod tests {
    use sojourn_plan::Secret;

    use super::*;

    fn channel(source: SqsSource, endpoint: Option<&str>) -> SqsChannel {
        let endpoint = endpoint.map(str::to_owned);
        SqsChannel { endpoint, source, ..SqsChannel::default() }
    }

    fn keys(name: &str) -> Option<String> {
        matches!(name, "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY").then(|| "hunter2".to_owned())
    }

    #[test]
    fn the_endpoint_is_of_the_region_and_the_region_of_the_name() {
        let queue = SqsSource::Queue("https://sqs.eu-west-3.amazonaws.com/1/q".to_owned());
        let settings = Settings::new(&channel(queue, None), Service::Sqs, &keys).unwrap();
        assert_eq!(settings.place(), "sqs at sqs.eu-west-3.amazonaws.com:443");
        let topic = SqsSource::Topic("arn:aws:sns:us-east-2:1:orders".to_owned());
        let settings = Settings::new(&channel(topic, None), Service::Sns, &keys).unwrap();
        assert_eq!(settings.place(), "sns at sns.us-east-2.amazonaws.com:443");
    }

    #[test]
    fn ages_are_asked_for_where_the_environment_says_first() {
        let queue = || SqsSource::Queue("q".to_owned());
        let place = |endpoint: Option<&str>, variable: Variables<'_>| {
            Settings::new(&channel(queue(), endpoint), Service::CloudWatch, variable)
                .unwrap()
                .place()
        };
        let own = |name: &str| {
            let is_own = name == "AWS_ENDPOINT_URL_CLOUDWATCH";
            is_own.then(|| "http://127.0.0.1:2".to_owned())
        };
        let endpoint = Some("http://127.0.0.1:1");
        assert_eq!(place(endpoint, &own), "monitoring at 127.0.0.1:2");
        assert_eq!(place(endpoint, &|_| None), "monitoring at 127.0.0.1:1");
        let aws = |name: &str| match name {
            "AWS_REGION" => Some("eu-west-1".to_owned()),
            _ => keys(name),
        };
        assert_eq!(place(None, &aws), "monitoring at monitoring.eu-west-1.amazonaws.com:443");
    }

    #[test]
    fn the_channels_own_keys_come_first() {
        let queue = channel(SqsSource::Queue("q".to_owned()), Some("http://127.0.0.1:1"));
        let (id, secret, token) = ("own".to_owned(), Secret::new("s3cret"), None);
        let own = SqsChannel { credentials: Some(SqsCredentials { id, secret, token }), ..queue };
        let settings = Settings::new(&own, Service::Sqs, &keys).unwrap();
        assert_eq!(settings.credentials.as_ref().unwrap().id, "own");
        assert!(!format!("{settings:?}{own:?}").contains("s3cret"));
    }

    #[test]
    fn what_is_missing_is_said() {
        let queue = || SqsSource::Queue("q".to_owned());
        let error = Settings::new(&channel(queue(), None), Service::Sqs, &keys).unwrap_err();
        assert!(error.hint.unwrap().contains("AWS_REGION"));
        let region = |name: &str| (name == "AWS_REGION").then(|| "eu-west-1".to_owned());
        let error = Settings::new(&channel(queue(), None), Service::Sqs, &region).unwrap_err();
        assert!(error.message.contains("AWS_ACCESS_KEY_ID"), "{error}");
        let own = channel(queue(), Some("http://127.0.0.1:9324"));
        let settings = Settings::new(&own, Service::Sqs, &|_| None).unwrap();
        assert_eq!(
            (settings.place().as_str(), settings.credentials),
            ("sqs at 127.0.0.1:9324", None)
        );
        let wrong = channel(queue(), Some("127.0.0.1:9324"));
        assert!(Settings::new(&wrong, Service::Sqs, &|_| None).is_err());
    }

    #[test]
    fn a_servers_words_keep_no_secret() {
        let own = channel(SqsSource::Queue("q".to_owned()), Some("http://127.0.0.1:1"));
        let mut settings = Settings::new(&own, Service::Sqs, &keys).unwrap();
        let credentials = settings.credentials.as_mut().unwrap();
        credentials.token = Some(Secret::new("t0ken"));
        let said = settings.redact("x-amz-security-token:t0ken hunter2\nmore");
        assert_eq!(said, "x-amz-security-token:*** ***");
        assert!(!format!("{settings:?}").contains("t0ken"));
    }
}
