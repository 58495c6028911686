//! Why journeys are kept, and how many were not.

use serde::{Deserialize, Serialize};

/// Why journeys are kept; their names are those of [`JourneyRecord::kept_as`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeptAs {
    /// Lost.
    Lost,
    /// Failed; its root was not what failed.
    Failed,
    /// Its root failed.
    RootFailed,
    /// Complete after its deadline.
    Late,
    /// In flight when the run was cut off.
    InFlight,
    /// An event of it came again.
    Duplicated,
    /// It reached a stage before the point that the stage follows.
    OutOfOrder,
    /// Among the slowest.
    Slowest,
    /// Drawn by lot.
    Sample,
}

impl KeptAs {
    /// Every one.
    pub const ALL: [Self; 9] = [
        Self::Lost,
        Self::Failed,
        Self::RootFailed,
        Self::Late,
        Self::InFlight,
        Self::Duplicated,
        Self::OutOfOrder,
        Self::Slowest,
        Self::Sample,
    ];

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Failed => "failed",
            Self::RootFailed => "root_failed",
            Self::Late => "late",
            Self::InFlight => "in_flight_at_cutoff",
            Self::Duplicated => "duplicated",
            Self::OutOfOrder => "out_of_order",
            Self::Slowest => "slowest",
            Self::Sample => "sample",
        }
    }
}

/// What [`JourneyRecord::kept_as`] says where every journey was to be kept.
pub const KEPT_AS_ALL: &str = "all";

/// How many journeys were kept of each class, and how many were not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KeptRecord {
    /// Of each class.
    pub classes: Vec<KeptCount>,
    /// Most journeys kept of each class; of poisoned ones as many again.
    pub each_max: u64,
    /// Duplicates of kept journeys that came after their end and are not listed.
    #[serde(default)]
    pub duplicates_beyond: u64,
}

/// Journeys of one class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptCount {
    /// A name of [`KeptAs`].
    pub class: String,
    /// In the file.
    pub kept: u64,
    /// Counted, and not in the file.
    pub not_kept: u64,
}

impl KeptRecord {
    /// Adds another run's.
    pub(crate) fn add(&mut self, other: &Self) {
        self.each_max = self.each_max.max(other.each_max);
        self.duplicates_beyond += other.duplicates_beyond;
        for count in &other.classes {
            match self.classes.iter_mut().find(|own| own.class == count.class) {
                Some(own) => {
                    own.kept += count.kept;
                    own.not_kept += count.not_kept;
                }
                None => self.classes.push(count.clone()),
            }
        }
    }
}
