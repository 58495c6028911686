//! One session with a server: logging in, messages in and out, statements with their rows.
//!
//! Nothing runs by itself: bytes move only inside these calls, on the caller's thread.

use bytes::{Bytes, BytesMut};
use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{AuthenticationSaslBody, DataRowBody, Header, Message};
use postgres_protocol::message::frontend;
use sojourn_clock::{SECOND_NS, now_ns};

use crate::config::Target;
use crate::failure::{Failure, Refusal};
use crate::socket::Socket;
use crate::tls;

/// Longest message taken from a server, bytes.
const MESSAGE_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Longest wait for a connection and for logging in.
pub(crate) const CONNECT_NS_MAX: u64 = 5 * SECOND_NS;
/// The answer to START_REPLICATION, which the protocol's library does not know.
const COPY_BOTH_TAG: u8 = b'W';

/// A row of texts; `None` is NULL.
pub(crate) type Row = Vec<Option<Bytes>>;

/// What comes from the server.
pub(crate) enum Incoming {
    Message(Message),
    /// From now on both sides send what replication consists of.
    CopyBoth,
}

/// What a session is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Statements.
    Statements,
    /// Logical replication.
    Replication,
}

/// See the module.
pub(crate) struct Connection {
    socket: Socket,
    input: BytesMut,
    /// Written to by [`frontend`]'s functions, sent by [`Self::flush`] and while waiting.
    pub(crate) output: BytesMut,
    stamp_ns: u64,
}

impl Connection {
    /// Connects and logs in, within [`CONNECT_NS_MAX`].
    pub(crate) fn open(target: &Target, purpose: Purpose) -> Result<Self, Failure> {
        let deadline_ns = now_ns() + CONNECT_NS_MAX;
        let server = &target.server;
        let socket = Socket::connect(&server.host, server.port, deadline_ns)?;
        let (input, output) = (BytesMut::new(), BytesMut::new());
        let mut connection = Self { socket, input, output, stamp_ns: 0 };
        if let Some(config) = &target.tls {
            connection.ask_for_tls(deadline_ns)?;
            let name = tls::server_name(&server.trust, &server.host)
                .map_err(|error| Failure::protocol(&error.message))?;
            connection.socket.secure(config.clone(), name, deadline_ns)?;
        }
        let mut parameters = vec![
            ("user", target.user.as_str()),
            ("database", target.database.as_str()),
            ("application_name", "sojourn"),
            ("client_encoding", "UTF8"),
        ];
        if purpose == Purpose::Replication {
            parameters.push(("replication", "database"));
        }
        frontend::startup_message(parameters, &mut connection.output)?;
        connection.log_in(target, deadline_ns)?;
        Ok(connection)
    }

    fn ask_for_tls(&mut self, deadline_ns: u64) -> Result<(), Failure> {
        frontend::ssl_request(&mut self.output);
        while self.input.is_empty() {
            self.exchange(deadline_ns)?;
            if now_ns() >= deadline_ns {
                return Err(Failure::timed_out("no answer in time"));
            }
        }
        // Whatever else came unencrypted is not to be trusted.
        match self.input.split().as_ref() {
            b"S" => Ok(()),
            _ => {
                Err(Failure::protocol("the server does not speak TLS (`postgres://` does without)"))
            }
        }
    }

    fn log_in(&mut self, target: &Target, deadline_ns: u64) -> Result<(), Failure> {
        let password = target.server.password.as_ref().map_or("", |secret| secret.reveal());
        let mut scram = None;
        loop {
            match self.message(deadline_ns)? {
                Message::AuthenticationCleartextPassword => {
                    frontend::password_message(password.as_bytes(), &mut self.output)?;
                }
                Message::AuthenticationMd5Password(body) => {
                    let user = target.user.as_bytes();
                    let hash = md5_hash(user, password.as_bytes(), body.salt());
                    frontend::password_message(hash.as_bytes(), &mut self.output)?;
                }
                Message::AuthenticationSasl(body) => {
                    scram = Some(self.begin_scram(&body, password)?);
                }
                Message::AuthenticationSaslContinue(body) => {
                    let scram = scram.as_mut().ok_or_else(out_of_turn)?;
                    scram.update(body.data())?;
                    frontend::sasl_response(scram.message(), &mut self.output)?;
                }
                Message::AuthenticationSaslFinal(body) => {
                    scram.as_mut().ok_or_else(out_of_turn)?.finish(body.data())?;
                }
                Message::ReadyForQuery(_) => return Ok(()),
                Message::ErrorResponse(body) => {
                    return Err(Failure::Refused(Refusal::new(&body)));
                }
                Message::AuthenticationOk
                | Message::BackendKeyData(_)
                | Message::NoticeResponse(_)
                | Message::ParameterStatus(_) => {}
                _ => {
                    return Err(Failure::protocol(
                        "the server asks for a way of logging in that is not spoken here",
                    ));
                }
            }
        }
    }

