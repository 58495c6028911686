//! What coordinator and generator say to each other.
//!
//! The messages are plain data: a generator in another process gets the same ones over a socket.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use sojourn_metrics::Snapshot;
use sojourn_pace::Amendment;

/// Coordinator to generator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum ToGenerator {
    /// Start the load at this instant (CLOCK_MONOTONIC, nanoseconds).
    Start {
        /// The run's start.
        at_ns: u64,
    },
    /// A variable has a new value from now on.
    SetVariable {
        /// Index of the variable.
        variable: u16,
        /// Its value.
        value: String,
    },
    /// Open loads have another rate from an instant on, which must be to come for whoever is told.
    Amend(Amendment),
    /// No further arrivals; what is under way goes on.
    StopArrivals,
    /// End now.
    Abort,
}

/// Generator to coordinator, with the generator's number.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum FromGenerator {
    /// One second's figures.
    Snapshot(Box<Snapshot>),
    /// Every arrival of this generator's share has been reached.
    ArrivalsDone {
        /// The last one's scheduled instant.
        last_t0_ns: u64,
        /// When the load ends: not before its last arrival.
        load_end_ns: u64,
        /// When this was said: every start has an earlier stamp.
        at_ns: u64,
    },
    /// All that came of its arrivals has ended: said once after [`Self::ArrivalsDone`], by
    /// generators that keep the book themselves.
    Idle,
    /// It is ready for its first arrival.
    Began {
        /// When: the run's start, or later.
        at_ns: u64,
    },
    /// The thread has ended; why, if not as asked.
    Ended(Result<(), String>),
    /// Its process is lost, and so are all of that which have not ended. Whoever hears the process
    /// says so, with the number of its first generator.
    Lost(Box<Loss>),
}

/// A process of generators is lost: what is known of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Loss {
    /// Its number.
    pub(crate) process: u32,
    /// Its generators.
    pub(crate) generators: Range<u32>,
    /// Which it was, and where.
    pub(crate) who: String,
    pub(crate) why: String,
    /// Journeys that it has told of.
    pub(crate) started: u64,
    /// Up to when its figures are; 0 where it gave none.
    pub(crate) until_ns: u64,
    /// Figures without which the book would not add up.
    pub(crate) missing: Snapshot,
}

/// Ledger to generator: what an actor waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ToActor {
    /// A stage was reached that a step follows.
    Reached {
        /// Whose.
        journey: u64,
        /// Which stage.
        stage: u8,
    },
    /// The journey's deadline passed: its user waits no longer, though it may still complete.
    Overdue {
        /// Whose.
        journey: u64,
    },
    /// The journey ended: no further step of it begins.
    Ended {
        /// Whose.
        journey: u64,
    },
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::os::unix::net::UnixStream;

    use proptest::prelude::*;
    use serde::de::DeserializeOwned;
    use sojourn_metrics::{Kind, Recorder, SeriesKey, SeriesPhase};

    use super::*;

    fn any_to_generator() -> impl Strategy<Value = ToGenerator> {
        prop_oneof![
            any::<u64>().prop_map(|at_ns| ToGenerator::Start { at_ns }),
            (any::<u16>(), any::<String>())
                .prop_map(|(variable, value)| ToGenerator::SetVariable { variable, value }),
            (any::<u64>(), 0.0..9.0f64).prop_map(|(from_ns, rate_factor)| {
                ToGenerator::Amend(Amendment {
                    from_ns,
                    rate_factor: (rate_factor * 64.0).floor() / 64.0,
                })
            }),
            Just(ToGenerator::StopArrivals),
            Just(ToGenerator::Abort),
        ]
    }

    fn any_from_generator() -> impl Strategy<Value = FromGenerator> {
        let samples = prop::collection::vec(any::<u64>(), 0..50);
        prop_oneof![
            samples.prop_map(|samples| FromGenerator::Snapshot(Box::new(snapshot(&samples)))),
            any::<[u64; 3]>().prop_map(|[last_t0_ns, load_end_ns, at_ns]| {
                FromGenerator::ArrivalsDone { last_t0_ns, load_end_ns, at_ns }
            }),
            any::<()>().prop_map(|()| FromGenerator::Idle),
            any::<u64>().prop_map(|at_ns| FromGenerator::Began { at_ns }),
            any::<Result<(), String>>().prop_map(FromGenerator::Ended),
        ]
    }

    fn snapshot(samples: &[u64]) -> Snapshot {
        let mut recorder = Recorder::new(1);
        let key = |metric: &str| SeriesKey::new(metric, &[("journey", "j")], SeriesPhase::Steady);
        let trend = recorder.series(Kind::Trend, key("step.response"));
        let counter = recorder.series(Kind::Counter, key("journeys.started"));
        for &sample in samples {
            recorder.record(trend, sample);
            recorder.add(counter, 1);
        }
        recorder.take(5, None)
    }

    /// What comes out at the other end of a socket, a line for each message.
    fn across<M: Serialize + DeserializeOwned>(messages: &[M]) -> Vec<M> {
        let (mut near, far) = UnixStream::pair().unwrap();
        let lines: Vec<String> =
            messages.iter().map(|message| serde_json::to_string(message).unwrap()).collect();
        let writer = std::thread::spawn(move || {
            for line in lines {
                writeln!(near, "{line}").unwrap();
            }
        });
        let arrived = BufReader::new(far).lines();
        let arrived = arrived.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
        writer.join().unwrap();
        arrived
    }

    proptest! {
        #[test]
        fn messages_cross_a_socket(
            to in prop::collection::vec(any_to_generator(), 0..8),
            from in prop::collection::vec(any_from_generator(), 0..8),
            journey: u64,
            stage: u8,
        ) {
            prop_assert_eq!(across(&to), to);
            prop_assert_eq!(across(&from), from);
            let wakes = [
                ToActor::Reached { journey, stage },
                ToActor::Overdue { journey },
                ToActor::Ended { journey },
            ];
            prop_assert_eq!(across(&wakes), wakes);
        }
    }
}
