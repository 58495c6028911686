//! What runs in the coordinator's pod besides the coordinator: who keeps its results until they
//! have been fetched, and the little that is done there from outside.
//!
//! The pod has two containers with one folder. The coordinator's begins by taking a lock that the
//! kernel releases whenever and however the coordinator ends ([`locked`]). The other one
//! ([`keep`]) waits for that, and then stays for a while, so that there is a process in whose place
//! results can be read: of a coordinator that was killed, too. Neither needs access to the
//! cluster, nor a shell or `tar` in the image.

mod files;
mod hand;
mod keep;
mod lock;

pub use files::{pack, unpack};
pub(crate) use hand::Summing;
pub use hand::{Sum, hand, sum};
pub use keep::{Keeping, Kept, keep, release};
pub use lock::locked;

/// The run's report for people, in the folder of results: the coordinator's standard output.
pub const REPORT_FILE: &str = "report.txt";
/// The lock, there.
const LOCK_FILE: &str = "lock";
/// There once nobody needs the results any more.
const RELEASED_FILE: &str = "released";
