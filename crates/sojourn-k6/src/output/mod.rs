//! What outputs write: from samples to the bytes of k6's files.

mod csv_lines;
mod csv_options;
pub(crate) mod go_number;
pub(crate) mod go_string;
mod json_lines;
mod sink;
mod time;

pub use csv_lines::CsvLines;
pub use csv_options::{CsvOptionError, CsvOptions};
pub use json_lines::JsonLines;
pub use sink::LineSink;
pub use time::TimeFormat;
