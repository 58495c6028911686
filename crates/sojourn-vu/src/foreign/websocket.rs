//! Frames of a WebSocket's server.

use futures_util::StreamExt as _;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::portions::{Portions, now};
use crate::sockets::deflate::Socket;

/// What was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Messages {
    /// Of each message, whether it is text, and its bytes.
    pub messages: Vec<(bool, Vec<u8>)>,
    /// How many pings, pongs and closes came.
    pub controls: usize,
    /// Why the connection was given up, unless its bytes ended.
    pub error: Option<String>,
}

/// Reads to the end, or to what is wrong, after a handshake that did or did not agree on
/// `permessage-deflate`. The first `portion` bytes come along with the handshake, and then as many
/// at a time.
pub fn read_websocket(bytes: &[u8], portion: usize, is_deflated: bool) -> Messages {
    let (come, rest) = bytes.split_at(portion.min(bytes.len()));
    let stream = tokio::io::join(Portions::new(rest, portion), tokio::io::sink());
    let mut socket = now(Socket::new(Box::new(stream), come.to_vec(), is_deflated));
    let mut read = Messages::default();
    while let Some(message) = now(socket.next()) {
        match message {
            Ok(Message::Text(text)) => read.messages.push((true, text.as_bytes().to_vec())),
            Ok(Message::Binary(bytes)) => read.messages.push((false, bytes.to_vec())),
            Ok(_) => read.controls += 1,
            Err(Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)) => break,
            Err(error) => {
                read.error = Some(error.to_string());
                break;
            }
        }
    }
    read
}
