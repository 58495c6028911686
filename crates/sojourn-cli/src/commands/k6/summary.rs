//! What is told at the end.

use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

use serde_json::Value;
use sojourn_k6::flags::{Settings, SummaryMode};
use sojourn_k6::options::Options;
use sojourn_k6::summary::{
    self, Identity, Mode, PageOf, Source, Terminal, TimeUnit, TrendStat, legacy_text, machine, text,
};
use sojourn_vu::Ended;

use super::script::Failed;
use super::timeline::Timeline;
use super::written;

/// How figures are shown.
pub(super) struct Look {
    stats: Vec<TrendStat>,
    unit: Option<TimeUnit>,
    is_coloured: bool,
    /// The script's text, for the summary that has it.
    script: Option<String>,
    /// Files are written below the working folder only, and folders made for them.
    is_below: bool,
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
        let unit = TimeUnit::parse(unit).map_err(Failed::config)?;
        Ok(Self { stats, unit, is_coloured, script: None, is_below: false })
    }

    /// The same where only what is below the working folder is fetched.
    pub(super) fn below(self, is_below: bool) -> Self {
        Self { is_below, ..self }
    }

    /// The same with the script's text.
    pub(super) fn of(self, script: Option<String>) -> Self {
        Self { script, ..self }
    }

    /// Writes a file of `handleSummary`.
    fn write(&self, path: &str, content: &[u8]) -> io::Result<()> {
        if self.is_below {
            let path = Path::new(path);
            if !written::is_below(path) {
                return Err(io::Error::other("it is not below the folder that is fetched"));
            }
            written::make_folder_of(path)?;
        }
        fs::write(path, content)
    }

    pub(super) fn source<'a>(&'a self, ended: &'a Ended) -> Source<'a> {
        Source {
            registry: &ended.registry,
            totals: &ended.totals,
            thresholds: &ended.thresholds,
            elapsed_ns: ended.elapsed_ns,
            trend_stats: &self.stats,
            time_unit: self.unit,
            generator: Some(&ended.generator),
        }
    }
}

/// What `handleSummary` gets.
pub(super) fn data(ended: &Ended, look: &Look, settings: &Settings) -> Value {
    let source = look.source(ended);
    if settings.new_machine_readable_summary {
        return machine(&source, identity(&jiff::Timestamp::now().to_string(), look));
    }
    let terminal = Terminal {
        is_stdout: io::stdout().is_terminal(),
        is_stderr: io::stderr().is_terminal(),
        no_colour: settings.no_color,
    };
    let setup_data = ended.setup_data.as_deref();
    let setup_data = setup_data.and_then(|json| serde_json::from_str(json).ok());
    summary::data(&source, terminal, setup_data)
}

fn identity<'a>(generated_at: &'a str, look: &'a Look) -> Identity<'a> {
    let version = concat!("sojourn-", env!("CARGO_PKG_VERSION"));
    Identity { generated_at, version, script: look.script.as_deref() }
}

/// Writes the file of `--summary-export`.
pub(super) fn export(ended: &Ended, look: &Look, settings: &Settings) -> io::Result<()> {
    let Some(path) = &settings.summary_export else { return Ok(()) };
    let source = look.source(ended);
    let value = if settings.new_machine_readable_summary {
        machine(&source, identity(&jiff::Timestamp::now().to_string(), look))
    } else {
        summary::export(&source)
    };
    fs::write(path, format!("{value:#}"))
}

/// What the page of a dashboard's `export` needs beside the summary.
pub(super) struct Page<'a> {
    /// How it went; `None` where no page is asked for.
    pub(super) timeline: Option<&'a Timeline>,
    /// The script.
    pub(super) name: &'a str,
}

impl Page<'_> {
    /// Writes it where it is asked for. The error names the file.
    pub(super) fn write(
        &self,
        ended: &Ended,
        settings: &Settings,
        look: &Look,
    ) -> Result<(), String> {
        let path = settings.dashboard.as_ref().and_then(|asked| asked.export.as_ref());
        let (Some(path), Some(timeline)) = (path, self.timeline) else { return Ok(()) };
        let outcome = ended.reason.as_deref().unwrap_or("passed");
        let of = PageOf { name: self.name, outcome, moments: timeline.moments() };
        fs::write(path, summary::page(&look.source(ended), &of))
            .map_err(|error| format!("the dashboard's report {path}: {error}"))?;
        eprintln!("report    {path}");
        Ok(())
    }
}

/// Prints or writes the summary; what could not be written, a text for each file.
pub(super) fn tell(ended: &Ended, settings: &Settings, look: &Look) -> io::Result<Vec<String>> {
    let mut problems = Vec::new();
    let mut out = io::stdout().lock();
    match &ended.summary {
        Some(files) => {
            for (name, content) in files {
                match name.as_str() {
                    "stdout" => out.write_all(content)?,
                    "stderr" => io::stderr().write_all(content)?,
                    path => {
                        if let Err(error) = look.write(path, content) {
                            let reason = reason(&error);
                            problems
                                .push(format!("could not open '{path}': open {path}: {reason}"));
                        }
                    }
                }
            }
        }
        None => {
            let source = look.source(ended);
            let text = match settings.summary_mode {
                SummaryMode::Compact => text(&source, Mode::Compact, look.is_coloured),
                SummaryMode::Full => text(&source, Mode::Full, look.is_coloured),
                SummaryMode::Legacy => legacy_text(&source, look.is_coloured),
                SummaryMode::Disabled => String::new(),
            };
            out.write_all(text.as_bytes())?;
        }
    }
    out.flush()?;
    Ok(problems)
}

/// Why a file can't be written, in the system's own words.
fn reason(error: &io::Error) -> String {
    let text = error.to_string().to_lowercase();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}
