//! Two ends of a link, with a proxy between them that cuts.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use sojourn_clock::{SECOND_NS, machine_ns};
use sojourn_fleet::{
    FleetError, JoinAt, JoinKey, Joining, Left, Listen, Listening, MemberEnd, Standing,
};
use sojourn_services::CutProxy;

const WITHIN_NS: u64 = 30 * SECOND_NS;

pub(crate) fn listening(generators: u32, reconnect_within_ns: u64) -> Listening {
    let address = "127.0.0.1:0".parse().unwrap();
    let (key, version) = (JoinKey::fresh().unwrap(), "1.0".to_owned());
    Listening::start(Listen { address, generators, key, version, reconnect_within_ns }).unwrap()
}

pub(crate) fn at(address: impl ToString, key: &JoinKey) -> JoinAt {
    let version = "1.0".to_owned();
    let (address, key) = (address.to_string(), key.clone());
    JoinAt { address, key, version, number: None, within_ns: 5 * SECOND_NS }
}

pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end_ns = machine_ns() + 60 * SECOND_NS;
    while !holds() {
        assert!(machine_ns() < end_ns, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

struct Pair {
    coordinator: Listening,
    near: UnixStream,
    end: MemberEnd,
    joining: Joining,
    far: UnixStream,
    proxy: CutProxy,
}

/// Both ends of a link through a proxy.
fn pair(reconnect_within_ns: u64) -> Pair {
    let coordinator = listening(1, reconnect_within_ns);
    let proxy = CutProxy::start(coordinator.address()).unwrap();
    let (joining, far) = Joining::join(&at(proxy.address(), coordinator.key()), false).unwrap();
    until("it is ready", || coordinator.is_ready());
    let (near, end) = coordinator.take(0).unwrap();
    Pair { coordinator, near, end, joining, far, proxy }
}

/// Bytes of a kind that a shift or a repetition shows.
fn bytes(count: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..count).map(|_| next()).collect()
}

/// Writes all, ends, and reads what comes, at the same time.
fn exchange(socket: UnixStream, said: Vec<u8>, pause: Duration) -> Vec<u8> {
    let mut to = socket.try_clone().unwrap();
    let writer = std::thread::spawn(move || {
        for part in said.chunks(100_000) {
            to.write_all(part).unwrap();
            std::thread::sleep(pause);
        }
        to.shutdown(Shutdown::Write).unwrap();
    });
    let (mut socket, mut came) = (socket, Vec::new());
    socket.read_to_end(&mut came).unwrap();
    writer.join().unwrap();
    came
}

/// Both directions at once, while `disturb` goes on; everything arrives, once and in order.
fn all_arrives(pair: Pair, megabytes: usize, disturb: impl FnOnce(&CutProxy)) -> MemberEnd {
    let Pair { coordinator, near, end, joining, far, proxy } = pair;
    let (down, up) = (bytes(megabytes << 20, 1), bytes(megabytes << 20, 2));
    let pause = Duration::from_millis(10);
    let (said_down, said_up) = (down.clone(), up.clone());
    let near = std::thread::spawn(move || exchange(near, said_down, pause));
    let far = std::thread::spawn(move || exchange(far, said_up, pause));
    disturb(&proxy);
    assert!(near.join().unwrap() == up && far.join().unwrap() == down);
    assert_eq!(joining.leave(), Left::Delivered);
    assert_eq!(end.wait().standing, Standing::Over);
    drop(coordinator);
    end
}

#[test]
fn a_link_is_a_byte_stream_both_ways() {
    let end = all_arrives(pair(WITHIN_NS), 20, |_| {});
    let state = end.now();
    assert_eq!((state.cuts, state.resent_bytes, state.held_up), (0, 0, 0));
}

#[test]
fn cuts_lose_nothing() {
    let end = all_arrives(pair(WITHIN_NS), 20, |proxy| {
        let mut passed = 0;
        for _ in 0..5 {
            until("bytes are under way", || {
                proxy.figures().to_server_bytes + proxy.figures().to_client_bytes > passed
            });
            passed = proxy.figures().to_server_bytes + proxy.figures().to_client_bytes + (2 << 20);
            proxy.cut();
        }
    });
    let state = end.now();
    assert!(state.cuts >= 5, "{state:?}");
}

/// Nothing passes for longer than an end waits to be heard of; connections are up all the time.
#[test]
fn a_silence_of_seven_seconds_loses_nothing() {
    let end = all_arrives(pair(WITHIN_NS), 5, |proxy| {
        until("bytes are under way", || proxy.figures().to_server_bytes > 1 << 20);
        proxy.stall();
        std::thread::sleep(Duration::from_secs(7));
        proxy.resume();
    });
    let state = end.now();
    assert!(state.cuts >= 1 && state.cut_ns_max > SECOND_NS, "{state:?}");
}

#[test]
fn a_link_that_is_cut_for_too_long_is_lost_at_both_ends() {
    let Pair { coordinator, near, end, joining, far, proxy } = pair(SECOND_NS);
    proxy.refuse();
    proxy.cut();
    for mut socket in [near, far] {
        assert_eq!(socket.read(&mut [0; 9]).unwrap(), 0);
    }
    let state = end.wait();
    assert!(matches!(&state.standing, Standing::Lost(why) if why.contains("1 s")), "{state:?}");
    assert!(matches!(joining.leave(), Left::Lost(_)));
    drop(coordinator);
}

/// Without the last acknowledgement a generator must not believe that all was delivered.
#[test]
fn what_was_not_acknowledged_was_not_delivered() {
    let Pair { coordinator, near, end, joining, mut far, proxy } = pair(SECOND_NS);
    proxy.stall();
    far.write_all(b"last words").unwrap();
    far.shutdown(Shutdown::Write).unwrap();
    assert!(matches!(joining.leave(), Left::Lost(_)));
    assert!(matches!(end.wait().standing, Standing::Lost(_)));
    drop((coordinator, near));
}

/// A reader that stops stops the writer, and heartbeats go on beside that.
#[test]
fn a_side_that_reads_nothing_holds_the_other_up_and_not_the_link() {
    let Pair { coordinator, mut near, end, joining, mut far, proxy } = pair(WITHIN_NS);
    let said = bytes(100 << 20, 3);
    let spoken = said.clone();
    let writer = std::thread::spawn(move || {
        near.write_all(&spoken).unwrap();
        near.shutdown(Shutdown::Write).unwrap();
        near
    });
    until("no more is kept", || end.now().held_up > 0);
    std::thread::sleep(Duration::from_secs(6));
    assert_eq!((end.now().standing, end.now().cuts), (Standing::Connected, 0));
    let mut came = Vec::new();
    far.read_to_end(&mut came).unwrap();
    assert!(came == said);
    far.shutdown(Shutdown::Both).unwrap();
    drop(writer.join().unwrap());
    assert_eq!(joining.leave(), Left::Delivered);
    drop((coordinator, proxy));
}

#[test]
fn whoever_has_another_key_or_program_is_told_so() {
    let (coordinator, other) = (listening(1, WITHIN_NS), listening(1, WITHIN_NS));
    let key_text = coordinator.key().to_text();
    let error = Joining::join(&at(coordinator.address(), other.key()), false).unwrap_err();
    assert!(matches!(error, FleetError::Stranger(_)), "{error}");
    let newer =
        JoinAt { version: "1.1".to_owned(), ..at(coordinator.address(), coordinator.key()) };
    let error = Joining::join(&newer, false).unwrap_err();
    assert!(error.to_string().contains("it is sojourn 1.1, and the coordinator 1.0"), "{error}");
    // It is kept once the refused one has been told.
    until("the refusal is kept", || {
        let refusal = coordinator.take_refusal().unwrap_or_default();
        assert!(!refusal.contains(&key_text), "{refusal}");
        refusal.contains("1.1")
    });
    assert!(coordinator.members().is_empty());
}

#[test]
fn numbers_are_as_wished_or_the_next_free() {
    let coordinator = listening(3, WITHIN_NS);
    let join = |number| {
        let at = JoinAt { number, ..at(coordinator.address(), coordinator.key()) };
        Joining::join(&at, false)
    };
    let wished = join(Some(1)).unwrap();
    let next = join(None).unwrap();
    assert_eq!((wished.0.number, next.0.number, next.0.of), (1, 0, 3));
    let refusals = [(Some(1), "number 1 is there"), (Some(3), "the run has 3, from 0")];
    for (number, says) in refusals {
        let error = join(number).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
    }
    let last = join(None).unwrap();
    assert_eq!(last.0.number, 2);
    let error = join(None).unwrap_err();
    assert!(error.to_string().contains("all 3 generators"), "{error}");
}

/// Dozens of connections that say nothing keep nobody out for longer than their time.
#[test]
fn those_who_say_nothing_are_bounded_and_let_go() {
    let coordinator = listening(1, WITHIN_NS);
    let silent: Vec<_> =
        (0..60).map(|_| TcpStream::connect(coordinator.address()).unwrap()).collect();
    until("the last ones are turned away", || coordinator.turned_away() >= 28);
    let patient =
        JoinAt { within_ns: 30 * SECOND_NS, ..at(coordinator.address(), coordinator.key()) };
    let (joining, far) = Joining::join(&patient, false).unwrap();
    assert_eq!(joining.number, 0);
    drop((silent, far));
}

#[test]
fn one_clock_is_known_to_be_one() {
    let pair = pair(WITHIN_NS);
    let clock = pair.end.now().clock.unwrap();
    assert!(clock.offset_ns.unsigned_abs() <= clock.uncertainty_ns, "{clock:?}");
    assert_eq!(pair.joining.clock.offset_ns, clock.offset_ns);
    assert!(clock.uncertainty_ns > 0);
    drop(pair);
}

#[test]
fn a_coordinator_that_is_not_there_is_waited_for_and_then_named() {
    let coordinator = listening(1, WITHIN_NS);
    let (address, key) = (coordinator.address(), coordinator.key().clone());
    drop(coordinator);
    let hasty = JoinAt { within_ns: SECOND_NS / 2, ..at(address, &key) };
    let error = Joining::join(&hasty, false).unwrap_err();
    let words = error.to_string();
    assert!(words.contains(&address.to_string()) && words.contains("0.5 s"), "{words}");
}
