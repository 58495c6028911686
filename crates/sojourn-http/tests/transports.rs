//! epoll and the ring: which one it is, and what both must do.

#![allow(unsafe_code, reason = "a seccomp filter has no safe wrapper; proof at the calls")]
#![allow(clippy::print_stderr, reason = "a skipped test says so")]

use std::io::Write;
use std::net::TcpListener;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};

use rustix::event::epoll;
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_http::{BodyPolicy, Client, ClientConfig, FailureKind, Io, Origin};

use crate::peers::{IO, KEEP, Load, Server, read_request};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Whether there is a ring here; where there is none, loudly.
fn has_ring() -> bool {
    match Client::new(ClientConfig { io: Io::Ring, ..ClientConfig::default() }) {
        Ok(_) => true,
        Err(error) => {
            eprintln!("THE RING IS SKIPPED, NOTHING OF IT WAS TESTED: {error}");
            false
        }
    }
}

#[test]
fn everything_once_more_on_epoll() {
    if std::env::var_os(IO).is_some() {
        return;
    }
    // The rest of this binary has used the ring, if there is one.
    has_ring();
    let output = Command::new(std::env::current_exe().expect("this test"))
        // The other half of this binary runs beside it, and neither shall starve the other.
        .args(["--test-threads", "2"])
        .env(IO, "epoll")
        .output()
        .expect("this test again");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("test result: ok"), "{said}");
}

#[test]
fn what_is_asked_for_is_what_there_is() {
    let io = |io| {
        let made = Client::new(ClientConfig { io, ..ClientConfig::default() });
        made.map(|client| client.io())
    };
    assert_eq!(io(Io::Epoll).expect("epoll"), Io::Epoll);
    if has_ring() {
        assert_eq!(io(Io::Ring).expect("a ring"), Io::Ring);
        assert_eq!(io(Io::Auto).expect("either"), Io::Ring);
    } else {
        assert_eq!(io(Io::Auto).expect("either"), Io::Epoll);
    }
}

/// Lets every `io_uring_setup` of this thread fail, as containers do.
fn forbid_io_uring() {
    let statement = |code: u32, k: u32, jt, jf| libc::sock_filter { code: code as u16, jt, jf, k };
    let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    let mut filter = [
        // The system call's number; is it io_uring_setup?
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        statement(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            libc::SYS_io_uring_setup as u32,
            0,
            1,
        ),
        statement(libc::BPF_RET | libc::BPF_K, refuse, 0, 0),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the kernel copies the filter, which lives until after the call; the other call takes
    // no pointer.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let mode = libc::SECCOMP_MODE_FILTER;
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program), 0);
    }
}

#[test]
fn a_forbidden_ring_is_epoll_unless_it_is_demanded() {
    let server = Server::answering(OK);
    let address = server.address;
    std::thread::spawn(move || {
        forbid_io_uring();
        let config = |io| ClientConfig { io, ..ClientConfig::default() };
        let error = Client::new(config(Io::Ring)).expect_err("it is forbidden");
        assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
        assert!(error.to_string().contains("seccomp"), "{error}");
        let target = Origin::parse(&format!("http://{address}")).expect("URL");
        let mut load = Load::exactly(&target, config(Io::Auto));
        assert_eq!(load.client.io(), Io::Epoll);
        assert_eq!(load.answer().body, b"ok");
    })
    .join()
    .expect("all of it holds");
}

#[test]
fn a_client_is_used_where_it_was_not_made() {
    let server = Server::answering(OK);
    let mut load = Load::new(&server);
    let other = std::thread::spawn(move || {
        for _ in 0..3 {
            assert_eq!(load.answer().body, b"ok");
        }
        load.client.io()
    });
    let io = other.join().expect("answers");
    assert!(matches!(io, Io::Epoll | Io::Ring), "{io:?}");
}

#[test]
fn a_large_answer_comes_whole() {
    const LENGTH: usize = 50_000_000;
    let body: Vec<u8> = (0..LENGTH as u32).map(|n| (n % 249) as u8).collect();
    let expected = body.clone();
    let server = Server::start(move |_, mut stream| {
        while read_request(&mut stream).is_some() {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {LENGTH}\r\n\r\n");
            stream.write_all(head.as_bytes()).expect("open");
            stream.write_all(&body).expect("open");
        }
    });
    let mut load = Load::new(&server);
    for policy in [BodyPolicy::Keep { bytes_max: LENGTH }, BodyPolicy::Discard] {
        load.send_with(1, "GET", b"", 30 * SECOND_NS, policy);
        let completion = load.take(1).remove(0);
        assert!(completion.bytes_in > LENGTH as u64);
        let response = completion.outcome.expect("an answer");
        if policy != BodyPolicy::Discard {
            assert!(response.body == expected);
        }
    }
    assert_eq!(server.accepted(), 1);
}

