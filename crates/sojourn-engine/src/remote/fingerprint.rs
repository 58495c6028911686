//! Whether two processes made the same plan.

use std::fmt::{self, Write};
use std::hash::{DefaultHasher, Hasher};

use sojourn_plan::Plan;

use crate::work::Work;

/// A number that differs when plans or work differ in anything that they show. Processes of one
/// program compare it: it means nothing to another version.
pub(crate) fn fingerprint(plan: &Plan, work: &Work) -> u64 {
    let mut hash = Hashed(DefaultHasher::new());
    // Hashing text does not fail.
    let _always = write!(hash, "{plan:?}");
    let _always = match work {
        Work::Journeys => Ok(()),
        Work::Attack(attack) => write!(hash, "{attack:?}"),
        Work::Sessions(sessions) => write!(hash, "{:?}{:?}", sessions.program, sessions.mixes),
    };
    hash.0.finish()
}

/// Text that is hashed and not kept.
struct Hashed(DefaultHasher);

impl Write for Hashed {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}
