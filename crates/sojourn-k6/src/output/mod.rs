//! What outputs write: from samples to the bytes of k6's files, and to the figures that it sends to
//! receivers; what variables say of them.

mod csv_lines;
mod csv_options;
pub(crate) mod go_number;
pub(crate) mod go_string;
mod histogram;
mod influxdb_lines;
mod influxdb_options;
mod json_lines;
mod native_histogram;
mod opentelemetry_options;
mod receiver_options;
mod remote_write_options;
mod remote_write_samples;
mod series;
mod sink;
mod statsd_lines;
mod statsd_options;
mod time;

pub use csv_lines::CsvLines;
pub use csv_options::{CsvOptionError, CsvOptions};
pub use histogram::{BOUNDS, Tally};
pub use influxdb_lines::InfluxDbLines;
pub use influxdb_options::{FieldKind, InfluxDbOptions};
pub use json_lines::JsonLines;
pub use native_histogram::{NATIVE_SCHEMA, NATIVE_ZERO_MAX, NativeTally};
pub use opentelemetry_options::{Exporter, OpenTelemetryOptions};
pub use receiver_options::{ReceiverOptionError, without_password};
pub use remote_write_options::{RemoteWriteOptions, RemoteWriteStat};
pub use remote_write_samples::{RemoteWriteSample, native_name, samples_of};
pub use series::{Accumulator, SERIES_MAX, Series, SeriesBook};
pub use sink::LineSink;
pub use statsd_lines::StatsdLines;
pub use statsd_options::StatsdOptions;
pub use time::TimeFormat;
