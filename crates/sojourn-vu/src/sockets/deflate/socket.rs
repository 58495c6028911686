//! A WebSocket whose messages may be compressed on their way.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_util::{Sink, Stream as Messages};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::CapacityError;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::frame::{Frame, FrameHeader};
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};

use super::super::dial::Stream;
use super::marks::{Mark, Marks};
use super::message::{Malformed, deflate, inflate};

/// See the module's page.
pub(crate) struct Socket {
    inner: WebSocketStream<Connection>,
}

impl Socket {
    /// A client's end of a connection after its handshake. `come` is what came along with the
    /// server's answer, of the first frames.
    pub(crate) async fn new(stream: Box<dyn Stream>, mut come: Vec<u8>, is_deflated: bool) -> Self {
        let mut marks = is_deflated.then(Marks::default);
        if let Some(marks) = &mut marks {
            marks.take_off(&mut come);
        }
        let connection = Connection { stream, marks };
        let inner =
            WebSocketStream::from_partially_read(connection, come, Role::Client, None).await;
        Self { inner }
    }

    /// A message as its sender had it.
    fn unpacked(&mut self, message: Message) -> Result<Message, Error> {
        let bytes_max = self.inner.get_config().max_message_size.unwrap_or(usize::MAX);
        let Some(marks) = &mut self.inner.get_mut().marks else { return Ok(message) };
        if !matches!(message, Message::Text(_) | Message::Binary(_)) {
            return Ok(message);
        }
        match (marks.next(), message) {
            (Mark::DeflatedText, Message::Binary(payload)) => {
                let text = Bytes::from(inflated(&payload, bytes_max)?);
                Ok(Message::Text(Utf8Bytes::try_from(text)?))
            }
            (Mark::DeflatedBinary, Message::Binary(payload)) => {
                Ok(Message::binary(inflated(&payload, bytes_max)?))
            }
            (_, message) => Ok(message),
        }
    }

    /// A message as it goes out. Only what carries data is compressed.
    fn packed(&self, message: Message) -> Message {
        if self.inner.get_ref().marks.is_none() {
            return message;
        }
        match message {
            Message::Text(text) => deflated(text.as_bytes(), Data::Text),
            Message::Binary(bytes) => deflated(&bytes, Data::Binary),
            other => other,
        }
    }
}

fn inflated(payload: &[u8], max_size: usize) -> Result<Vec<u8>, Error> {
    inflate(payload, max_size).map_err(|why| match why {
        Malformed::TooLong(size) => CapacityError::MessageTooLong { size, max_size }.into(),
        why => io::Error::new(io::ErrorKind::InvalidData, why).into(),
    })
}

fn deflated(bytes: &[u8], kind: Data) -> Message {
    let header = FrameHeader { rsv1: true, opcode: OpCode::Data(kind), ..FrameHeader::default() };
    Message::Frame(Frame::from_payload(header, deflate(bytes).into()))
}

impl Messages for Socket {
    type Item = Result<Message, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let read = ready!(Pin::new(&mut self.inner).poll_next(context));
        Poll::Ready(read.map(|message| self.unpacked(message?)))
    }
}

impl Sink<Message> for Socket {
    type Error = Error;

    fn poll_ready(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Pin::new(&mut self.inner).poll_ready(context)
    }

    fn start_send(mut self: Pin<&mut Self>, message: Message) -> Result<(), Error> {
        let message = self.packed(message);
        Pin::new(&mut self.inner).start_send(message)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_close(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Pin::new(&mut self.inner).poll_close(context)
    }
}

/// Bytes both ways, of which marks are taken off where compression was agreed on.
struct Connection {
    stream: Box<dyn Stream>,
    marks: Option<Marks>,
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        if let Some(marks) = &mut self.marks {
            marks.take_off(&mut buffer.filled_mut()[before..]);
        }
        polled
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
