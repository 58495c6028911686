//! Error codes and what breaks a connection.

use std::fmt;

/// An error code, RFC 9113 §7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ErrorCode(pub(crate) u32);

const NAMES: [&str; 14] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
];

impl ErrorCode {
    pub(crate) const PROTOCOL_ERROR: Self = Self(1);
    pub(crate) const FLOW_CONTROL_ERROR: Self = Self(3);
    pub(crate) const FRAME_SIZE_ERROR: Self = Self(6);
    pub(crate) const REFUSED_STREAM: Self = Self(7);
    pub(crate) const CANCEL: Self = Self(8);
    pub(crate) const COMPRESSION_ERROR: Self = Self(9);
    pub(crate) const ENHANCE_YOUR_CALM: Self = Self(11);
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.get(self.0 as usize) {
            Some(name) => formatter.write_str(name),
            None => write!(formatter, "error code {:#x}", self.0),
        }
    }
}

/// What the other end did against the protocol. Fragments read after "HOST:PORT answered with …".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub(crate) struct Http2Error {
    /// What the other end is told.
    pub(crate) code: ErrorCode,
    /// What it did.
    pub(crate) what: &'static str,
}

impl Http2Error {
    pub(super) fn protocol(what: &'static str) -> Self {
        Self { code: ErrorCode::PROTOCOL_ERROR, what }
    }

    pub(super) fn frame_size(what: &'static str) -> Self {
        Self { code: ErrorCode::FRAME_SIZE_ERROR, what }
    }

    pub(super) fn flow_control(what: &'static str) -> Self {
        Self { code: ErrorCode::FLOW_CONTROL_ERROR, what }
    }

    pub(super) fn too_much(what: &'static str) -> Self {
        Self { code: ErrorCode::ENHANCE_YOUR_CALM, what }
    }
}

impl From<super::hpack::Broken> for Http2Error {
    fn from(broken: super::hpack::Broken) -> Self {
        Self { code: ErrorCode::COMPRESSION_ERROR, what: broken.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_names() {
        assert_eq!(ErrorCode::ENHANCE_YOUR_CALM.to_string(), "ENHANCE_YOUR_CALM");
        assert_eq!(ErrorCode::CANCEL.to_string(), "CANCEL");
        assert_eq!(ErrorCode(0xffff_ffff).to_string(), "error code 0xffffffff");
    }
}
