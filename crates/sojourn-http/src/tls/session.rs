//! One TLS session over a driver's socket.

use std::io;
use std::sync::Arc;

use rustix::io::Errno;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};

use super::suites;
use super::validity::not_after;
use crate::TlsAgreed;
use crate::driver::{Driver, Socket};

/// A session. It never touches the socket by itself: ciphertext is handed to it, and sent by
/// [`Self::flush`].
pub(crate) struct TlsSession {
    connection: ClientConnection,
    /// What came with the end of the handshake.
    early: Vec<u8>,
}

/// Decrypted bytes that wait in a session.
#[derive(Debug)]
pub(crate) enum Plaintext<'a> {
    /// Bytes, until [`TlsSession::consume`].
    Bytes(&'a [u8]),
    /// The other end has said that it sends no more.
    End,
    /// Nothing now.
    Nothing,
}

impl TlsSession {
    pub(crate) fn new(
        config: Arc<ClientConfig>,
        name: ServerName<'static>,
    ) -> Result<Self, rustls::Error> {
        let connection = ClientConnection::new(config, name)?;
        Ok(Self { connection, early: Vec::new() })
    }

    pub(crate) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// The handshake is done, and HTTP/2 was agreed upon in it.
    pub(crate) fn speaks_http2(&self) -> bool {
        !self.connection.is_handshaking() && self.connection.alpn_protocol() == Some(b"h2")
    }

    /// Version and cipher suite, once the handshake is done.
    pub(crate) fn agreed(&self) -> Option<TlsAgreed> {
        suites::agreed(&self.connection)
    }

    /// Until when the other end's certificate is valid, once it has shown one that says so.
    pub(crate) fn certificate_ends(&self) -> Option<String> {
        not_after(self.connection.peer_certificates()?.first()?)
    }

    /// Keeps the plaintext that is there for [`Self::take_early`].
    pub(crate) fn keep_early(&mut self) {
        while let Plaintext::Bytes(bytes) = Self::plaintext_of(&mut self.connection) {
            self.early.extend_from_slice(bytes);
            let length = bytes.len();
            self.consume(length);
        }
    }

    /// What came with the end of the handshake.
    pub(crate) fn take_early(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.early)
    }

    /// Takes ciphertext off the slice; [`Self::plaintext`] must be used up before the next call.
    pub(crate) fn feed(&mut self, ciphertext: &mut &[u8]) -> Result<(), rustls::Error> {
        let taken = self
            .connection
            .read_tls(ciphertext)
            .map_err(|error| rustls::Error::General(error.to_string()))?;
        if taken == 0 {
            // Nothing counts after the other end's close_notify.
            *ciphertext = &[];
        }
        self.connection.process_new_packets()?;
        Ok(())
    }

    pub(crate) fn plaintext(&mut self) -> Plaintext<'_> {
        Self::plaintext_of(&mut self.connection)
    }

    fn plaintext_of(connection: &mut ClientConnection) -> Plaintext<'_> {
        match connection.reader().into_first_chunk() {
            Ok([]) => Plaintext::End,
            Ok(bytes) => Plaintext::Bytes(bytes),
            Err(_) => Plaintext::Nothing,
        }
    }

    pub(crate) fn consume(&mut self, length: usize) {
        io::BufRead::consume(&mut self.connection.reader(), length);
    }

    /// Takes request bytes to encrypt: as many as fit its buffer.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> usize {
        // Writing to the session's memory does not fail.
        io::Write::write(&mut self.connection.writer(), bytes).unwrap_or(0)
    }

    /// Sends ciphertext that waits; true when all of it is sent.
    pub(crate) fn flush(&mut self, driver: &mut Driver, socket: &Socket) -> Result<bool, Errno> {
        let mut writer = SocketWriter { driver, socket, errno: None };
        while self.connection.wants_write() {
            if self.connection.write_tls(&mut writer).is_err() {
                return match writer.errno {
                    None | Some(Errno::AGAIN) => Ok(false),
                    Some(errno) => Err(errno),
                };
            }
        }
        Ok(true)
    }
}

/// The socket as the writer that rustls asks for; remembers the error as the kernel gave it.
struct SocketWriter<'a> {
    driver: &'a mut Driver,
    socket: &'a Socket,
    errno: Option<Errno>,
}

impl io::Write for SocketWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.driver.send(self.socket, bytes).map_err(|errno| {
            self.errno = Some(errno);
            errno.into()
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
