//! Users in processes of their own: the same test, its users and iterations dealt out by execution
//! segments, i of N for each.
//!
//! ```text
//!   conductor ──ToProcess────> socket ──> threads of users (far)
//!   totals, outputs, log <──FromProcess── their accounts, samples, lines
//! ```
//!
//! The conductor's process has no users. It calls `setup`, `teardown` and `handleSummary`, merges
//! what processes account for before anything is read off it, and writes every output once. A
//! process runs the script's top level itself, with the options that the conductor found; what its
//! threads hear and say is what they hear and say in one process. It ends when its socket does.
//!
//! It may be on another machine: then its socket is the near end of a link that survives cuts, the
//! script comes along as an archive, and it has the conductor's clock and time of day.

mod far;
mod near;

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};
use sojourn_k6::metrics::{CarriedSamples, Registry};

use crate::settings::{Counted, Settings};
use crate::thread::{Account, Steer};

pub use far::{Share, ShareLink, take_part};
pub(super) use near::Process;

/// How often a process tells what it has counted, if that has changed, ns.
const COUNTED_EVERY_NS: u64 = 100 * sojourn_clock::MILLISECOND_NS;
/// How often it says something at least, ns.
const SAID_EVERY_NS: u64 = 5 * sojourn_clock::SECOND_NS;
/// Who has said nothing for so long is lost, ns.
const SILENT_NS_MAX: u64 = 30 * sojourn_clock::SECOND_NS;

/// Conductor to process.
#[derive(Debug, Serialize, Deserialize)]
enum ToProcess {
    /// First and once: the script's options, JSON, and what its top level has made of it.
    Test { options: String, fingerprint: u64 },
    /// What `setup` returned, JSON; before the start.
    SetupData(Option<String>),
    /// Scenarios begin at this instant (CLOCK_MONOTONIC, ns).
    Start { start_ns: u64 },
    /// Somebody outside decides on users: how many there are in all processes.
    Steer(Steer),
    /// Hand over the account.
    HandOver,
    /// Scenarios end now.
    Stop,
}

/// Process to conductor.
#[derive(Debug, Serialize, Deserialize)]
enum FromProcess {
    /// It ends before its time: why.
    Leaves(String),
    /// Its users have run the script's top level.
    Ready,
    /// What its threads have counted so far.
    Counted(Counted),
    /// The script has asked for the test's end, with this reason.
    Aborted(String),
    /// The script has marked the test as failed, with this reason.
    Marked(String),
    /// A line of the log, or of the script's own.
    Line { is_script: bool, line: Vec<u8> },
    /// What was accounted for since the last time, and samples for outputs. `is_asked` answers a
    /// [`ToProcess::HandOver`].
    Account { account: Option<Box<Account>>, samples: CarriedSamples, is_asked: bool },
    /// Its scenarios have ended, and all that they account for has been told.
    Finished,
    /// Its users can't go on: why.
    Failed(String),
}

/// A number that differs when the script's top level has declared or exported something else.
fn fingerprint(settings: &Settings, registry: &Registry) -> u64 {
    let mut hasher = DefaultHasher::new();
    for metric in registry.iter() {
        format!("{metric:?}").hash(&mut hasher);
    }
    settings.functions.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;

    use sojourn_engine::remote::{read_message, write_message};
    use sojourn_k6::metrics::{Shard, ShardOptions, Sink, TagSets, Totals, builtin};

    use super::*;

    #[test]
    fn accounts_and_samples_cross_a_socket() {
        let registry = Registry::new();
        let options = ShardOptions { samples_max: 10, ..ShardOptions::default() };
        let mut shard = Shard::new(options);
        let mut sets = TagSets::new(registry.matcher());
        let empty = Arc::clone(sets.empty());
        let tags = sets.with(&empty, &[("method", "GET")]);
        shard.add(builtin::HTTP_REQS, &tags, 5, 1.0);
        shard.check("::a", "is", &tags, 6, true);
        let samples = CarriedSamples::new(&shard.take_samples(Vec::new()));
        let account = Account { delta: shard.take(), ..Account::default() };
        let account = Some(Box::new(account));
        let sent = FromProcess::Account { account, samples: samples.clone(), is_asked: true };
        let (mut near, far) = UnixStream::pair().unwrap();
        write_message(&mut near, &sent).unwrap();
        write_message(&mut near, &FromProcess::Finished).unwrap();
        drop(near);
        let mut from = BufReader::new(far);
        let Some(FromProcess::Account { account, samples: came, is_asked: true }) =
            read_message(&mut from).unwrap()
        else {
            panic!("another message")
        };
        assert_eq!(came, samples);
        let mut totals = Totals::default();
        totals.merge(account.unwrap().delta);
        assert_eq!(totals.checks().by_name(), [("is", 1, 0)]);
        let Some(Sink::Counter(counter)) = totals.sink(builtin::HTTP_REQS) else { panic!() };
        assert_eq!((counter.sum, counter.count), (1.0, 1));
        assert!(matches!(read_message(&mut from), Ok(Some(FromProcess::Finished))));
        assert!(matches!(read_message::<FromProcess>(&mut from), Ok(None)));
    }
}
