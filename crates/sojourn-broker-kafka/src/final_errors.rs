//! Errors of reading that time does not mend.

use rdkafka::error::RDKafkaErrorCode;

/// Whether an error stays, whoever reads: the wrong login, rights that are lacking, settings that
/// contradict each other. librdkafka tries again by itself after all others.
pub(crate) fn never_mends(code: RDKafkaErrorCode) -> bool {
    use RDKafkaErrorCode as Code;
    matches!(
        code,
        Code::Authentication
            | Code::AutoOffsetReset
            | Code::Fatal
            | Code::GroupAuthorizationFailed
            | Code::InconsistentGroupProtocol
            | Code::NotImplemented
            | Code::TopicAuthorizationFailed
    )
}
