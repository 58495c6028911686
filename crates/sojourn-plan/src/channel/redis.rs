//! Redis.

use super::Server;

/// A Redis server's streams or notifications.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RedisChannel {
    /// Where: `redis://` or `rediss://`; the path is the database's number, 0 where there is none.
    pub server: Server,
    /// What is listened to.
    pub source: RedisSource,
    /// Field of a stream's entry that holds the payload; `None`: the entry's fields are a JSON
    /// object of texts. The other fields are its headers.
    pub field: Option<String>,
}

/// What is listened to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedisSource {
    /// Streams, read by XREAD from their ends, without a group.
    Streams(Vec<String>),
    /// Channels of pub/sub; those with `*`, `?` or `[` are patterns.
    Channels(Vec<String>),
    /// Keyspace notifications of keys that fit these patterns: the key is the message's key, the
    /// event (`set`, `del` …) its payload. The server must have them switched on.
    Keyspace(Vec<String>),
}

impl RedisSource {
    /// What it names.
    pub fn names(&self) -> &[String] {
        match self {
            Self::Streams(names) | Self::Channels(names) | Self::Keyspace(names) => names,
        }
    }
}

impl Default for RedisSource {
    fn default() -> Self {
        Self::Streams(Vec::new())
    }
}
