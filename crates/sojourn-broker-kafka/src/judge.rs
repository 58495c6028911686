//! Which of librdkafka's errors lose the tap.

use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use sojourn_broker::BrokerError;

use crate::tap::KafkaTap;

impl KafkaTap {
    /// Whether an error that the consumer returned loses the tap.
    pub(crate) fn judge(&self, error: &KafkaError) -> Result<(), BrokerError> {
        use RDKafkaErrorCode as Code;
        let lost = |what: String| Err(BrokerError::new(format!("{}: {what}", self.name())));
        match error.rdkafka_error_code() {
            // Connections come and go: [`Self::follow_connection`] says when one is gone for good.
            Some(
                Code::AllBrokersDown
                | Code::BrokerNotAvailable
                | Code::BrokerTransportFailure
                | Code::NetworkException
                | Code::OperationTimedOut
                | Code::RequestTimedOut
                | Code::Resolve
                | Code::Retry,
            ) => Ok(()),
            // Partitions on their way to another leader.
            Some(
                Code::LeaderNotAvailable
                | Code::NotLeaderForPartition
                | Code::FencedLeaderEpoch
                | Code::UnknownLeaderEpoch
                | Code::OffsetNotAvailable
                | Code::ReplicaNotAvailable,
            ) => Ok(()),
            // About the group that we have the name of but do not join.
            Some(
                Code::CoordinatorLoadInProgress
                | Code::CoordinatorNotAvailable
                | Code::GroupAuthorizationFailed
                | Code::NotCoordinator
                | Code::WaitingForCoordinator,
            ) => Ok(()),
            Some(Code::AutoOffsetReset | Code::OffsetOutOfRange) => {
                let mut error = BrokerError::new(format!(
                    "{}: messages were deleted before the tap could read them",
                    self.name()
                ));
                error.hint = Some("the topic's retention is too short for this load".to_owned());
                Err(error)
            }
            Some(Code::NotImplemented) => Err(BrokerError::new(format!(
                "{}: a message is compressed in a way that this build cannot read",
                self.name()
            ))
            .with_hint("zstd needs sojourn built with `--features kafka-zstd`")),
            _ => lost(self.redactor.redact(&error.to_string())),
        }
    }
}
