//! A server of the test's own before a real one: it sees each request, and passes it on or not.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A request as it came.
pub(crate) struct Request {
    head: String,
    pub(crate) body: String,
}

/// What of SQS was asked for, in the order in which it came.
#[derive(Clone, Default)]
pub(crate) struct Book(Arc<Mutex<Vec<(String, String)>>>);

impl Request {
    /// The action of SQS that is asked for; none of another service.
    pub(crate) fn action(&self) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut targets = lines.filter(|(name, _)| name.eq_ignore_ascii_case("x-amz-target"));
        targets.next().map(|(_, target)| target.rsplit('.').next().unwrap_or(target))
    }

    /// What a real server answers.
    pub(crate) fn passed_on(&self, to: SocketAddr) -> Option<Vec<u8>> {
        let mut server = TcpStream::connect(to).ok()?;
        let request = format!("{}\r\nConnection: close\r\n\r\n{}", self.head, self.body);
        server.write_all(request.as_bytes()).ok()?;
        let mut answer = Vec::new();
        server.read_to_end(&mut answer).ok()?;
        Some(answer)
    }
}

impl Book {
    /// The bodies of requests for this action so far.
    pub(crate) fn of(&self, action: &str) -> Vec<String> {
        let book = self.0.lock().unwrap();
        let bodies = book.iter().filter(|(asked, _)| asked == action);
        bodies.map(|(_, body)| body.clone()).collect()
    }

    /// Forgets what was asked until now.
    pub(crate) fn clear(&self) {
        self.0.lock().unwrap().clear();
    }
}

/// Passes everything on to a server of SQS, and writes it down.
pub(crate) fn counting(to: SocketAddr) -> (SocketAddr, Book) {
    let book = Book::default();
    let own = book.clone();
    let address = answering(move |request| {
        let action = request.action().unwrap_or_default().to_owned();
        own.0.lock().unwrap().push((action, request.body.clone()));
        request.passed_on(to)
    });
    (address, book)
}

/// A server that answers so, until the process ends: one request of a connection, which it closes.
pub(crate) fn answering(
    answer: impl Fn(&Request) -> Option<Vec<u8>> + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let answer = Arc::clone(&answer);
            std::thread::spawn(move || {
                let answer = read(&mut stream).and_then(|request| answer(&request));
                // A client that went away needs none.
                answer.and_then(|answer| stream.write_all(&answer).ok())
            });
        }
    });
    address
}

fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "))?;
            if body.len() >= length.parse().ok()? {
                return Some(Request { head: head.to_owned(), body: body.to_owned() });
            }
        }
        match stream.read(&mut buffer).ok()? {
            0 => return None,
            count => request.extend_from_slice(&buffer[..count]),
        }
    }
}
