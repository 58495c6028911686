//! A plain client of a few lines, written for these tests only.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

pub(crate) struct System {
    reader: BufReader<TcpStream>,
    subscriptions: u64,
}

/// A message as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Got {
    pub(crate) subject: String,
    pub(crate) reply: Option<String>,
    pub(crate) headers: String,
    pub(crate) payload: Vec<u8>,
}

impl System {
    pub(crate) fn connect(port: u16) -> Self {
        Self::connect_as(port, json!({}))
    }

    /// `login`: `user` and `pass` and the like.
    pub(crate) fn connect_as(port: u16, login: Value) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut this = Self { reader: BufReader::new(stream), subscriptions: 0 };
        assert!(this.line().starts_with("INFO "));
        let mut words = json!({ "verbose": false, "headers": true, "no_responders": true });
        for (name, value) in login.as_object().unwrap() {
            words[name] = value.clone();
        }
        this.send(format!("CONNECT {words}\r\n").as_bytes());
        this.flush();
        this
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.reader.get_mut().write_all(bytes).unwrap();
    }

    /// How long the next message is waited for.
    pub(crate) fn wait_at_most(&mut self, seconds: u64) {
        let timeout = Some(Duration::from_secs(seconds));
        self.reader.get_mut().set_read_timeout(timeout).unwrap();
    }

    /// Whether something comes in that time.
    pub(crate) fn something_comes(&mut self) -> bool {
        self.reader.fill_buf().is_ok_and(|bytes| !bytes.is_empty())
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Waits until the server has taken all.
    pub(crate) fn flush(&mut self) {
        self.send(b"PING\r\n");
        loop {
            match self.line().as_str() {
                "PONG" => return,
                "PING" => self.send(b"PONG\r\n"),
                line => assert!(line.starts_with("INFO "), "{line}"),
            }
        }
    }

    pub(crate) fn publish(&mut self, subject: &str, payload: &[u8]) {
        self.send(format!("PUB {subject} {}\r\n", payload.len()).as_bytes());
        self.send(payload);
        self.send(b"\r\n");
    }

    pub(crate) fn publish_with(&mut self, subject: &str, headers: &[(&str, &str)], payload: &[u8]) {
        self.publish_to(subject, None, headers, payload);
    }

    /// With a subject for the answer.
    pub(crate) fn publish_to(
        &mut self,
        subject: &str,
        reply: Option<&str>,
        headers: &[(&str, &str)],
        payload: &[u8],
    ) {
        let mut block = "NATS/1.0\r\n".to_owned();
        for (name, value) in headers {
            block += &format!("{name}: {value}\r\n");
        }
        block += "\r\n";
        let (reply, total) = (reply.unwrap_or_default(), block.len() + payload.len());
        self.send(format!("HPUB {subject} {reply} {} {total}\r\n{block}", block.len()).as_bytes());
        self.send(payload);
        self.send(b"\r\n");
    }

    /// Ends the latest subscription.
    pub(crate) fn unsubscribe(&mut self) {
        self.send(format!("UNSUB {}\r\n", self.subscriptions).as_bytes());
        self.flush();
    }

    pub(crate) fn subscribe(&mut self, subject: &str, queue: &str) {
        self.subscriptions += 1;
        self.send(format!("SUB {subject} {queue} {}\r\n", self.subscriptions).as_bytes());
        self.flush();
    }

    /// The next message of any subscription.
    pub(crate) fn next(&mut self) -> Got {
        loop {
            let line = self.line();
            let words: Vec<&str> = line.split(' ').collect();
            let sizes = match words[0] {
                "MSG" => 1,
                "HMSG" => 2,
                "PING" => {
                    self.send(b"PONG\r\n");
                    continue;
                }
                _ => panic!("{line}"),
            };
            let number = |at: usize| words[at].parse::<usize>().unwrap();
            let total = number(words.len() - 1);
            let headers = if sizes == 2 { number(words.len() - 2) } else { 0 };
            let mut body = vec![0; total + 2];
            self.reader.read_exact(&mut body).unwrap();
            body.truncate(total);
            let payload = body.split_off(headers);
            return Got {
                subject: words[1].to_owned(),
                reply: (words.len() == 4 + sizes).then(|| words[3].to_owned()),
                headers: String::from_utf8(body).unwrap(),
                payload,
            };
        }
    }

    /// Asks JetStream; no other subscription may be open.
    pub(crate) fn ask(&mut self, what: &str, request: Value) -> Value {
        let answer = self.try_ask(what, request);
        assert!(answer.get("error").is_none(), "{what}: {answer}");
        answer
    }

    pub(crate) fn try_ask(&mut self, what: &str, request: Value) -> Value {
        self.subscriptions += 1;
        let sid = self.subscriptions;
        let text = request.to_string();
        self.send(
            format!(
                "SUB _INBOX.system.{sid} {sid}\r\nUNSUB {sid} 1\r\n\
                 PUB $JS.API.{what} _INBOX.system.{sid} {}\r\n{text}\r\n",
                text.len()
            )
            .as_bytes(),
        );
        serde_json::from_slice(&self.next().payload).unwrap()
    }

    /// Publishes to a stream and waits until it is kept.
    pub(crate) fn ask_publish(&mut self, subject: &str, payload: &str) {
        let answer: Value = serde_json::from_slice(&self.request(subject, payload)).unwrap();
        assert!(answer["seq"].is_u64(), "{answer}");
    }

    /// Gives a message back to its consumer; when this returns, the server has it there.
    pub(crate) fn give_back(&mut self, got: &Got) {
        let reply = got.reply.clone().unwrap();
        self.request(&reply, "-NAK");
    }

    fn request(&mut self, subject: &str, payload: &str) -> Vec<u8> {
        self.subscriptions += 1;
        let sid = self.subscriptions;
        self.send(
            format!(
                "SUB _INBOX.system.{sid} {sid}\r\nUNSUB {sid} 1\r\n\
                 PUB {subject} _INBOX.system.{sid} {}\r\n{payload}\r\n",
                payload.len()
            )
            .as_bytes(),
        );
        self.next().payload
    }

    /// A stream of these subjects, kept in files.
    pub(crate) fn stream(&mut self, name: &str, subjects: &[&str]) {
        self.stream_with(name, subjects, json!({}));
    }

    pub(crate) fn stream_with(&mut self, name: &str, subjects: &[&str], more: Value) {
        let mut config = json!({
            "name": name, "subjects": subjects, "retention": "limits", "storage": "file",
            "num_replicas": 1, "max_consumers": -1, "max_msgs": -1, "max_bytes": -1, "max_age": 0,
            "discard": "old",
        });
        for (field, value) in more.as_object().unwrap() {
            config[field] = value.clone();
        }
        self.ask(&format!("STREAM.CREATE.{name}"), config);
    }

    /// A durable pull consumer of the whole stream, from its beginning.
    pub(crate) fn durable(&mut self, stream: &str, name: &str) {
        self.durable_from(stream, name, "all");
    }

    /// The same, from where this says: `all`, `new`.
    pub(crate) fn durable_from(&mut self, stream: &str, name: &str, from: &str) {
        let config = json!({
            "durable_name": name, "ack_policy": "explicit", "deliver_policy": from,
            "ack_wait": 60_000_000_000_u64,
        });
        self.ask(
            &format!("CONSUMER.DURABLE.CREATE.{stream}.{name}"),
            json!({ "stream_name": stream, "config": config }),
        );
    }

    pub(crate) fn consumer(&mut self, stream: &str, name: &str) -> Value {
        self.ask(&format!("CONSUMER.INFO.{stream}.{name}"), json!({}))
    }

    pub(crate) fn consumers(&mut self, stream: &str) -> u64 {
        let info = self.ask(&format!("STREAM.INFO.{stream}"), json!({}));
        info["state"]["consumer_count"].as_u64().unwrap()
    }

    /// Takes messages of a durable consumer; the first `acknowledged` of them are acknowledged.
    pub(crate) fn take(
        &mut self,
        stream: &str,
        name: &str,
        count: usize,
        acknowledged: usize,
    ) -> Vec<Got> {
        self.subscriptions += 1;
        let sid = self.subscriptions;
        let text = format!("{{\"batch\":{count}}}");
        self.send(
            format!(
                "SUB _INBOX.take.{sid} {sid}\r\n\
                 PUB $JS.API.CONSUMER.MSG.NEXT.{stream}.{name} _INBOX.take.{sid} {}\r\n{text}\r\n",
                text.len()
            )
            .as_bytes(),
        );
        let taken: Vec<Got> = (0..count).map(|_| self.next()).collect();
        self.send(format!("UNSUB {sid}\r\n").as_bytes());
        for got in &taken[..acknowledged] {
            // Asked for an answer, it is known to have been counted.
            self.subscriptions += 1;
            let (sid, reply) = (self.subscriptions, got.reply.as_ref().unwrap());
            self.send(
                format!(
                    "SUB _INBOX.ack.{sid} {sid}\r\nUNSUB {sid} 1\r\n\
                     PUB {reply} _INBOX.ack.{sid} 4\r\n+ACK\r\n"
                )
                .as_bytes(),
            );
            self.next();
        }
        taken
    }
}
