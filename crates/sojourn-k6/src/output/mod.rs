//! What outputs write: from samples to the bytes of k6's files.

mod csv_lines;
pub(crate) mod go_number;
pub(crate) mod go_string;
mod json_lines;
mod time;

pub use csv_lines::CsvLines;
pub use json_lines::JsonLines;
pub use time::TimeFormat;
