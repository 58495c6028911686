//! A registry on a socket of its own, for tests.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sojourn_plan::{Secret, Server};

/// Answers by path: status and body.
pub(crate) type Answers = HashMap<String, (u16, String)>;

/// A path that was asked for, with its authorization.
type Asked = (String, Option<String>);

/// The registry.
pub(crate) struct FakeRegistry {
    address: SocketAddr,
    answers: Arc<Mutex<Answers>>,
    /// Paths asked for, with the authorization.
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl FakeRegistry {
    /// Serves until the test ends.
    pub(crate) fn start(answers: &[(&str, u16, serde_json::Value)]) -> Self {
        Self::slow(Duration::ZERO, answers)
    }

    /// One that takes so long for each answer, as one far away does.
    pub(crate) fn slow(delay: Duration, answers: &[(&str, u16, serde_json::Value)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let answers = answers
            .iter()
            .map(|(path, status, body)| ((*path).to_owned(), (*status, body.to_string())));
        let answers = Arc::new(Mutex::new(answers.collect::<Answers>()));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (served, noted) = (Arc::clone(&answers), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (served, noted) = (Arc::clone(&served), Arc::clone(&noted));
                std::thread::spawn(move || serve(stream.unwrap(), delay, &served, &noted));
            }
        });
        Self { address, answers, asked }
    }

    /// Has a further answer from now on.
    pub(crate) fn add(&self, path: &str, status: u16, body: &serde_json::Value) {
        self.answers.lock().unwrap().insert(path.to_owned(), (status, body.to_string()));
    }

    /// How often a path was asked for.
    pub(crate) fn asked(&self, path: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|(asked, _)| asked == path).count()
    }

    /// The authorization of the first request.
    pub(crate) fn authorization(&self) -> Option<String> {
        self.asked.lock().unwrap()[0].1.clone()
    }

    /// Where it is, with user and password.
    pub(crate) fn server(&self) -> Server {
        Server {
            host: self.address.ip().to_string(),
            port: self.address.port(),
            user: Some("load".to_owned()),
            password: Some(Secret::new("hunter2")),
            ..Server::default()
        }
    }
}

/// One request of a connection, which is then closed.
fn serve(
    mut stream: TcpStream,
    delay: Duration,
    answers: &Mutex<Answers>,
    asked: &Mutex<Vec<Asked>>,
) {
    let (mut path, mut authorization) = (String::new(), None);
    for line in BufReader::new(&stream).lines() {
        // Not what TLS begins with.
        let Ok(line) = line else { break };
        if let Some(target) = line.strip_prefix("GET ") {
            path = target.split(' ').next().unwrap().to_owned();
        }
        if let Some(value) = line.strip_prefix("authorization: ") {
            authorization = Some(value.to_owned());
        }
        if line.is_empty() {
            break;
        }
    }
    asked.lock().unwrap().push((path.clone(), authorization));
    std::thread::sleep(delay);
    let found = answers.lock().unwrap().get(&path).cloned();
    let (status, body) =
        found.unwrap_or_else(|| (404, r#"{"error_code":40403,"message":"none"}"#.to_owned()));
    let head = format!(
        "HTTP/1.1 {status} x\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    // Whoever asked may have gone.
    drop(stream.write_all(format!("{head}{body}").as_bytes()));
}
