//! A server of HTTP/1.1 that keeps what it is sent, answers as it is told, or misbehaves.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

/// What it was sent, and what it answers.
#[derive(Clone)]
pub(crate) struct Receiver {
    pub(crate) port: u16,
    taken: Arc<Mutex<Vec<Asked>>>,
}

/// A request that was answered with success.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

/// What becomes of a request.
#[derive(Clone, Debug)]
pub(crate) enum Manner {
    /// 200 with this body.
    Take(Vec<u8>),
    /// This status.
    Refuse(u16),
    /// No answer: the connection is held.
    Stall,
    /// The connection is closed in the middle of the answer.
    Break,
}

impl Receiver {
    /// `manner` is asked for each request, by its number from 0.
    pub(crate) fn start(manner: impl Fn(usize) -> Manner + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let receiver = Self { port, taken: Arc::default() };
        let own = receiver.clone();
        let (manner, asked) = (Arc::new(manner), Arc::new(Mutex::new(0)));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (own, manner, asked) = (own.clone(), Arc::clone(&manner), Arc::clone(&asked));
                thread::spawn(move || own.serve(stream, &*manner, &asked));
            }
        });
        receiver
    }

    pub(crate) fn taken(&self) -> Vec<Asked> {
        self.taken.lock().unwrap().clone()
    }

    fn serve(&self, stream: TcpStream, manner: &dyn Fn(usize) -> Manner, asked: &Mutex<usize>) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut writer = stream;
        while let Some(request) = read(&mut reader) {
            let number = {
                let mut asked = asked.lock().unwrap();
                *asked += 1;
                *asked - 1
            };
            match manner(number) {
                Manner::Take(body) => {
                    self.taken.lock().unwrap().push(request);
                    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
                    writer.write_all(head.as_bytes()).unwrap();
                    writer.write_all(&body).unwrap();
                }
                Manner::Refuse(status) => {
                    let body = "not\nnow";
                    let head = format!("HTTP/1.1 {status} No\r\ncontent-length: 7\r\n\r\n{body}");
                    writer.write_all(head.as_bytes()).unwrap();
                }
                // Until the client goes away.
                Manner::Stall => while reader.read(&mut [0; 64]).is_ok_and(|read| read > 0) {},
                Manner::Break => {
                    writer.write_all(b"HTTP/1.1 200 OK\r\ncontent-le").unwrap();
                    return;
                }
            }
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Asked> {
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { path, headers, body })
}
