//! End-of-test summaries: k6's texts and the data that scripts and files get.

mod collation;
mod data;
mod generator;
mod group_tree;
mod legacy;
mod listed;
mod machine;
mod number;
mod options;
mod ours;
mod page;
mod section;
mod source;
mod table;
mod text;
mod tree;

pub use data::{Terminal, data, export};
pub use generator::{Busiest, Generator, MachineUse};
pub use legacy::legacy_text;
pub use listed::measured_words;
pub use machine::{Identity, machine};
pub use options::{OptionError, StatKind, TimeUnit, TrendStat};
pub use page::{Moment, PageOf, page};
pub use source::Source;
pub use text::{Mode, text};