    fn begin_scram(
        &mut self,
        offered: &AuthenticationSaslBody,
        password: &str,
    ) -> Result<ScramSha256, Failure> {
        if !offered.mechanisms().any(|mechanism| Ok(mechanism == SCRAM_SHA_256))? {
            return Err(Failure::protocol("the server asks for a SASL mechanism but SCRAM"));
        }
        let scram = ScramSha256::new(password.as_bytes(), ChannelBinding::unsupported());
        frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), &mut self.output)?;
        Ok(scram)
    }

    /// When the bytes of the last message were read, CLOCK_MONOTONIC nanoseconds.
    pub(crate) fn stamp_ns(&self) -> u64 {
        self.stamp_ns
    }

    /// Sends what goes without waiting.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.socket.write(&mut self.output)?)
    }

    /// The next message that is there, without waiting.
    pub(crate) fn try_next(&mut self) -> Result<Option<Incoming>, Failure> {
        loop {
            if let Some(incoming) = next(&mut self.input)? {
                return Ok(Some(incoming));
            }
            if self.socket.read(&mut self.input)? == 0 {
                return Ok(None);
            }
            self.stamp_ns = now_ns();
        }
    }

    /// Sends, and waits until there may be something to read, `wake` can be read, or `deadline_ns`
    /// is over.
    pub(crate) fn wait(
        &mut self,
        deadline_ns: u64,
        wake: Option<std::os::fd::BorrowedFd<'_>>,
    ) -> Result<(), Failure> {
        self.flush()?;
        Ok(self.socket.wait(!self.output.is_empty(), deadline_ns, wake)?)
    }

    /// The next message of a statement's answer, waiting for it. Notices and parameters are left
    /// out.
    pub(crate) fn message(&mut self, deadline_ns: u64) -> Result<Message, Failure> {
        loop {
            self.flush()?;
            match self.try_next()? {
                Some(Incoming::Message(
                    Message::NoticeResponse(_) | Message::ParameterStatus(_),
                )) => {}
                Some(Incoming::Message(message)) => return Ok(message),
                Some(Incoming::CopyBoth) => return Err(out_of_turn()),
                None if now_ns() >= deadline_ns => {
                    return Err(Failure::timed_out("no answer in time"));
                }
                None => self.wait(deadline_ns, None)?,
            }
        }
    }

    /// Runs statements that need no parameters and returns the rows of them all, waiting for them.
    pub(crate) fn query(&mut self, sql: &str, deadline_ns: u64) -> Result<Vec<Row>, Failure> {
        frontend::query(sql, &mut self.output)?;
        self.rows(deadline_ns)
    }

    /// The rows up to the end of the answer.
    pub(crate) fn rows(&mut self, deadline_ns: u64) -> Result<Vec<Row>, Failure> {
        let mut rows = Vec::new();
        let mut refused = None;
        loop {
            match self.message(deadline_ns)? {
                Message::DataRow(body) => rows.push(row(&body)?),
                Message::ErrorResponse(body) => refused = Some(Refusal::new(&body)),
                Message::ReadyForQuery(_) => break,
                _ => {}
            }
        }
        refused.map_or(Ok(rows), |refusal| Err(Failure::Refused(refusal)))
    }

    fn exchange(&mut self, deadline_ns: u64) -> Result<(), Failure> {
        self.flush()?;
        if self.socket.read(&mut self.input)? == 0 {
            self.wait(deadline_ns, None)?;
        }
        Ok(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // A word of farewell, so that the server logs no broken connection. It may not go out.
        self.output.clear();
        frontend::terminate(&mut self.output);
        let _unsent = self.flush();
    }
}

/// The first message of what came, taken off; `None` while it is not all there.
pub(crate) fn next(input: &mut BytesMut) -> Result<Option<Incoming>, Failure> {
    let Some(header) = Header::parse(input)? else { return Ok(None) };
    // At least four, or it would have been an error.
    let length = usize::try_from(header.len()).unwrap_or(usize::MAX).saturating_add(1);
    if length > MESSAGE_BYTES_MAX {
        return Err(Failure::protocol("a message of more than 256 MiB"));
    }
    if header.tag() == COPY_BOTH_TAG {
        if input.len() < length {
            return Ok(None);
        }
        drop(input.split_to(length));
        return Ok(Some(Incoming::CopyBoth));
    }
    Ok(Message::parse(input)?.map(Incoming::Message))
}

/// A row's columns.
pub(crate) fn row(body: &DataRowBody) -> Result<Row, Failure> {
    let buffer = body.buffer_bytes();
    let columns = body.ranges().map(|range| Ok(range.map(|range| buffer.slice(range)))).collect();
    Ok(columns?)
}

/// A column as text; empty for NULL.
pub(crate) fn text(row: &Row, column: usize) -> String {
    let bytes = row.get(column).and_then(Option::as_ref);
    bytes.map_or_else(String::new, |bytes| String::from_utf8_lossy(bytes).into_owned())
}

/// A column as a number; `None` for NULL.
pub(crate) fn number<T: std::str::FromStr>(row: &Row, column: usize) -> Option<T> {
    let bytes = row.get(column)?.as_ref()?;
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

/// The first column of every row.
pub(crate) fn names(rows: &[Row]) -> Vec<String> {
    rows.iter().map(|row| text(row, 0)).collect()
}

fn out_of_turn() -> Failure {
    Failure::protocol("the server sent a message out of turn")
}
