//! What is told at the end.

use std::fs;
use std::io::{self, Write as _};

use sojourn_k6::flags::{Settings, SummaryMode};
use sojourn_k6::options::Options;
use sojourn_k6::summary::{Mode, Source, TimeUnit, TrendStat, text};
use sojourn_vu::Ended;

use super::script::Failed;

/// How figures are shown.
pub(super) struct Look {
    stats: Vec<TrendStat>,
    unit: Option<TimeUnit>,
    is_coloured: bool,
}

impl Look {
    pub(super) fn new(options: &Options, is_coloured: bool) -> Result<Self, Failed> {
        let stats = match &options.summary_trend_stats {
            Some(names) => {
                let parsed = names.iter().map(|name| TrendStat::parse(name));
                parsed.collect::<Result<_, _>>().map_err(Failed::config)?
            }
            None => TrendStat::defaults(),
        };
        let unit = options.summary_time_unit.as_deref().unwrap_or_default();
        Ok(Self { stats, unit: TimeUnit::parse(unit).map_err(Failed::config)?, is_coloured })
    }

    pub(super) fn source<'a>(&'a self, ended: &'a Ended) -> Source<'a> {
        Source {
            registry: &ended.registry,
            totals: &ended.totals,
            thresholds: &ended.thresholds,
            elapsed_ns: ended.elapsed_ns,
            trend_stats: &self.stats,
            time_unit: self.unit,
        }
    }
}

/// Prints or writes the summary.
pub(super) fn tell(ended: &Ended, settings: &Settings, look: &Look) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match &ended.summary {
        Some(files) => {
            for (name, content) in files {
                match name.as_str() {
                    "stdout" => out.write_all(content)?,
                    "stderr" => io::stderr().write_all(content)?,
                    path => fs::write(path, content)?,
                }
            }
        }
        None => {
            let mode = match settings.summary_mode {
                SummaryMode::Compact => Mode::Compact,
                SummaryMode::Full => Mode::Full,
                SummaryMode::Legacy => Mode::Legacy,
                SummaryMode::Disabled => return Ok(()),
            };
            out.write_all(text(&look.source(ended), mode, look.is_coloured).as_bytes())?;
        }
    }
    out.flush()
}
