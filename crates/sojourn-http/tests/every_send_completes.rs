//! Whatever the server does, each request completes exactly once and nothing is left behind.

use std::io::{Read, Write};
use std::net::TcpStream;

use proptest::prelude::*;
use sojourn_clock::{MILLISECOND_NS, now_ns};
use sojourn_http::{BodyPolicy, ClientConfig};

use crate::peers::{KEEP, Load, Server, config, read_request, reset};

/// What a server does with one request.
#[derive(Clone, Copy, Debug)]
enum Act {
    Answer,
    AnswerChunked,
    AnswerAndClose,
    AnswerThenSpeak,
    AnswerUntilClose,
    Close,
    Cut,
    Early,
    Garbage,
    Interim,
    Reset,
    ResetInBody,
    Slowly,
    Stall,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => Just(Act::Answer),
        2 => Just(Act::AnswerChunked),
        1 => Just(Act::AnswerAndClose),
        1 => Just(Act::AnswerThenSpeak),
        1 => Just(Act::AnswerUntilClose),
        1 => Just(Act::Close),
        1 => Just(Act::Cut),
        1 => Just(Act::Early),
        1 => Just(Act::Garbage),
        1 => Just(Act::Interim),
        1 => Just(Act::Reset),
        1 => Just(Act::ResetInBody),
        1 => Just(Act::Slowly),
        1 => Just(Act::Stall),
    ]
}

/// Performs; false when the connection is over.
fn perform(act: Act, stream: &mut TcpStream) -> std::io::Result<bool> {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    if matches!(act, Act::Early) {
        let mut some = [0; 10];
        stream.read_exact(&mut some)?;
        stream.write_all(answer)?;
        return Ok(false);
    }
    if read_request(stream).is_none() {
        return Ok(false);
    }
    match act {
        Act::Answer => stream.write_all(answer)?,
        Act::AnswerChunked => stream.write_all(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        )?,
        Act::AnswerThenSpeak => {
            stream.write_all(answer)?;
            stream.write_all(b"HTTP/1.1 408 Late\r\n\r\n")?;
        }
        Act::Interim => {
            stream.write_all(b"HTTP/1.1 103 Early Hints\r\n\r\n")?;
            stream.write_all(answer)?;
        }
        Act::Slowly => {
            for byte in answer {
                stream.write_all(&[*byte])?;
            }
        }
        Act::AnswerAndClose => {
            stream.write_all(answer)?;
            return Ok(false);
        }
        Act::AnswerUntilClose => {
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nhello")?;
            return Ok(false);
        }
        Act::Cut => {
            stream.write_all(&answer[..answer.len() - 2])?;
            return Ok(false);
        }
        Act::Garbage => stream.write_all(b"\x15\x03\x01\x00\x02")?,
        Act::Stall => {
            while stream.read(&mut [0; 64])? > 0 {}
            return Ok(false);
        }
        Act::ResetInBody => {
            stream.write_all(&answer[..answer.len() - 2])?;
            reset(stream.try_clone()?);
            return Ok(false);
        }
        Act::Reset => {
            reset(stream.try_clone()?);
            return Ok(false);
        }
        Act::Close | Act::Early => return Ok(false),
    }
    Ok(true)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn each_request_completes_once(
        acts in proptest::collection::vec(act(), 1..12),
        connections_max in 1_usize..5,
        requests in proptest::collection::vec((any::<bool>(), 0_usize..200_000, 0_u64..60), 1..40),
    ) {
        let server = Server::start(move |number, mut stream| {
            // Each connection begins at another place of the list and goes round.
            for act in acts.iter().cycle().skip(number) {
                if !perform(*act, &mut stream).unwrap_or(false) {
                    return;
                }
            }
        });
        let config = ClientConfig { connections_max, ..config() };
        let mut load = Load::with(server.address, config);
        let mut tokens = Vec::new();
        let mut take = |load: &mut Load, deadline_ns| {
            let mut completions = Vec::new();
            load.client.wait_until(deadline_ns, &mut completions).expect("runs");
            for completion in completions {
                crate::peers::assert_phases_add_up(&completion);
                tokens.push(completion.token);
            }
        };
        for (token, (keep, body_bytes, timeout)) in requests.iter().enumerate() {
            let policy = if *keep { KEEP } else { BodyPolicy::Discard };
            let body = vec![b'x'; *body_bytes];
            let timeout_ns = timeout * MILLISECOND_NS;
            load.send_with(token as u64, "POST", &body, timeout_ns, policy);
            prop_assert!(load.client.connections() <= connections_max);
            take(&mut load, 0);
        }
        let limit_ns = now_ns() + 20_000 * MILLISECOND_NS;
        while load.client.in_flight() > 0 {
            prop_assert!(now_ns() < limit_ns, "left behind: {:?}", load.client);
            take(&mut load, limit_ns);
        }
        take(&mut load, 0);
        tokens.sort_unstable();
        prop_assert!(tokens.into_iter().eq(0..requests.len() as u64));
    }
}
