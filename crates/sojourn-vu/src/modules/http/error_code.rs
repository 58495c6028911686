//! Numbers for what went wrong, as k6's documentation lists them.

use sojourn_http::{Failure, FailureKind};

/// The code of a failed exchange; 1000 where nothing better is known.
pub(super) fn of_failure(failure: &Failure) -> u16 {
    let detail = failure.detail.as_str();
    match failure.kind {
        FailureKind::Dns => 1101,
        FailureKind::Connect if detail.contains("refused") => 1212,
        FailureKind::Connect if detail.contains("timed out") => 1211,
        FailureKind::Connect => 1210,
        FailureKind::Reset => 1220,
        FailureKind::Closed => 1000,
        FailureKind::Timeout => 1050,
        FailureKind::Tls if detail.contains("UnknownIssuer") => 1310,
        FailureKind::Tls if detail.contains("NotValidForName") => 1311,
        FailureKind::Tls => 1300,
        FailureKind::StreamReset => 1600,
        FailureKind::Encoding => 1701,
        FailureKind::BodyTooLarge | FailureKind::Local | FailureKind::Protocol => 1000,
    }
}

/// The code of a status: 1400 and more, 0 below 400.
pub(super) fn of_status(status: u16) -> u16 {
    if (400..600).contains(&status) { 1000 + status } else { 0 }
}
