//! Hands the latest figures to whoever asks: any path, one request a connection.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

/// How long a reader may take, each way.
const PATIENCE: Duration = Duration::from_secs(2);

/// Longest request head read, bytes.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// A server of one page, on a thread of its own until the process ends.
#[derive(Clone, Debug)]
pub struct MetricsServer {
    page: Arc<Mutex<String>>,
    address: SocketAddr,
}

impl MetricsServer {
    /// Listens at `address` (`127.0.0.1:8880`, `:8880` for every interface).
    pub fn start(address: &str) -> std::io::Result<Self> {
        let listener = match address.strip_prefix(':') {
            Some(port) => TcpListener::bind(format!("0.0.0.0:{port}")),
            None => TcpListener::bind(address),
        }?;
        let server = Self { address: listener.local_addr()?, page: Arc::default() };
        let page = Arc::clone(&server.page);
        thread::Builder::new().name("metrics".to_owned()).spawn(move || {
            for stream in listener.incoming().flatten() {
                // One reader after the other; one that goes away is no matter of ours.
                let _ignored = answer(stream, &page);
            }
        })?;
        Ok(server)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sets the page.
    pub fn show(&self, page: String) {
        *self.page.lock().unwrap_or_else(PoisonError::into_inner) = page;
    }
}

fn answer(mut stream: TcpStream, page: &Mutex<String>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut head = Vec::new();
    let mut buffer = [0; 1024];
    while !head.windows(4).any(|window| window == b"\r\n\r\n") && head.len() < HEAD_BYTES_MAX {
        match stream.read(&mut buffer)? {
            0 => return Ok(()),
            read => head.extend_from_slice(&buffer[..read]),
        }
    }
    let page = page.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let page = if page.is_empty() { "# EOF\n".to_owned() } else { page };
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text; version=1.0.0; \
         charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        page.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(page.as_bytes())
}
