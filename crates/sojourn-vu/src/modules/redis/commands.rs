//! The methods of a client: which command each sends, and what it resolves with.

/// A method of a client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Method {
    /// As scripts call it.
    pub(super) name: &'static str,
    /// As the server knows it.
    pub(super) command: &'static str,
    /// How many arguments go to the server.
    pub(super) takes: Takes,
    pub(super) gives: Gives,
}

/// How many arguments a method sends on; what a script gives beyond that is passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    Exactly(usize),
    /// So many and any number of further ones.
    Values(usize),
    /// Likewise, names that may be in arrays.
    Names(usize),
    /// A key, a value and, if at least 1, how many whole seconds it is to live.
    KeyValueSeconds,
}

/// What a method's promise resolves with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gives {
    /// A text; that there is none is an error.
    Text,
    Number,
    /// Whether the server says 1.
    Boolean,
    /// Texts, null where there is none.
    List,
    /// An object of texts.
    Map,
    /// Whatever the server replies; that there is nothing is an error.
    Anything,
}

const fn method(name: &'static str, command: &'static str, takes: Takes, gives: Gives) -> Method {
    Method { name, command, takes, gives }
}

use Gives::{Boolean, List, Map, Number, Text};
use Takes::{Exactly, Names, Values};

/// All methods but `sendCommand`, `isConnected` and `close`.
pub(super) const METHODS: [Method; 39] = [
    method("set", "SET", Takes::KeyValueSeconds, Text),
    method("get", "GET", Exactly(1), Text),
    method("getSet", "GETSET", Exactly(2), Text),
    method("del", "DEL", Names(1), Number),
    method("getDel", "GETDEL", Exactly(1), Text),
    method("exists", "EXISTS", Names(1), Number),
    method("incr", "INCR", Exactly(1), Number),
    method("incrBy", "INCRBY", Exactly(2), Number),
    method("decr", "DECR", Exactly(1), Number),
    method("decrBy", "DECRBY", Exactly(2), Number),
    method("randomKey", "RANDOMKEY", Exactly(0), Text),
    method("mget", "MGET", Names(1), List),
    method("expire", "EXPIRE", Exactly(2), Boolean),
    method("ttl", "TTL", Exactly(1), Number),
    method("persist", "PERSIST", Exactly(1), Boolean),
    method("lpush", "LPUSH", Values(2), Number),
    method("rpush", "RPUSH", Values(2), Number),
    method("lpop", "LPOP", Exactly(1), Text),
    method("rpop", "RPOP", Exactly(1), Text),
    method("lrange", "LRANGE", Exactly(3), List),
    method("lindex", "LINDEX", Exactly(2), Text),
    method("lset", "LSET", Exactly(3), Text),
    method("lrem", "LREM", Exactly(3), Number),
    method("llen", "LLEN", Exactly(1), Number),
    method("hset", "HSET", Exactly(3), Number),
    method("hsetnx", "HSETNX", Exactly(3), Boolean),
    method("hget", "HGET", Exactly(2), Text),
    method("hdel", "HDEL", Names(2), Number),
    method("hgetall", "HGETALL", Exactly(1), Map),
    method("hkeys", "HKEYS", Exactly(1), List),
    method("hvals", "HVALS", Exactly(1), List),
    method("hlen", "HLEN", Exactly(1), Number),
    method("hincrby", "HINCRBY", Exactly(3), Number),
    method("sadd", "SADD", Values(2), Number),
    method("srem", "SREM", Values(2), Number),
    method("sismember", "SISMEMBER", Exactly(2), Boolean),
    method("smembers", "SMEMBERS", Exactly(1), List),
    method("srandmember", "SRANDMEMBER", Exactly(1), Text),
    method("spop", "SPOP", Exactly(1), Text),
];
