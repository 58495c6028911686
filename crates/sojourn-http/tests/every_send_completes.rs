//! Whatever the server does, each request completes exactly once and nothing is left behind.

use std::io::{Read, Write};
use std::net::TcpStream;

use proptest::prelude::*;
use sojourn_clock::{MILLISECOND_NS, now_ns};
use sojourn_http::{BodyPolicy, ClientConfig};

use crate::frames::{self, DATA, END_HEADERS, END_STREAM, Frames, HEADERS, WINDOW_UPDATE, serving};
use crate::peers::{KEEP, Load, Server, read_request, reset};

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

/// What a server does with one request over HTTP/2. It never says anything else of its own.
#[derive(Clone, Copy, Debug)]
enum FrameAct {
    Answer,
    AnswerLater,
    Close,
    Cut,
    Garbage,
    GoAway,
    Interim,
    Malformed,
    Refuse,
    Reset,
    ResetConnection,
    ResetLater,
    Settings,
    Stall,
}

fn frame_act() -> impl Strategy<Value = FrameAct> {
    prop_oneof![
        8 => Just(FrameAct::Answer),
        4 => Just(FrameAct::AnswerLater),
        1 => Just(FrameAct::Close),
        1 => Just(FrameAct::Cut),
        1 => Just(FrameAct::Garbage),
        1 => Just(FrameAct::GoAway),
        1 => Just(FrameAct::Interim),
        1 => Just(FrameAct::Malformed),
        1 => Just(FrameAct::Refuse),
        1 => Just(FrameAct::Reset),
        1 => Just(FrameAct::ResetConnection),
        1 => Just(FrameAct::ResetLater),
        1 => Just(FrameAct::Settings),
        1 => Just(FrameAct::Stall),
    ]
}

/// Performs; `None` when the connection is over. `later` are streams that wait for their end.
fn perform_frames(
    act: FrameAct,
    frames: &mut Frames<TcpStream>,
    later: &mut Vec<u32>,
) -> Option<()> {
    let stream = loop {
        let frame = frames.read()?;
        match frame.kind {
            HEADERS => {}
            DATA => {
                // Windows are renewed for whatever comes.
                let more = (frame.payload.len().max(1) as u32).to_be_bytes();
                frames.write(WINDOW_UPDATE, 0, 0, &more)?;
                frames.write(WINDOW_UPDATE, 0, frame.stream, &more)?;
            }
            _ => continue,
        }
        if frame.flags & END_STREAM != 0 {
            break frame.stream;
        }
    };
    match act {
        FrameAct::Answer => frames.answer(stream, b"hello")?,
        FrameAct::AnswerLater => later.push(stream),
        FrameAct::Close => return None,
        FrameAct::Cut => {
            frames.bytes(b"\0\0\x09\x01\x04\0\0")?;
            return None;
        }
        FrameAct::Garbage => frames.bytes(&[0xa5; 40])?,
        FrameAct::GoAway => frames.goaway(stream.saturating_sub(2), 0)?,
        FrameAct::Interim => {
            frames.write(HEADERS, END_HEADERS, stream, b"\x08\x03103")?;
            frames.answer(stream, b"hello")?;
        }
        FrameAct::Malformed => frames.write(HEADERS, END_HEADERS, stream, b"\x00\x01A\x00")?,
        FrameAct::Refuse => frames.reset(stream, 7)?,
        FrameAct::Reset => frames.reset(stream, 2)?,
        FrameAct::ResetConnection => {
            reset(frames.stream.try_clone().ok()?);
            return None;
        }
        FrameAct::ResetLater => {
            for stream in later.drain(..) {
                frames.reset(stream, 8)?;
            }
        }
        FrameAct::Settings => frames.settings(&[(3, stream % 5 + 1), (4, 1_000), (1, 0)])?,
        FrameAct::Stall => return Some(()),
    }
    if !matches!(act, FrameAct::AnswerLater) {
        for stream in later.drain(..) {
            frames.answer(stream, b"later")?;
        }
    }
    Some(())
}

/// Sends everything, and expects each to come back once.
fn check_completes_once(
    load: &mut Load,
    connections_max: usize,
    requests: &[(bool, usize, u64)],
) -> Result<(), TestCaseError> {
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
        take(load, 0);
    }
    let limit_ns = now_ns() + 20_000 * MILLISECOND_NS;
    while load.client.in_flight() > 0 {
        prop_assert!(now_ns() < limit_ns, "left behind: {:?}", load.client);
        take(load, limit_ns);
    }
    take(load, 0);
    tokens.sort_unstable();
    prop_assert!(tokens.into_iter().eq(0..requests.len() as u64));
    Ok(())
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
        let config = ClientConfig { connections_max, ..ClientConfig::default() };
        let mut load = Load::with(server.address, config);
        check_completes_once(&mut load, connections_max, &requests)?;
    }

    #[test]
    fn each_request_over_http2_completes_once(
        acts in proptest::collection::vec(frame_act(), 1..12),
        connections_max in 1_usize..4,
        http2_streams_max in 1_u32..20,
        requests in proptest::collection::vec((any::<bool>(), 0_usize..200_000, 0_u64..60), 1..60),
    ) {
        let server = serving(&[], move |number, frames| {
            let mut later = Vec::new();
            for act in acts.iter().cycle().skip(number) {
                if perform_frames(*act, frames, &mut later).is_none() {
                    return;
                }
            }
        });
        let config = ClientConfig { connections_max, http2_streams_max, ..frames::config() };
        let mut load = Load::with(server.address, config);
        check_completes_once(&mut load, connections_max, &requests)?;
    }
}
