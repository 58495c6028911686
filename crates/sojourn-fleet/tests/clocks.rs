//! Generators whose machines have other clocks: processes of their own, since each process has one.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::process::Command;

use sojourn_clock::{SECOND_NS, TEST_OFFSET_VARIABLE, now_ns, shift_for_tests};
use sojourn_fleet::{JoinKey, Joining, KEY_VARIABLE, Left};

use crate::links::{at, listening, until};

/// Tells the process that is started for the test where to join.
const ADDRESS_VARIABLE: &str = "SOJOURN_TEST_JOIN_ADDRESS";
const NAME: &str = "clocks::whatever_its_clock_shows_a_generator_has_the_coordinators";

#[test]
fn whatever_its_clock_shows_a_generator_has_the_coordinators() {
    if let Ok(address) = std::env::var(ADDRESS_VARIABLE) {
        return generator(&address);
    }
    for wrong_ns in [0i64, 3_700_000_000, -7_200_000_000_000] {
        let coordinator = listening(1, 5 * SECOND_NS);
        let mut generator = Command::new(std::env::current_exe().unwrap())
            .args([NAME, "--exact"])
            .env(ADDRESS_VARIABLE, coordinator.address().to_string())
            .env(KEY_VARIABLE, coordinator.key().to_text())
            .env(TEST_OFFSET_VARIABLE, wrong_ns.to_string())
            .spawn()
            .unwrap();
        until("it is ready", || coordinator.is_ready());
        let (mut socket, end) = coordinator.take(0).unwrap();
        let before_ns = now_ns();
        socket.write_all(b"what time is it?").unwrap();
        socket.shutdown(Shutdown::Write).unwrap();
        let mut answer = [0; 8];
        socket.read_exact(&mut answer).unwrap();
        let (theirs_ns, after_ns) = (u64::from_le_bytes(answer), now_ns());
        let clock = end.now().clock.unwrap();
        let most_ns = clock.uncertainty_ns;
        assert!(theirs_ns + most_ns >= before_ns && theirs_ns <= after_ns + most_ns, "{clock:?}");
        // Both are processes of one machine: the offset is what is wrong, the other way round.
        assert!(clock.offset_ns.abs_diff(-wrong_ns) <= most_ns, "{clock:?}");
        drop(socket);
        assert!(generator.wait().unwrap().success());
    }
}

/// The other process.
fn generator(address: &str) {
    shift_for_tests();
    let key = JoinKey::parse(&std::env::var(KEY_VARIABLE).unwrap()).unwrap();
    let (joining, mut socket) = Joining::join(&at(address, &key), true).unwrap();
    socket.read_to_end(&mut Vec::new()).unwrap();
    socket.write_all(&now_ns().to_le_bytes()).unwrap();
    drop(socket);
    assert_eq!(joining.leave(), Left::Delivered);
}
