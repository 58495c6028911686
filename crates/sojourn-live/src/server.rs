//! Hands the latest figures to whoever asks: any path, one request a connection.

use std::{
    io::{Read, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

/// How long a reader may take, each way.
const PATIENCE: Duration = Duration::from_secs(2);

/// Longest request head read, bytes.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// A server of one page, on a thread of its own until it is stopped or the process ends.
#[derive(Clone, Debug)]
pub struct MetricsServer {
    page: Arc<Mutex<Page>>,
    address: SocketAddr,
}

/// What is served.
#[derive(Debug, Default)]
struct Page {
    text: String,
    /// Whether anybody has had it, whole, since it was set.
    is_read: bool,
    /// Whether nobody is to be answered any more.
    is_over: bool,
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
            loop {
                let accepted = listener.accept();
                if page.lock().unwrap_or_else(PoisonError::into_inner).is_over {
                    // Whoever stops it sees its own connection end after that.
                    drop(listener);
                    return;
                }
                if let Ok((stream, _)) = accepted {
                    // One reader after the other; one that goes away is no matter of ours.
                    let _ignored = answer(stream, &page);
                }
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
        let mut own = self.page.lock().unwrap_or_else(PoisonError::into_inner);
        (own.text, own.is_read) = (page, false);
    }

    /// Stops listening; the address is free when this returns, unless a reader is so slow that its
    /// patience is not enough.
    pub fn stop(&self) {
        self.page.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
        let ip = match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        // One more connection wakes it up; it ends when the listener is gone.
        if let Ok(mut stream) =
            TcpStream::connect_timeout(&SocketAddr::new(ip, self.address.port()), PATIENCE)
        {
            let _ignored = stream.set_read_timeout(Some(2 * PATIENCE));
            let _ignored = stream.read(&mut [0]);
        }
    }

    /// Whether anybody has read the page as it is now.
    pub fn is_read(&self) -> bool {
        self.page.lock().unwrap_or_else(PoisonError::into_inner).is_read
    }
}

fn answer(mut stream: TcpStream, page: &Mutex<Page>) -> std::io::Result<()> {
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
    let text = page.lock().unwrap_or_else(PoisonError::into_inner).text.clone();
    let text = if text.is_empty() { "# EOF\n".to_owned() } else { text };
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text; version=1.0.0; \
         charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        text.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(text.as_bytes())?;
    let mut page = page.lock().unwrap_or_else(PoisonError::into_inner);
    page.is_read = page.text == text;
    Ok(())
}