#[test]
fn late_answers_reach_nobody_else() {
    // Answers with the request's body, some just before and some just after the client gives up
    // and uses the slot for another connection.
    let server = Server::start(move |number, mut stream| {
        while let Some(request) = read_request(&mut stream) {
            let place = request.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
            let body = &request[place + 4..];
            let pause_ns = (number as u64 % 5) * 2 * MILLISECOND_NS;
            sojourn_clock::sleep_until(now_ns() + pause_ns);
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            if stream.write_all(&[head.as_bytes(), body].concat()).is_err() {
                return;
            }
        }
    });
    let mut load =
        Load::with(server.address, ClientConfig { connections_max: 4, ..ClientConfig::default() });
    let (mut answered, mut given_up) = (0, 0);
    for round in 0..60 {
        for token in round * 8..round * 8 + 8 {
            let body = token.to_string();
            load.send_with(token, "POST", body.as_bytes(), 4 * MILLISECOND_NS, KEEP);
        }
        for completion in load.take(8) {
            match completion.outcome {
                Ok(response) => {
                    assert_eq!(response.body, completion.token.to_string().as_bytes());
                    answered += 1;
                }
                Err(failure) => {
                    assert_eq!(failure.kind, FailureKind::Timeout, "{failure}");
                    given_up += 1;
                }
            }
        }
    }
    assert_eq!(answered + given_up, 480);
    assert!(given_up > 0, "no answer was late");
}

#[test]
fn dropping_a_client_closes_its_connections() {
    let (closed, told) = sync_channel(1);
    let closed = Mutex::new(closed);
    let server = Server::start(move |_, mut stream| {
        read_request(&mut stream);
        stream.write_all(OK).expect("open");
        let is_closed = read_request(&mut stream).is_none();
        closed.lock().expect("unpoisoned").send(is_closed).expect("awaited");
    });
    let mut load = Load::new(&server);
    assert_eq!(load.answer().body, b"ok");
    drop(load);
    let patience = std::time::Duration::from_secs(20);
    assert_eq!(told.recv_timeout(patience), Ok(true));
}

/// Answers requests on any number of connections, on one thread, whenever so many have come.
fn serve_many(listener: TcpListener, together: &AtomicUsize) {
    use epoll::{EventData, EventFlags};
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC).expect("a descriptor");
    listener.set_nonblocking(true).expect("a listener");
    epoll::add(&poll, &listener, EventData::new_u64(u64::MAX), EventFlags::IN).expect("room");
    let mut streams = slab::Slab::new();
    let mut held = Vec::new();
    let mut events = Vec::with_capacity(1_024);
    loop {
        events.clear();
        epoll::wait(&poll, rustix::buffer::spare_capacity(&mut events), None).expect("no signal");
        for event in &events {
            let number = event.data.u64();
            if number == u64::MAX {
                while let Ok((stream, _)) = listener.accept() {
                    stream.set_nodelay(true).expect("a TCP socket");
                    let entry = streams.vacant_entry();
                    let data = EventData::new_u64(entry.key() as u64);
                    epoll::add(&poll, &stream, data, EventFlags::IN).expect("room");
                    entry.insert(stream);
                }
            } else if streams.get_mut(number as usize).is_some_and(|s| read_request(s).is_none()) {
                drop(streams.remove(number as usize));
            } else {
                held.push(number as usize);
            }
        }
        if held.len() >= together.load(Ordering::SeqCst) {
            for number in held.drain(..) {
                streams[number].write_all(OK).expect("room");
            }
        }
    }
}

fn roomy_listener() -> (TcpListener, std::net::SocketAddr) {
    let socket =
        socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
    let any: std::net::SocketAddr = "127.0.0.1:0".parse().expect("an address");
    socket.bind(&any.into()).expect("a free port");
    socket.listen(4_096).expect("bound");
    let listener = TcpListener::from(socket);
    let address = listener.local_addr().expect("bound");
    (listener, address)
}

#[test]
fn nine_thousand_connections() {
    // Both ends are in this process, beside what the tests next to this one open.
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).expect("the maximum");
    let left = limit.maximum.unwrap_or(u64::MAX).saturating_sub(500) / 2;
    let count = left.min(9_000) as usize;
    if count < 9_000 {
        eprintln!("FEWER CONNECTIONS THAN 9,000: {count}, for want of descriptors (ulimit -n)");
    }
    let (listener, address) = roomy_listener();
    let together = Arc::new(AtomicUsize::new(0));
    let servers = Arc::clone(&together);
    std::thread::spawn(move || serve_many(listener, &servers));
    let mut load = Load::with(address, ClientConfig { idle_max: count, ..ClientConfig::default() });
    let mut opened = 0;
    while opened < count {
        // No more at once than the listener has room for.
        opened = (opened + 2_000).min(count);
        together.store(opened, Ordering::SeqCst);
        for token in 0..opened as u64 {
            load.send_with(token, "GET", b"", 30 * SECOND_NS, BodyPolicy::Discard);
        }
        load.take(opened);
        assert_eq!(load.client.connections(), opened);
    }
    for _ in 0..2 {
        for token in 0..count as u64 {
            load.send_with(token, "GET", b"", 30 * SECOND_NS, BodyPolicy::Discard);
        }
        let mut completions = load.take(count);
        completions.sort_by_key(|completion| completion.token);
        for (token, completion) in (0..).zip(completions) {
            assert_eq!(completion.token, token);
            assert_eq!(completion.outcome.expect("an answer").status, 200);
        }
    }
    assert_eq!(load.client.connections(), count);
    assert_eq!(load.client.counters().connections_opened, count as u64);
}
