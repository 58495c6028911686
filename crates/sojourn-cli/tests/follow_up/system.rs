//! A system that answers by a function of what it is asked, remembers it, and causes events.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

use crossbeam_channel::{Sender, bounded};
use sojourn_clock::{MILLISECOND_NS, now_ns, sleep_until};
use sojourn_testkit::free_port;

use crate::common::answer;

/// Posts every line it is given to a webhook, each so long after it was given.
pub(crate) struct Hooks {
    /// Where the webhook shall listen.
    pub address: String,
    sender: Sender<String>,
}

impl Hooks {
    pub(crate) fn after_ms(delay_ms: u64) -> Self {
        let address = format!("127.0.0.1:{}", free_port().unwrap());
        let (sender, receiver) = bounded::<String>(1_000);
        let (due_sender, due) = bounded::<(u64, String)>(1_000);
        std::thread::spawn(move || {
            for event in receiver {
                let due_ns = now_ns() + delay_ms * MILLISECOND_NS;
                if due_sender.send((due_ns, event)).is_err() {
                    return;
                }
            }
        });
        let to = address.clone();
        std::thread::spawn(move || {
            for (due_ns, event) in due {
                sleep_until(due_ns);
                post(&to, &event);
            }
        });
        Self { address, sender }
    }

    pub(crate) fn sender(&self) -> Sender<String> {
        self.sender.clone()
    }
}

/// One event, which the webhook must take.
fn post(to: &str, event: &str) {
    let answer = answer(to, "POST / HTTP/1.1", event);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

/// A request as the system saw it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Method and target.
    pub line: String,
    pub headers: HashMap<String, String>,
    /// When it had been read.
    pub at_ns: u64,
}

/// Status, header lines, body.
pub(crate) type Reply = (u16, String, Vec<u8>);

/// A system that answers by a function of the request and of its number.
pub(crate) struct System {
    pub address: SocketAddr,
    pub asked: Arc<Mutex<Vec<Asked>>>,
}

impl System {
    pub(crate) fn start(answer: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answer, seen) = (Arc::new(answer), Arc::clone(&asked));
        // Ends with the process: it holds nothing but a port.
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (answer, seen) = (Arc::clone(&answer), Arc::clone(&seen));
                std::thread::spawn(move || serve(stream, &*answer, &seen));
            }
        });
        Self { address, asked }
    }

    /// What was asked with a line that begins so.
    pub(crate) fn asked(&self, beginning: &str) -> Vec<Asked> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|asked| asked.line.starts_with(beginning)).cloned().collect()
    }

    pub(crate) fn count(&self, beginning: &str) -> u64 {
        self.asked(beginning).len() as u64
    }
}

fn serve(
    stream: TcpStream,
    answer: &dyn Fn(&Asked, usize) -> Reply,
    seen: &Mutex<Vec<Asked>>,
) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut writer = stream.try_clone().ok()?;
    let mut lines = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let mut headers = HashMap::new();
        loop {
            let mut header = String::new();
            lines.read_line(&mut header).ok()?;
            let Some((name, value)) = header.split_once(':') else {
                break;
            };
            headers.insert(name.to_lowercase(), value.trim().to_owned());
        }
        let length = headers.get("content-length").and_then(|length| length.parse().ok());
        lines.read_exact(&mut vec![0; length.unwrap_or(0)]).ok()?;
        let line = line.replace(" HTTP/1.1\r\n", "");
        let asked = Asked { line, headers, at_ns: now_ns() };
        let number = {
            let mut seen = seen.lock().unwrap();
            seen.push(asked.clone());
            seen.len()
        };
        let (status, headers, body) = answer(&asked, number);
        let length = body.len();
        let mut bytes = format!("HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\n\r\n")
            .into_bytes();
        bytes.extend(body);
        writer.write_all(&bytes).ok()?;
    }
}

pub(crate) fn ok(body: impl Into<String>) -> Reply {
    (200, "content-type: application/json\r\n".into(), body.into().into_bytes())
}
