//! What a client is told of an answer.

/// An answer, lent for one step.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// Its status.
    pub status: u16,
    /// Its header fields.
    pub headers: &'a [(&'a str, &'a str)],
    /// Its body, decompressed; may be empty where [`needs_body`](crate::Outgoing::needs_body) says
    /// that nothing looks into it.
    pub body: &'a [u8],
}

impl<'a> Answer<'a> {
    /// The first field of this name, whatever its letters' case.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| *value)
    }
}
