//! The ring where things are scarce: buffers, room for completions, room to send.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use proptest::prelude::*;
use sojourn_clock::{SECOND_NS, now_ns};

use super::*;

/// A driver with little of everything, or nothing and a loud word where there is no ring.
fn driver(count: u16, bytes: usize, completions: u32) -> Option<Driver> {
    match Driver::with(Shape { count, bytes }, completions) {
        Ok(driver) => Some(driver),
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            eprintln!("SKIPPED, NOTHING WAS TESTED: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// An open connection of the driver's in this slot, and its other end, which doesn't block.
fn connection(driver: &mut Driver, slot: u32, generation: u32) -> (Socket, UnixStream) {
    driver.begin().expect("the ring's thread");
    let (near, far) = UnixStream::pair().expect("descriptors");
    near.set_nonblocking(true).expect("a socket");
    far.set_nonblocking(true).expect("a socket");
    let id = ConnectionId { slot, generation };
    let socket = Socket::new(id, OwnedFd::from(near));
    driver.inbox.slots.occupy(id, socket.descriptor.as_raw_fd());
    driver.connected(&socket).expect("connected");
    (socket, far)
}

/// Waits for events, some seconds at most.
fn wait(driver: &mut Driver) -> Vec<Ready> {
    let mut ready = Vec::new();
    driver.wait_until(now_ns() + 10 * SECOND_NS, &mut ready).expect("the ring works");
    ready
}

/// Everything that has come on a connection; true: and the end.
fn receive_all(driver: &mut Driver, socket: &Socket, into: &mut Vec<u8>) -> bool {
    loop {
        match driver.receive(socket).expect("no error") {
            Received::Bytes { bytes, .. } => into.extend_from_slice(bytes),
            Received::End => return true,
            Received::Nothing => return false,
        }
    }
}

#[test]
fn two_small_buffers_serve_many_connections() {
    let Some(mut driver) = driver(2, 64, 4_096) else { return };
    let words: Vec<Vec<u8>> = (0..40_u8).map(|n| vec![n; 1_000 + usize::from(n)]).collect();
    let mut ends = Vec::new();
    for (slot, words) in (0..).zip(&words) {
        let (socket, mut far) = connection(&mut driver, slot, 7);
        far.write_all(words).expect("room");
        ends.push((socket, Vec::new(), false));
    }
    let mut starved = 0;
    while ends.iter().any(|(_, _, ended)| !ended) {
        for event in wait(&mut driver) {
            let (socket, received, ended) = &mut ends[event.id.slot as usize];
            assert!(event.readable && event.id.generation == 7);
            *ended = receive_all(&mut driver, socket, received);
        }
        starved = starved.max(driver.inbox.starved.len());
    }
    assert!(starved > 0, "there was no want of buffers");
    for ((_, received, _), words) in ends.iter().zip(&words) {
        assert!(received == words);
    }
}

#[test]
fn no_more_ask_for_buffers_than_there_are() {
    let Some(mut driver) = driver(4, 64, 4_096) else { return };
    let mut ends: Vec<_> = (0..1_000).map(|slot| connection(&mut driver, slot, 1)).collect();
    for (_, far) in &mut ends {
        far.write_all(b"x").expect("room");
    }
    let mut served = vec![false; ends.len()];
    while served.contains(&false) {
        let mut ready = Vec::new();
        driver.take_back_lent();
        let receives = driver.inbox.receives;
        driver.feed_starved().expect("the ring works");
        assert!(driver.inbox.receives - receives <= 4, "all at once, whatever there is for them");
        driver.wait_until(now_ns() + 10 * SECOND_NS, &mut ready).expect("the ring works");
        for event in ready {
            receive_all(&mut driver, &ends[event.id.slot as usize].0, &mut Vec::new());
            served[event.id.slot as usize] = true;
        }
    }
    driver.take_back_lent();
    assert_eq!(driver.inbox.buffers.left(), 4);
}

#[test]
fn completions_beyond_their_room_are_not_lost() {
    let Some(mut driver) = driver(256, 64, 8) else { return };
    let mut ends: Vec<_> = (0..100)
        .map(|slot| {
            let (socket, far) = connection(&mut driver, slot, slot);
            (socket, far, Vec::new())
        })
        .collect();
    for _ in 0..3 {
        for (_, far, _) in &mut ends {
            far.write_all(b"words").expect("room");
        }
        let mut told = 0;
        while told < ends.len() {
            for event in wait(&mut driver) {
                let (socket, _, received) = &mut ends[event.id.slot as usize];
                let before = received.len();
                receive_all(&mut driver, socket, received);
                told += (received.len() - before) / 5;
            }
        }
    }
    assert!(ends.iter().all(|(_, _, received)| received == b"wordswordswords"));
}

#[test]
fn a_completion_for_a_closed_connection_reaches_nobody() {
    let Some(mut driver) = driver(8, 64, 64) else { return };
    for generation in 0..200 {
        let (socket, mut far) = connection(&mut driver, 0, generation);
        // Handed over, so that the kernel receives; then closed with the words on their way.
        driver.flush().expect("the ring works");
        far.write_all(b"late").expect("room");
        driver.close(socket);
        let (socket, mut far) = connection(&mut driver, 0, generation + 1_000);
        far.write_all(b"right").expect("room");
        let mut received = Vec::new();
        while received.len() < 5 {
            for event in wait(&mut driver) {
                assert_eq!(event.id.generation, generation + 1_000);
                receive_all(&mut driver, &socket, &mut received);
            }
        }
        assert_eq!(received, b"right");
        driver.close(socket);
    }
    // Nothing is kept for connections that are gone.
    wait_for_quiet(&mut driver);
    assert_eq!(driver.inbox.receives, 0);
}

fn wait_for_quiet(driver: &mut Driver) {
    let give_up_ns = now_ns() + 10 * SECOND_NS;
    while driver.inbox.receives > 0 && now_ns() < give_up_ns {
        let mut ready = Vec::new();
        driver.wait_until(now_ns() + SECOND_NS / 1_000, &mut ready).expect("the ring works");
        assert!(ready.is_empty(), "{ready:?}");
    }
}

#[test]
fn each_wait_has_its_own_end_whatever_the_one_before_asked_for() {
    let Some(mut driver) = driver(2, 64, 16) else { return };
    let (socket, mut far) = connection(&mut driver, 0, 1);
    let mut ready = Vec::new();
    for round in 0..20 {
        // Ended by bytes, long before its time: the alarm for it stays behind.
        far.write_all(b"x").expect("room");
        while ready.is_empty() {
            driver.wait_until(now_ns() + 1_000 * SECOND_NS, &mut ready).expect("the ring works");
        }
        assert_eq!(ready.len(), 1, "round {round}");
        receive_all(&mut driver, &socket, &mut Vec::new());
        ready.clear();
        // Sooner than that alarm, and sooner still; the second must not wait for the first.
        for wait_ns in [4_000_000, 1_000_000] {
            let deadline_ns = now_ns() + wait_ns;
            loop {
                let waited = driver.wait_until(deadline_ns, &mut ready).expect("the ring works");
                assert!(waited.now_ns < deadline_ns + 100 * SECOND_NS, "woken by the old alarm");
                if waited.now_ns >= deadline_ns {
                    break;
                }
            }
        }
    }
    assert!(ready.is_empty());
}

#[test]
fn closing_says_goodbye_to_the_other_end_without_a_wait() {
    let Some(mut driver) = driver(8, 64, 64) else { return };
    let (socket, mut far) = connection(&mut driver, 3, 1);
    driver.flush().expect("the ring works");
    driver.send(&socket, b"last words").expect("room");
    driver.close(socket);
    far.set_nonblocking(false).expect("a socket");
    let mut heard = Vec::new();
    far.read_to_end(&mut heard).expect("the end");
    assert_eq!(heard, b"last words");
}

#[test]
fn dropping_the_driver_lets_go_of_everything() {
    let Some(mut driver) = driver(8, 64, 64) else { return };
    let (socket, mut far) = connection(&mut driver, 0, 1);
    driver.flush().expect("the ring works");
    drop(driver);
    drop(socket);
    far.set_nonblocking(false).expect("a socket");
    assert_eq!(far.read(&mut [0]).expect("the end"), 0);
}

#[test]
fn on_another_thread_it_fails_in_words() {
    let Some(mut driver) = driver(8, 64, 64) else { return };
    driver.begin().expect("the ring's thread");
    let error = std::thread::spawn(move || driver.wait_until(1, &mut Vec::new()))
        .join()
        .expect("no panic")
        .expect_err("another thread");
    assert!(error.to_string().contains("another"), "{error}");
}

#[test]
fn a_message_that_falls_short_holds_up_no_other_connection() {
    let Some(mut driver) = driver(4, 256, 64) else { return };
    let (slow, _unread) = connection(&mut driver, 0, 0);
    rustix::net::sockopt::set_socket_send_buffer_size(&slow.descriptor, 4_096).expect("a socket");
    let (quick, _far) = connection(&mut driver, 1, 1);
    assert_eq!(driver.send(&quick, b"one"), Ok(3));
    assert_eq!(driver.send(&slow, &[7; MESSAGE_BYTES]), Ok(MESSAGE_BYTES));
    // Hands the batch over: the slow one's message goes in part only.
    assert_eq!(driver.send(&quick, b"two"), Ok(3));
    assert_eq!(driver.send(&slow, b"x"), Err(Errno::AGAIN));
}

/// What one end does: how much it sends at once, or reads.
fn acts() -> impl Strategy<Value = Vec<(u8, usize)>> {
    prop_oneof![
        // Messages of a batch, among them ones too long for it.
        proptest::collection::vec((0..4_u8, 1..MESSAGE_BYTES * 2), 1..60),
        proptest::collection::vec((0..4_u8, 1..300_usize), 1..200),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Slow readers, little room: whatever is taken arrives, once and in order.
    #[test]
    fn what_is_sent_arrives_in_order(acts in acts()) {
        let Some(mut driver) = driver(4, 256, 16) else { return Ok(()) };
        let mut ends = Vec::new();
        for slot in 0..4 {
            let (socket, far) = connection(&mut driver, slot, slot);
            rustix::net::sockopt::set_socket_send_buffer_size(&socket.descriptor, 8_192)
                .expect("a socket");
            ends.push(End { socket, far, unsent: VecDeque::new(), sent: 0, heard: 0 });
        }
        for (slot, length) in acts {
            ends[usize::from(slot)].offer(&mut driver, length);
            if length % 3 == 0 {
                ends[usize::from(slot)].hear(length);
            }
            if length % 5 == 0 {
                let mut ready = Vec::new();
                driver.wait_until(0, &mut ready).expect("the ring works");
                for event in ready.iter().filter(|event| event.writable) {
                    ends[event.id.slot as usize].go_on(&mut driver);
                }
            }
        }
        let give_up_ns = now_ns() + 20 * SECOND_NS;
        while ends.iter().any(|end| !end.is_done()) {
            prop_assert!(now_ns() < give_up_ns);
            let mut ready = Vec::new();
            driver.wait_until(now_ns() + SECOND_NS / 1_000, &mut ready).expect("the ring works");
            for event in ready.iter().filter(|event| event.writable) {
                ends[event.id.slot as usize].go_on(&mut driver);
            }
            for end in &mut ends {
                end.hear(1 << 20);
            }
        }
    }
}

/// A connection that sends the numbers 0, 1, 2… as bytes, modulo 251, and its other end.
struct End {
    socket: Socket,
    far: UnixStream,
    /// Lengths that are to be sent, in order.
    unsent: VecDeque<usize>,
    sent: usize,
    heard: usize,
}

impl End {
    fn offer(&mut self, driver: &mut Driver, length: usize) {
        self.unsent.push_back(length);
        if self.unsent.len() == 1 {
            self.go_on(driver);
        }
    }

    fn go_on(&mut self, driver: &mut Driver) {
        while let Some(length) = self.unsent.front_mut() {
            let bytes: Vec<u8> = (self.sent..self.sent + *length).map(byte_at).collect();
            match driver.send(&self.socket, &bytes) {
                Err(Errno::AGAIN) => return,
                taken => {
                    let taken = taken.expect("no error");
                    self.sent += taken;
                    *length -= taken;
                    if *length == 0 {
                        self.unsent.pop_front();
                    } else {
                        return;
                    }
                }
            }
        }
    }

    fn hear(&mut self, length_max: usize) {
        let mut bytes = vec![0; length_max];
        let length = match self.far.read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            length => length.expect("no error"),
        };
        for byte in &bytes[..length] {
            assert_eq!(*byte, byte_at(self.heard));
            self.heard += 1;
        }
    }

    fn is_done(&self) -> bool {
        self.unsent.is_empty() && self.heard == self.sent
    }
}

fn byte_at(place: usize) -> u8 {
    (place % 251) as u8
}
