//! One script of faults and promises for all broker connectors, run by each connector's tests
//! against its real server.
//!
//! A connector's tests implement [`Rig`] (and [`System`]): a server, a channel, what the broker can
//! do. Then [`taps!`], [`publishers!`], [`consumers!`] and [`backlogs!`] make a test of each
//! promise:
//!
//! ```text
//! mod core { sojourn_conformance::taps!(crate::rig::CoreRig::new()); }
//! ```
//!
//! Each promise is a function of its own, which names and explains it; what differs between brokers
//! is in [`Abilities`], never in a promise switched off. Words: a [`Listener`] is a tap polled by a
//! thread as in a run; its [`Book`] is what the tap said; numbers identify messages.
//!
//! Invariants: a promise waits for conditions with a deadline and never for a fixed time, except
//! where silence itself is the fault; it compares with what it published itself.
#![allow(clippy::unwrap_used, reason = "a script of tests: what fails here is a failed test")]

use std::io::Write as _;

mod account;
mod backlog;
mod consume;
mod cut;
mod listener;
mod message;
mod open;
mod passive;
mod patience;
mod publish;
mod publishing;
mod replay;
mod restart;
mod rig;
mod slow;
mod wrong;

pub use backlog::{the_backlog_is_what_waits, the_backlog_outlives_a_restart};
pub use consume::{members_share_the_messages, what_was_not_committed_comes_again};
pub use cut::{a_connection_cut, a_connection_gone_for_good, a_connection_stalled, nobody_there};
pub use listener::{Book, Listener};
pub use message::{Message, Seen};
pub use open::{
    every_byte_as_it_was_sent, nothing_before_and_everything_after, the_watermark_follows,
};
pub use passive::the_system_notices_nothing;
pub use patience::{wait_for, wait_until};
pub use publish::{
    a_full_queue_is_refused, a_server_killed_with_messages_in_flight, an_outcome_for_each_message,
    dropped_with_messages_in_flight,
};
pub use publishing::{Fate, Publishing, publish_all};
pub use replay::a_stretch_is_read_again;
pub use restart::a_server_killed_and_restarted;
pub use rig::{Abilities, Rig, System, Wrong, dead_address};
pub use slow::{a_link_that_is_slow, a_sink_that_is_slow, a_sink_that_stands_still};
pub use wrong::{a_publisher_that_cannot_work_says_so, settings_that_cannot_work};

/// Whether slow promises run: `cargo xtask test --full` has them run. One that does not says so.
pub fn runs_slow(promise: &str) -> bool {
    let runs = std::env::var_os("SOJOURN_TESTS").is_some_and(|which| which == "full");
    if !runs {
        // Not by `eprintln!`, which a test that passes swallows.
        let _ignored = writeln!(std::io::stderr(), "SKIPPED {promise}: `cargo xtask test --full`");
    }
    runs
}

/// A test of each of these promises, with a rig made anew by the expression. Those behind `slow`
/// take a minute each: `cargo xtask test --full` runs them.
#[macro_export]
macro_rules! promises {
    ($rig:expr; $($promise:ident),* $(,)? $(; slow: $($slow:ident),* $(,)?)?) => {
        $(
            #[test]
            fn $promise() {
                $crate::$promise(&mut $rig);
            }
        )*
        $($(
            #[test]
            fn $slow() {
                if $crate::runs_slow(stringify!($slow)) {
                    $crate::$slow(&mut $rig);
                }
            }
        )*)?
    };
}

/// The promises of every tap.
#[macro_export]
macro_rules! taps {
    ($rig:expr) => {
        $crate::promises!($rig;
            nothing_before_and_everything_after,
            every_byte_as_it_was_sent,
            the_watermark_follows,
            a_server_killed_and_restarted,
            a_connection_cut,
            a_connection_stalled,
            a_link_that_is_slow,
            nobody_there,
            settings_that_cannot_work,
            the_system_notices_nothing,
            a_stretch_is_read_again;
            slow: a_connection_gone_for_good, a_sink_that_stands_still, a_sink_that_is_slow,
        );
    };
}

/// The promises of every publisher.
#[macro_export]
macro_rules! publishers {
    ($rig:expr) => {
        $crate::promises!($rig;
            an_outcome_for_each_message,
            a_full_queue_is_refused,
            a_server_killed_with_messages_in_flight,
            dropped_with_messages_in_flight,
            a_publisher_that_cannot_work_says_so,
        );
    };
}

/// The promises of every consumer.
#[macro_export]
macro_rules! consumers {
    ($rig:expr) => {
        $crate::promises!($rig;
            what_was_not_committed_comes_again,
            members_share_the_messages,
        );
    };
}

/// The promises of every backlog.
#[macro_export]
macro_rules! backlogs {
    ($rig:expr) => {
        $crate::promises!($rig;
            the_backlog_is_what_waits,
            the_backlog_outlives_a_restart,
        );
    };
}
