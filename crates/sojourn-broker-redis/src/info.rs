//! What a server says of a stream.

use sojourn_broker::BrokerError;

use crate::config::Target;
use crate::connection::Connection;
use crate::failure::{Failure, refusal};
use crate::id::Id;
use crate::resp::{Cursor, Token};

/// Most streams of other names that are looked through for a similar one.
const NAMES_MAX: usize = 1_000;

/// A stream as `XINFO STREAM` describes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Info {
    /// The id given last.
    pub(crate) last: Id,
    /// Entries ever added; `None`: a server older than Redis 7 does not count them.
    pub(crate) added: Option<u64>,
    /// Entries it holds.
    pub(crate) length: u64,
    /// The oldest that it holds.
    pub(crate) first: Option<Id>,
    /// The newest that was deleted one by one.
    pub(crate) deleted: Option<Id>,
}

impl Info {
    /// Reads the answer to `XINFO STREAM`; `None`: there is no such stream.
    pub(crate) fn read(target: &Target, answer: &[u8]) -> Result<Option<Self>, Failure> {
        let mut cursor = Cursor::new(answer);
        let pairs = match cursor.token()? {
            Token::Array(values) => values / 2,
            Token::Error(said) if is_missing(said) => return Ok(None),
            Token::Error(said) => return Err(refusal(target, said)),
            _ => 0,
        };
        let mut info = Self::default();
        for _ in 0..pairs {
            match cursor.text()? {
                b"last-generated-id" => info.last = id(&mut cursor)?.unwrap_or_default(),
                b"entries-added" => info.added = cursor.number()?,
                b"length" => info.length = cursor.number()?.unwrap_or(0),
                // Nought: none.
                b"max-deleted-entry-id" => {
                    info.deleted = id(&mut cursor)?.filter(|deleted| *deleted > Id::default());
                }
                b"first-entry" => {
                    let mut entry = cursor;
                    if let Token::Array(_) = entry.token()? {
                        info.first = id(&mut entry)?;
                    }
                    cursor.skip()?;
                }
                _ => cursor.skip()?,
            }
        }
        Ok(Some(info))
    }

    /// Asks for a stream and waits. Errs when there is none, with similar names.
    pub(crate) fn ask(
        target: &Target,
        connection: &mut Connection,
        stream: &str,
        deadline_ns: u64,
    ) -> Result<Self, Failure> {
        connection.queue(&[b"XINFO", b"STREAM", stream.as_bytes()]);
        match Self::read(target, connection.answer(deadline_ns)?)? {
            Some(info) => Ok(info),
            None => Err(Failure::Fatal(missing(target, connection, stream, deadline_ns))),
        }
    }
}

fn id(cursor: &mut Cursor<'_>) -> Result<Option<Id>, Failure> {
    Ok(Id::parse(cursor.text()?))
}

/// Whether an error says that the key does not exist.
pub(crate) fn is_missing(said: &[u8]) -> bool {
    said.starts_with(b"ERR no such key")
}

fn missing(
    target: &Target,
    connection: &mut Connection,
    stream: &str,
    deadline_ns: u64,
) -> BrokerError {
    let create = format!(
        "create it first, as its consumers do: `XGROUP CREATE {stream} GROUP $ MKSTREAM`; a tap \
         never creates one"
    );
    let error = target.error(format!("there is no stream `{stream}`"));
    let mut names = stream_names(connection, deadline_ns).unwrap_or_default();
    if names.is_empty() {
        return error.with_hint(create);
    }
    names.sort_by(|left, right| {
        let score = |name: &String| strsim::jaro_winkler(stream, name);
        score(right).total_cmp(&score(left)).then_with(|| left.cmp(right))
    });
    let offered: Vec<_> = names.iter().take(5).map(|name| format!("`{name}`")).collect();
    error.with_hint(format!("it has {}; or {create}", offered.join(", ")))
}

/// Names of the database's streams, as far as a few requests show them.
fn stream_names(connection: &mut Connection, deadline_ns: u64) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    let mut place = b"0".to_vec();
    for _ in 0..10 {
        connection.queue(&[b"SCAN", &place, b"COUNT", b"1000", b"TYPE", b"stream"]);
        let mut cursor = Cursor::new(connection.answer(deadline_ns)?);
        cursor.array()?;
        place = cursor.text()?.to_vec();
        for _ in 0..cursor.array()? {
            names.push(String::from_utf8_lossy(cursor.text()?).into_owned());
        }
        if place == b"0" || names.len() >= NAMES_MAX {
            break;
        }
    }
    Ok(names)
}
