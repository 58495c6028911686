//! What coordinator and threads say to each other.

use serde::{Deserialize, Serialize};
use sojourn_k6::metrics::{Delta, Sample};

use super::Steer;
use crate::health::Noticed;
use crate::user::JobEnd;

/// Who reports: threads of this process are numbered first, from 0, then other processes.
pub(crate) type Member = usize;

/// From the coordinator to a thread, or to another process with threads of its own.
#[derive(Debug)]
pub(crate) enum Order {
    /// Scenarios begin, at this instant (ns).
    Start { start_ns: u64 },
    /// Call an exported function and report its end.
    Call { function: &'static str, argument: Option<String> },
    /// The call under way takes too long.
    CutCall,
    /// Somebody outside decides on the users of the scenario that is theirs.
    Steer(Steer),
    /// Report the account.
    HandOver,
    /// Scenarios end now; iterations under way are cut.
    Stop,
    /// The thread ends.
    End,
}

/// From a thread, or another process, to the coordinator.
#[derive(Debug)]
pub(crate) enum Report {
    /// All users have run the script's top level.
    Ready,
    /// What was accounted for since the last report, and samples for outputs; `is_asked` answers an
    /// [`Order::HandOver`].
    Account { account: Option<Box<Account>>, samples: Vec<Sample>, is_asked: bool },
    /// The call has ended.
    Called(JobEnd),
    /// All scenarios have ended.
    Finished,
    /// The thread can't go on.
    Failed(String),
    /// The process is gone: why; `None`: how it ended says that.
    Lost(Option<String>),
}

/// What there is to account for since the last time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Account {
    /// Of metrics.
    pub(crate) delta: Delta,
    /// Of who makes the load.
    pub(crate) noticed: Noticed,
}

impl Account {
    /// What another thread of the process has to account for.
    pub(crate) fn merge(&mut self, other: Self) {
        self.delta.merge(other.delta);
        self.noticed.merge(other.noticed);
    }
}
