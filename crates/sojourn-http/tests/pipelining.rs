//! Several requests in one message.

use std::io::Write;
use std::net::TcpStream;

use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_http::{BodyPolicy, Client, ClientConfig, Completion, Exchange, FailureKind};

use crate::peers::{KEEP, Load, Server, read_request, reset, wait_for_close};

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: test\r\n\r\n";

/// Sends `requests` GETs as one message under token 7 and runs until all have ended.
fn pipelined(load: &mut Load, requests: u32, timeout_ns: u64, body: BodyPolicy) -> Vec<Completion> {
    let bytes = GET.repeat(requests as usize);
    let exchange = Exchange {
        token: 7,
        origin: load.origin,
        bytes: &bytes,
        head_only: false,
        timeout_ns,
        body,
    };
    load.client.send_pipelined(now_ns(), exchange, requests);
    let completions = load.take(requests as usize);
    assert_eq!(load.client.in_flight(), 0);
    assert!(completions.iter().all(|completion| completion.token == 7));
    let ends: Vec<u64> = completions.iter().map(|completion| completion.ended_ns).collect();
    assert!(ends.is_sorted(), "{ends:?}");
    completions
}

/// What was answered, and how the rest failed.
fn outcomes(completions: Vec<Completion>) -> (Vec<(u16, Vec<u8>)>, Vec<FailureKind>) {
    let mut answers = Vec::new();
    let mut failures = Vec::new();
    for completion in completions {
        match completion.outcome {
            Ok(response) => {
                assert!(failures.is_empty(), "an answer after a failure");
                answers.push((response.status, response.body));
            }
            Err(failure) => failures.push(failure.kind),
        }
    }
    (answers, failures)
}

/// Reads so many requests, then does as told.
fn after(requests: usize, then: impl Fn(TcpStream) + Send + Sync + 'static) -> Server {
    Server::start(move |_, mut stream| {
        for _ in 0..requests {
            read_request(&mut stream);
        }
        then(stream);
    })
}

#[test]
fn every_answer_is_a_completion_however_the_bytes_are_split() {
    const ANSWERS: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none\
        HTTP/1.1 204 No Content\r\n\r\n\
        HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n\
        HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nthree";
    const LENGTH: usize = ANSWERS.len();
    let server = Server::start(move |number, mut stream| {
        // Split at every byte, one connection after the other.
        let (head, tail) = ANSWERS.split_at(number % LENGTH);
        for _ in 0..4 {
            read_request(&mut stream);
        }
        stream.write_all(head).expect("open");
        // Long enough for the client to see the first part alone, mostly.
        sojourn_clock::sleep_until(now_ns() + MILLISECOND_NS / 5);
        stream.write_all(tail).expect("open");
        wait_for_close(&mut stream);
    });
    for _ in 0..LENGTH {
        let mut load = Load::new(&server);
        let completions = pipelined(&mut load, 4, 10 * SECOND_NS, KEEP);
        let bytes_in: u64 = completions.iter().map(|completion| completion.bytes_in).sum();
        assert_eq!(bytes_in, LENGTH as u64);
        assert!(completions.iter().all(|completion| completion.bytes_in > 20));
        let (answers, failures) = outcomes(completions);
        assert!(failures.is_empty());
        let text = |body: &[u8]| String::from_utf8(body.to_vec()).expect("text");
        let answers: Vec<(u16, String)> =
            answers.iter().map(|(status, body)| (*status, text(body))).collect();
        let expected = [(200, "one"), (204, ""), (404, "two"), (200, "three")];
        assert_eq!(answers, expected.map(|(status, body)| (status, body.to_owned())));
    }
}

#[test]
fn the_connection_is_used_again_and_the_first_answers_come_first() {
    const PAUSE_NS: u64 = 5 * MILLISECOND_NS;
    let server = Server::start(|_, mut stream| {
        while read_request(&mut stream).is_some() {
            sojourn_clock::sleep_until(now_ns() + PAUSE_NS);
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").expect("open");
        }
    });
    let mut load = Load::new(&server);
    for _ in 0..2 {
        let completions = pipelined(&mut load, 3, 10 * SECOND_NS, BodyPolicy::Discard);
        for (place, completion) in completions.iter().enumerate() {
            let latency_ns = completion.ended_ns - completion.began_ns;
            assert!(latency_ns >= (place as u64 + 1) * PAUSE_NS, "{completion:?}");
            assert!(completion.outcome.is_ok());
        }
        // The first did not wait for the last.
        assert!(completions[0].ended_ns + PAUSE_NS <= completions[2].ended_ns);
    }
    assert_eq!(server.accepted(), 1);
    // And for single requests after them.
    assert!(load.get().outcome.is_ok());
    assert_eq!(server.accepted(), 1);
}

