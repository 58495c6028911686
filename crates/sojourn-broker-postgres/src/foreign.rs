//! What the connector understands of foreign bytes, without a socket: for fuzzing and property
//! tests only, no part of the interface.

use bytes::{Buf as _, BytesMut};
use fallible_iterator::FallibleIterator as _;
use postgres_protocol::message::backend::Message;

use crate::connection::{Incoming, next, row};
use crate::failure::{Failure, Refusal};
use crate::pgoutput::{Decoder, Event, Malformed};

/// Of what replication sends: kind, two places in the log and an instant.
const WAL_HEAD: usize = 25;

/// All that came of some bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Every message, in words.
    pub messages: Vec<String>,
    /// Changes of rows as JSON.
    pub changes: Vec<String>,
    /// Bytes of whole messages.
    pub message_bytes: usize,
    /// Bytes of the columns of rows.
    pub column_bytes: usize,
    /// Why reading ended, if it did.
    pub error: Option<String>,
}

/// Reads what a server sends, in portions of this length.
pub fn read_messages(bytes: &[u8], portion: usize) -> Reading {
    let mut reading = Reading::default();
    let (mut input, mut decoder) = (BytesMut::new(), Decoder::default());
    for portion in bytes.chunks(portion.max(1)) {
        input.extend_from_slice(portion);
        loop {
            let before = input.remaining();
            match next(&mut input) {
                Ok(None) => break,
                Ok(Some(incoming)) => {
                    reading.message_bytes += before - input.remaining();
                    if let Err(failure) = take(incoming, &mut decoder, &mut reading) {
                        reading.error = Some(format!("{failure:?}"));
                        return reading;
                    }
                }
                Err(failure) => {
                    reading.error = Some(format!("{failure:?}"));
                    return reading;
                }
            }
        }
    }
    reading
}

fn take(incoming: Incoming, decoder: &mut Decoder, reading: &mut Reading) -> Result<(), Failure> {
    let message = match incoming {
        Incoming::CopyBoth => {
            reading.messages.push("copy both".to_owned());
            return Ok(());
        }
        Incoming::Message(message) => message,
    };
    let words = match message {
        Message::DataRow(body) => {
            let row = row(&body)?;
            reading.column_bytes += row.iter().flatten().map(|column| column.len()).sum::<usize>();
            format!("row {row:?}")
        }
        Message::ErrorResponse(body) => format!("error {:?}", Refusal::new(&body)),
        Message::NotificationResponse(body) => {
            format!("notification {:?} {:?}", body.channel()?, body.message()?)
        }
        Message::AuthenticationSasl(body) => {
            let names: Vec<_> = body.mechanisms().map(|name| Ok(name.to_owned())).collect()?;
            format!("sasl {names:?}")
        }
        Message::CopyData(body) => {
            let data = body.data();
            if data.first() == Some(&b'w') {
                change(data.get(WAL_HEAD..).unwrap_or_default(), decoder, reading)
                    .map_err(|Malformed(what)| Failure::protocol(what))?;
            }
            format!("copy {}", data.len())
        }
        _ => "another".to_owned(),
    };
    reading.messages.push(words);
    Ok(())
}

fn change(message: &[u8], decoder: &mut Decoder, reading: &mut Reading) -> Result<(), Malformed> {
    match decoder.read(message)? {
        Event::Change { json, .. } => reading.changes.push(json.to_owned()),
        Event::Other => {
            let tables = decoder.truncated(message)?;
            reading.messages.extend(tables.iter().map(|table| format!("emptied {table}")));
        }
        event => reading.messages.push(format!("{event:?}")),
    }
    Ok(())
}
