//! A blocking HTTP client of a few lines, so that the mock is judged by something simple.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sojourn_mock::{Book, Mock, MockOptions, RunFiles, read_mock};
use sojourn_plan::{Files, Overrides};

/// One connection.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    received: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// A header's value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (known, value) = line.split_once(':')?;
            known.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Intended and real hold and overshoot, milliseconds, as the answer tells them.
    pub(crate) fn timing(&self) -> [f64; 3] {
        let text = self.header("server-timing").unwrap();
        let mut parts = text.split(", ").map(|part| part.split_once(";dur=").unwrap());
        ["hold", "real", "over"].map(|name| {
            let (known, value) = parts.next().unwrap();
            assert_eq!(known, name);
            value.parse().unwrap()
        })
    }
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        // Far beyond anything these tests wait for: a hang becomes a failure.
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, received: Vec::new() }
    }

    pub(crate) fn get(&mut self, path: &str) -> Answer {
        self.send(&format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n"));
        self.answer().unwrap()
    }

    pub(crate) fn post(&mut self, path: &str, headers: &str, body: &str) -> Answer {
        let length = body.len();
        self.send(&format!(
            "POST {path} HTTP/1.1\r\nhost: test\r\n{headers}content-length: {length}\r\n\r\n{body}"
        ));
        self.answer().unwrap()
    }

    pub(crate) fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).unwrap();
    }

    /// Reads one answer with a content length, interim answers left out.
    pub(crate) fn answer(&mut self) -> io::Result<Answer> {
        loop {
            if let Some((status, head_length, body_length)) = parse(&self.received)? {
                let whole = head_length + body_length;
                if status == 100 {
                    self.received.drain(..head_length);
                    continue;
                }
                if self.received.len() >= whole {
                    let head = String::from_utf8(self.received[..head_length].to_vec()).unwrap();
                    let body = self.received[head_length..whole].to_vec();
                    self.received.drain(..whole);
                    return Ok(Answer { status, head, body });
                }
            }
            let mut chunk = [0; 64 * 1024];
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => self.received.extend_from_slice(&chunk[..length]),
                // A process that was stopped and goes on.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads until what was received ends so, and keeps it for [`Self::answer`].
    pub(crate) fn wait_for(&mut self, end: &str) {
        while !self.received.ends_with(end.as_bytes()) {
            let mut chunk = [0; 4096];
            let length = self.stream.read(&mut chunk).unwrap();
            assert!(length > 0, "ended before {end:?}");
            self.received.extend_from_slice(&chunk[..length]);
        }
    }

    /// Everything until the connection ends, and how it ended.
    pub(crate) fn rest(&mut self) -> (Vec<u8>, io::Result<()>) {
        let mut bytes = std::mem::take(&mut self.received);
        let end = self.stream.read_to_end(&mut bytes).map(drop);
        (bytes, end)
    }
}

fn parse(bytes: &[u8]) -> io::Result<Option<(u16, usize, usize)>> {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut response = httparse::Response::new(&mut headers);
    let status =
        response.parse(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    let httparse::Status::Complete(head_length) = status else {
        return Ok(None);
    };
    let length = response
        .headers
        .iter()
        .find(|header| header.name.eq_ignore_ascii_case("content-length"))
        .map_or(0, |header| std::str::from_utf8(header.value).unwrap().parse().unwrap());
    Ok(Some((response.code.unwrap(), head_length, length)))
}

/// Options for a mock on a free port, with one thread.
pub(crate) fn options() -> MockOptions {
    MockOptions {
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        threads: std::num::NonZeroUsize::MIN,
        connections_max: 100_000,
        truth: None,
        run_id: "test".to_owned(),
        connectors: Arc::default(),
        tls: None,
        spin: false,
    }
}

/// A book from a mock file's text, which names no files.
pub(crate) fn book(text: &str) -> Book {
    struct NoFiles;
    impl Files for NoFiles {
        fn read(&self, _path: &Path) -> io::Result<String> {
            Err(io::ErrorKind::NotFound.into())
        }
        fn variable(&self, _name: &str) -> Option<String> {
            None
        }
    }
    read_mock("mocks.yaml", text, &NoFiles, &RunFiles::default(), &Overrides::default())
        .unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// A mock from a mock file's text.
pub(crate) fn mock(text: &str) -> Mock {
    Mock::start(book(text), &options()).unwrap()
}

/// Waits until something holds, which it must within a minute.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end_ns = sojourn_clock::now_ns() + 60 * sojourn_clock::SECOND_NS;
    while !holds() {
        assert!(sojourn_clock::now_ns() < end_ns, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
