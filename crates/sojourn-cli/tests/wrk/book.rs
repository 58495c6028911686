//! A server that keeps every request.

use std::{
    io::Write,
    net::{SocketAddr, TcpStream},
    sync::{Arc, Mutex, PoisonError},
};

use crate::attack::echo::serve;

/// Everything that was asked, in the order in which it was read.
#[derive(Clone, Default)]
pub(crate) struct Book(Arc<Mutex<Vec<String>>>);

/// A server and its book.
pub(crate) struct Keeper {
    pub(crate) address: SocketAddr,
    pub(crate) book: Book,
}

impl Book {
    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn add(&self, request: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(request.to_owned());
    }
}

impl Keeper {
    /// `answer` makes the whole answer to a request.
    pub(crate) fn start(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        let book = Book::default();
        let kept = book.clone();
        let address = serve(move |request: &str, stream: &mut TcpStream| {
            kept.add(request);
            // Answers to a batch are many small ones in a row.
            stream.set_nodelay(true)?;
            stream.write_all(answer(request).as_bytes())
        });
        Self { address, book }
    }

    /// Answers everything with 200.
    pub(crate) fn pleased() -> Self {
        Self::start(|_| answer(200, &[], "ok"))
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

/// A whole answer.
pub(crate) fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> String {
    let mut text = format!("HTTP/1.1 {status} Told\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text + "\r\n" + body
}

/// Method and path of a request.
pub(crate) fn target(request: &str) -> (&str, &str) {
    let mut words = request.split(' ');
    (words.next().unwrap(), words.next().unwrap())
}

/// The value of a header, by its name as sent.
pub(crate) fn header<'r>(request: &'r str, name: &str) -> Option<&'r str> {
    request.split("\r\n").find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// What follows the head.
pub(crate) fn body(request: &str) -> &str {
    request.split_once("\r\n\r\n").unwrap().1
}
