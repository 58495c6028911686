//! Whether a publisher works: its broker answers, lets it in, and has the topics.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rdkafka::ClientContext;
use rdkafka::client::Client;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::metadata::Metadata;
use sojourn_broker::BrokerError;
use sojourn_clock::{SECOND_NS, now_ns};

use crate::config::Redactor;
use crate::open::{missing, unreachable};
use crate::watch::{failure_in, plain_reason};

/// As long as a tap has for opening.
const READY_NS_MAX: u64 = 5 * SECOND_NS;
/// Longest single request, so that errors are looked at in between.
const STEP: Duration = Duration::from_secs(1);
/// A refused request returns at once; the brokers get a moment.
const PAUSE: Duration = Duration::from_millis(20);

/// What librdkafka has complained of, in words without secrets.
#[derive(Debug)]
pub(crate) struct Troubles {
    redactor: Redactor,
    latest: Mutex<Latest>,
}

#[derive(Clone, Debug, Default)]
struct Latest {
    reason: Option<String>,
    refused: bool,
}

impl Troubles {
    pub(crate) fn new(redactor: Redactor) -> Arc<Self> {
        Arc::new(Self { redactor, latest: Mutex::default() })
    }

    /// [`ClientContext::log`], on librdkafka's own threads: that a connection has ended is only
    /// said there.
    pub(crate) fn logged(&self, facility: &str, message: &str) {
        if let Some(reason) = failure_in(facility, message) {
            self.latest().reason = Some(self.redactor.redact(&plain_reason(reason)));
        }
    }

    /// [`ClientContext::error`].
    pub(crate) fn heard(&self, error: &KafkaError, reason: &str) {
        let mut latest = self.latest();
        let code = error.rdkafka_error_code();
        // Says less than the errors that led to it.
        if code == Some(RDKafkaErrorCode::AllBrokersDown) && latest.reason.is_some() {
            return;
        }
        latest.refused |= refuses_credentials(code);
        latest.reason = Some(self.redactor.redact(&plain_reason(reason)));
    }

    fn latest(&self) -> MutexGuard<'_, Latest> {
        // A panic elsewhere leaves facts behind, not a broken structure.
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Errs when the brokers are not reached in time, let nobody in, or lack one of the topics. All
    /// topics are asked for: asking for one by name could create it.
    pub(crate) fn check<C: ClientContext>(
        &self,
        client: &Client<C>,
        brokers: &str,
        topics: &[String],
    ) -> Result<(), BrokerError> {
        let metadata = self.ask(client, brokers)?;
        let has = |topic: &String| {
            let mut known = metadata.topics().iter();
            known.any(|known| known.name() == topic && !known.partitions().is_empty())
        };
        match topics.iter().find(|topic| !has(topic)) {
            Some(topic) => Err(missing(brokers, topic, &metadata)),
            None => Ok(()),
        }
    }

    fn ask<C: ClientContext>(
        &self,
        client: &Client<C>,
        brokers: &str,
    ) -> Result<Metadata, BrokerError> {
        let deadline_ns = now_ns() + READY_NS_MAX;
        loop {
            let error = match client.fetch_metadata(None, STEP) {
                Ok(metadata) => return Ok(metadata),
                Err(error) => error,
            };
            let Latest { reason, refused } = self.latest().clone();
            if now_ns() >= deadline_ns || refused {
                let reason = reason.unwrap_or_else(|| self.redactor.redact(&error.to_string()));
                return Err(unreachable(brokers, &reason, refused));
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// Whether trying again does not help.
pub(crate) fn refuses_credentials(code: Option<RDKafkaErrorCode>) -> bool {
    use RDKafkaErrorCode::{Authentication, SaslAuthenticationFailed};
    matches!(code, Some(Authentication | SaslAuthenticationFailed))
}
