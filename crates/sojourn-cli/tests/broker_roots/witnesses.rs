//! Others who were told the same, without Sojourn: subscribers of a broker in a line or two of its
//! own protocol, and what the broker itself says that it keeps.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Duration,
};

use serde_json::Value;
use sojourn_testkit::services::find_program;

use crate::common::answer;

/// Who does not answer for so long has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection on which lines are written and read. What comes meanwhile waits in its socket.
pub(super) struct Lines {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
}

impl Lines {
    pub(super) fn to(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let reader = BufReader::new(stream.try_clone().unwrap());
        Self { stream, reader }
    }

    /// Writes lines and reads until one begins with `end`; all that were read.
    #[track_caller]
    pub(super) fn until(&mut self, written: &str, end: &str) -> Vec<String> {
        self.stream.write_all(written.as_bytes()).unwrap();
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.reader.read_line(&mut line).unwrap(), 0, "the end after {lines:?}");
            let line = line.trim_end().to_owned();
            lines.push(line);
            if lines.last().is_some_and(|line| line.starts_with(end)) {
                return lines;
            }
        }
    }
}

/// A subscriber of core NATS. It takes no headers, so it gets messages without.
pub(super) struct NatsSubscriber(Lines);

impl NatsSubscriber {
    pub(super) fn new(port: u16, subject: &str) -> Self {
        let mut lines = Lines::to(port);
        lines.until(
            &format!("CONNECT {{\"verbose\":false}}\r\nSUB {subject} 1\r\nPING\r\n"),
            "PONG",
        );
        Self(lines)
    }

    /// What has come: the answer to a ping comes behind it.
    pub(super) fn count(mut self) -> u64 {
        let came = self.0.until("PING\r\n", "PONG");
        came.iter().filter(|line| line.starts_with("MSG ")).count() as u64
    }
}

/// How many messages a stream of JetStream has, by the server's own word.
pub(super) fn nats_stream_length(port: u16, stream: &str) -> u64 {
    let mut lines = Lines::to(port);
    let ask = format!(
        "CONNECT {{\"verbose\":false}}\r\nSUB told 1\r\nPUB $JS.API.STREAM.INFO.{stream} told 0\r\n\r\n"
    );
    lines.until(&ask, "MSG told");
    let info = lines.until("", "{").pop().unwrap();
    let info: Value = serde_json::from_str(&info).unwrap();
    info["state"]["messages"].as_u64().unwrap_or_else(|| panic!("{info}"))
}

/// A subscriber of a channel of Redis.
pub(super) struct RedisSubscriber(Lines);

impl RedisSubscriber {
    pub(super) fn new(port: u16, channel: &str) -> Self {
        let mut lines = Lines::to(port);
        // The last line is the number of its subscriptions.
        lines.until(&format!("SUBSCRIBE {channel}\r\n"), ":1");
        Self(lines)
    }

    /// What has come: the answer to a ping comes behind it.
    pub(super) fn count(mut self) -> u64 {
        let came = self.0.until("PING\r\n", "pong");
        came.iter().filter(|line| *line == "message").count() as u64
    }
}

/// How many entries a stream of Redis has.
pub(super) fn redis_stream_length(port: u16, stream: &str) -> u64 {
    let said = Lines::to(port).until(&format!("XLEN {stream}\r\n"), ":").pop().unwrap();
    said.trim_start_matches(':').parse().unwrap()
}

/// A session of `psql`, told what to run.
pub(super) struct Psql {
    program: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Psql {
    pub(super) fn new(url: &str) -> Self {
        let words = [url, "--quiet", "--tuples-only", "--no-align", "--no-psqlrc"];
        let mut command = Command::new(find_program("psql").unwrap());
        let command = command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut program = command.spawn().unwrap();
        let (input, output) = (program.stdin.take().unwrap(), program.stdout.take().unwrap());
        Self { program, input, output: BufReader::new(output) }
    }

    /// What is printed of statements: rows, and what the session was notified of.
    #[track_caller]
    pub(super) fn run(&mut self, statements: &str) -> Vec<String> {
        writeln!(self.input, "{statements};\n\\echo -- end").unwrap();
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "ended: {statements}");
            match line.trim_end() {
                "-- end" => return lines,
                line => lines.push(line.to_owned()),
            }
        }
    }
}

impl Drop for Psql {
    fn drop(&mut self) {
        // Nothing can be done about one that has ended by itself.
        let _killed = self.program.kill();
        let _ended = self.program.wait();
    }
}

/// How many messages a queue of SQS has, by the protocol of JSON. The server looks at no keys.
#[track_caller]
pub(super) fn sqs_queue_length(port: u16, queue: &str) -> u64 {
    let ask = |what: &str, body: &str| -> Value {
        let head = format!(
            "POST / HTTP/1.1\r\nX-Amz-Target: AmazonSQS.{what}\r\n\
             Content-Type: application/x-amz-json-1.0"
        );
        let said = answer(("127.0.0.1", port), &head, body);
        json_of(&said)
    };
    let found = ask("GetQueueUrl", &format!("{{\"QueueName\": \"{queue}\"}}"));
    let url = &found["QueueUrl"];
    let name = "ApproximateNumberOfMessages";
    let body = format!("{{\"QueueUrl\": {url}, \"AttributeNames\": [\"{name}\"]}}");
    let said = ask("GetQueueAttributes", &body);
    let count = said["Attributes"][name].as_str().and_then(|count| count.parse().ok());
    count.unwrap_or_else(|| panic!("{found}: {said}"))
}

/// The messages that wait in a queue of RabbitMQ, all taken and given back by its management.
pub(super) fn rabbit_messages(port: u16, queue: &str) -> Vec<Value> {
    let head = format!(
        "POST /api/queues/%2F/{queue}/get HTTP/1.1\r\n\
         Authorization: Basic Z3Vlc3Q6Z3Vlc3Q=\r\nContent-Type: application/json"
    );
    let body = "{\"count\": 10000, \"ackmode\": \"ack_requeue_true\", \"encoding\": \"auto\"}";
    let said = answer(("127.0.0.1", port), &head, body);
    let Value::Array(messages) = json_of(&said) else { panic!("{said}") };
    messages
}

/// The document in an answer that is not chunked.
#[track_caller]
fn json_of(answer: &str) -> Value {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer}"));
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
}
