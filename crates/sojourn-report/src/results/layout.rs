//! Which report is wanted, and what the layouts share.

use super::{BucketError, Buckets, Metrics, hdrplot, histogram, json, text};

/// A report's layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Quantiles for plotters of HDR histograms.
    HdrPlot,
    /// Latencies in buckets.
    Histogram,
    /// Everything, for programs.
    Json,
    /// Everything, for a terminal.
    Text,
}

/// Why there is no such report.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// It is too short to be a name.
    #[error("invalid report type: {0}")]
    Invalid(String),
    /// Nothing is called so.
    #[error("unknown report type: {0:?}")]
    Unknown(String),
    /// It was a report once.
    #[error("The plot reporter has been deprecated and succeeded by the vegeta plot command")]
    Plot,
    /// Its buckets are no such.
    #[error(transparent)]
    Buckets(#[from] BucketError),
}

impl Layout {
    /// Reads a report's name, and the buckets that go with it: those given apart, or those in the
    /// name (`hist[0,1ms]`).
    pub fn parse(name: &str, buckets: &str) -> Result<(Self, Option<Buckets>), LayoutError> {
        let some = |text| Buckets::parse(text).map(Some);
        match name {
            "text" => Ok((Self::Text, None)),
            "json" if buckets.is_empty() => Ok((Self::Json, None)),
            "json" => Ok((Self::Json, some(buckets)?)),
            "hdrplot" => Ok((Self::HdrPlot, None)),
            "plot" => Err(LayoutError::Plot),
            _ if name.chars().count() < 4 => Err(LayoutError::Invalid(name.to_owned())),
            _ => match name.strip_prefix("hist") {
                Some(in_name) if buckets.is_empty() => Ok((Self::Histogram, some(in_name)?)),
                Some(_) => Ok((Self::Histogram, some(buckets)?)),
                None => Err(LayoutError::Unknown(name.to_owned())),
            },
        }
    }

    /// Prints the figures so far, the last line with its end.
    pub fn print(self, metrics: &mut Metrics) -> String {
        match self {
            Self::HdrPlot => hdrplot::print(metrics),
            Self::Histogram => metrics.buckets().map(histogram::print).unwrap_or_default(),
            Self::Json => json::print(&metrics.figures()),
            Self::Text => text::print(&metrics.figures()),
        }
    }
}

/// Lines of cells, each but the last as wide as the widest of its column and two spaces.
pub(super) fn columns<const N: usize>(rows: &[[String; N]]) -> impl Iterator<Item = String> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: [usize; N] = std::array::from_fn(|column| match column {
        _ if column + 1 == N => 0,
        _ => width(column).unwrap_or(0) + 2,
    });
    rows.iter().map(move |row| {
        row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_or_refused_in_vegetas_words() {
        let layout = |name, buckets| Layout::parse(name, buckets).map(|(layout, _)| layout);
        assert_eq!(layout("text", "junk"), Ok(Layout::Text));
        assert_eq!(layout("json", ""), Ok(Layout::Json));
        assert_eq!(layout("hdrplot", ""), Ok(Layout::HdrPlot));
        assert_eq!(layout("hist[0,1ms]", ""), Ok(Layout::Histogram));
        assert_eq!(layout("histogram", "[1ms]"), Ok(Layout::Histogram));
        for (name, expected) in [
            ("foo", "invalid report type: foo"),
            ("foobar", "unknown report type: \"foobar\""),
            ("json[0,1ms]", "unknown report type: \"json[0,1ms]\""),
            ("hdrp", "unknown report type: \"hdrp\""),
            ("hist", "bad buckets: ''"),
            ("hist[1ms", "bad buckets: [1ms"),
            (
                "plot",
                "The plot reporter has been deprecated and succeeded by the vegeta plot command",
            ),
        ] {
            assert_eq!(layout(name, "").map_err(|error| error.to_string()), Err(expected.into()));
        }
        let (_, buckets) = Layout::parse("hist[1s]", "[1ms]").unwrap();
        assert_eq!(buckets.unwrap().iter().nth(1), Some((1_000_000, 0)));
    }
}