#[test]
fn what_is_not_answered_fails_request_by_request() {
    const TWO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n\
        HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n";
    let check = |server: &Server, answered: &[u16], kind: FailureKind| {
        let mut load = Load::new(server);
        let completions = pipelined(&mut load, 5, SECOND_NS / 2, KEEP);
        let (answers, failures) = outcomes(completions);
        let statuses: Vec<u16> = answers.iter().map(|(status, _)| *status).collect();
        assert_eq!(statuses, answered);
        assert_eq!(failures, vec![kind; 5 - answered.len()]);
        assert_eq!(load.client.connections(), 0);
    };
    let send = |mut stream: TcpStream, bytes: &[u8]| {
        stream.write_all(bytes).expect("open");
        stream
    };
    check(&after(5, move |stream| drop(send(stream, TWO))), &[200, 201], FailureKind::Closed);
    let silent = after(5, move |stream| wait_for_close(&mut send(stream, TWO)));
    check(&silent, &[200, 201], FailureKind::Timeout);
    let broken = after(5, move |stream| {
        wait_for_close(&mut send(
            stream,
            b"HTTP/1.1 200 OK\r\n\
        Content-Length: 0\r\n\r\nSMTP",
        ))
    });
    check(&broken, &[200], FailureKind::Protocol);
    check(&after(5, reset), &[], FailureKind::Reset);
    // This one takes all that follows for its body.
    let endless = after(5, move |stream| drop(send(stream, b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1")));
    check(&endless, &[200], FailureKind::Closed);
    // One answer too many: the connection is not trusted any more, the answers count.
    let generous = after(1, move |stream| {
        wait_for_close(&mut send(stream, &TWO.repeat(2)));
    });
    let mut load = Load::new(&generous);
    let (answers, failures) = outcomes(pipelined(&mut load, 3, SECOND_NS, KEEP));
    assert_eq!((answers.len(), failures.len()), (3, 0));
    assert_eq!(load.client.connections(), 0);
}

#[test]
fn a_stale_connection_is_tried_again_only_while_nothing_is_answered() {
    const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    // The first connection answers once and closes in the next message, after `answered` of it.
    let server = |answered: usize| {
        Server::start(move |number, mut stream| {
            for _ in 0..if number == 0 { 1 + answered } else { usize::MAX } {
                if read_request(&mut stream).is_none() {
                    return;
                }
                stream.write_all(OK).expect("open");
            }
            stream.peek(&mut [0]).expect("open");
        })
    };
    let message = |server: &Server| {
        let mut load = Load::new(server);
        assert!(load.get().outcome.is_ok());
        let completions = pipelined(&mut load, 3, 10 * SECOND_NS, KEEP);
        let (answers, failures) = outcomes(completions);
        (answers.len(), failures.len(), load.client.counters().stale_retries)
    };
    assert_eq!(message(&server(0)), (3, 0, 1));
    assert_eq!(message(&server(1)), (1, 2, 0));
}

#[test]
fn refused_ones_fail_all() {
    let address = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr();
    let mut load = Load::with(address.expect("bound"), ClientConfig::default());
    let (answers, failures) = outcomes(pipelined(&mut load, 3, SECOND_NS, KEEP));
    assert_eq!((answers.len(), failures), (0, vec![FailureKind::Connect; 3]));
    // An origin that was never registered.
    let mut client = Client::new(ClientConfig::default()).expect("a client");
    let exchange = Exchange {
        token: 1,
        origin: load.origin,
        bytes: GET,
        head_only: false,
        timeout_ns: SECOND_NS,
        body: KEEP,
    };
    client.send_pipelined(now_ns(), exchange, 2);
    let mut completions = Vec::new();
    client.wait_until(now_ns(), &mut completions).expect("the loop runs");
    assert_eq!(completions.len(), 2);
}
