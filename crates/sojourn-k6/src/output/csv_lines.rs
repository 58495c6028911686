//! The CSV output: a heading, then one line for each sample.

use jiff::tz::TimeZone;

use super::go_number;
use super::time::TimeFormat;
use crate::metrics::{Registry, Sample, SystemTags};

/// Turns samples into the lines of `--out csv`.
#[derive(Debug)]
pub struct CsvLines {
    zone: TimeZone,
    format: TimeFormat,
    /// The system tags that have a column.
    columns: Vec<&'static str>,
}

impl CsvLines {
    /// With a column for each system tag that is on; `iter` and `vu` are metadata.
    /// Local times are those of `zone`.
    pub fn new(tags: SystemTags, format: TimeFormat, zone: TimeZone) -> Self {
        let mut columns = tags.keys();
        columns.retain(|key| !matches!(*key, "iter" | "vu"));
        Self { zone, format, columns }
    }

    /// Appends the heading.
    pub fn push_heading(&self, out: &mut String) {
        out.push_str("metric_name,timestamp,metric_value");
        for column in &self.columns {
            out.push(',');
            out.push_str(column);
        }
        out.push_str(",extra_tags,metadata\n");
    }

    /// Appends the lines of samples, in their order.
    pub fn push(&self, out: &mut String, samples: &[Sample], registry: &Registry) {
        let mut joined = String::new();
        for sample in samples {
            // Ids are the registry's own.
            let Some(metric) = registry.get(sample.metric) else { continue };
            push_field(out, &metric.name);
            out.push(',');
            self.format.push(out, sample.at_ns, &self.zone);
            out.push(',');
            go_number::push_fixed(out, sample.value);
            for column in &self.columns {
                out.push(',');
                push_field(out, sample.tags.get(column).unwrap_or_default());
            }
            let extra = sample.tags.iter().filter(|(key, _)| !self.columns.contains(key));
            join(&mut joined, extra);
            out.push(',');
            push_field(out, &joined);
            join(&mut joined, sample.tags.metadata());
            out.push(',');
            push_field(out, &joined);
            out.push('\n');
        }
    }
}

/// `key=value&key=value`, nothing escaped.
fn join<'a>(joined: &mut String, pairs: impl Iterator<Item = (&'a str, &'a str)>) {
    joined.clear();
    for (key, value) in pairs {
        if !joined.is_empty() {
            joined.push('&');
        }
        joined.push_str(key);
        joined.push('=');
        joined.push_str(value);
    }
}

/// Quoted where Go's `encoding/csv` does.
fn push_field(out: &mut String, field: &str) {
    let is_plain = !field.contains([',', '"', '\r', '\n'])
        && !field.starts_with(char::is_whitespace)
        && field != "\\.";
    if is_plain {
        out.push_str(field);
    } else {
        out.push('"');
        out.push_str(&field.replace('"', "\"\""));
        out.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As k6 wrote these values.
    #[test]
    fn fields_are_quoted_where_go_quotes_them() {
        for (field, expected) in [
            ("", ""),
            ("plain é", "plain é"),
            ("\\.", "\"\\.\""),
            ("\r", "\"\r\""),
            (" lead", "\" lead\""),
            (" x,\"y\"", "\" x,\"\"y\"\"\""),
            ("a\nb", "\"a\nb\""),
        ] {
            let mut out = String::new();
            push_field(&mut out, field);
            assert_eq!(out, expected);
        }
    }
}
