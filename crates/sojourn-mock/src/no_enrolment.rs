//! What stands in for enrolment in a build without it: answers that name the feature.

use std::io;

use crate::message::Message;

const MISSING: &str = "\
this build of the mock cannot read certificates: build sojourn-mock with `--features est`, \
or sojourn-cli with `--features full`
";

/// Issues nothing.
pub(crate) struct Authority;

impl Authority {
    #[expect(clippy::unnecessary_wraps, reason = "it is what the real one has")]
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) fn certificates(&self) -> Message {
        Message::text(501, "text/plain; charset=utf-8", MISSING.as_bytes())
    }

    pub(crate) fn enrol(&self, _body: &[u8]) -> Message {
        self.certificates()
    }
}

/// Not known.
pub(crate) fn subject(_certificate: &[u8]) -> Option<String> {
    None
}
