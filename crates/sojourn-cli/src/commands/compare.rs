//! `sojourn compare`: two runs side by side.

use std::path::{Path, PathBuf};

use sojourn_analysis::compare::Finding;
use sojourn_engine::{EXIT_FAILED, EXIT_VOID};
use sojourn_record::RunFile;
use sojourn_report::compare::Comparison;

use crate::{errors::UsageError, outputs, runner::Format};

/// Where kept runs lie, below the working folder.
const BASELINES: &str = ".sojourn/baselines";

/// Compare two runs: per journey, hop and step, what changed and how sure that is
///
/// A change is called one only where its whole interval lies on one side of none and it is more
/// than the tolerance. All intervals of a comparison hold together with 95 % confidence.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn compare before.sojourn after.sojourn
  sojourn compare before.sojourn after.sojourn --tolerance 10% --output compare.html
  sojourn compare --keep main nightly.sojourn          # keep a run under a name
  sojourn compare --baseline main pr-1234.sojourn      # and compare with it later

Exit codes: 0 nothing worse was seen, 99 something is worse by more than the tolerance, 3 a run is
void or was cut off, 2 wrong usage.")]
pub(crate) struct Compare {
    /// Run files: the one before, the one after
    #[arg(value_name = "FILE", required = true, num_args = 1..=2)]
    files: Vec<PathBuf>,
    /// Changes up to this are not called a difference: 5%, 0.05
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "5%")]
    tolerance: f64,
    /// Compare with the run that was kept under this name
    #[arg(long, value_name = "NAME", value_parser = name)]
    baseline: Option<String>,
    /// Keep the last run named here under this name, in .sojourn/baselines
    #[arg(long, value_name = "NAME", value_parser = name)]
    keep: Option<String>,
    /// What goes to standard output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Write it to a file: the ending chooses the format: .html, .json, .txt
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Compares.
pub(crate) fn run(command: &Compare) -> Result<u8, UsageError> {
    if let Some(output) = &command.output {
        outputs::check_name(output)?;
    }
    let last = command.files.last().map_or_else(PathBuf::new, Clone::clone);
    let code = match pair(command)? {
        Some([before, after]) => compare(command, &before, &after)?,
        None => 0,
    };
    if let Some(name) = &command.keep {
        keep(&last, name)?;
    }
    Ok(code)
}

/// The two run files; `None` when one is only to be kept.
fn pair(command: &Compare) -> Result<Option<[PathBuf; 2]>, UsageError> {
    match (command.files.as_slice(), &command.baseline) {
        ([before, after], None) => Ok(Some([before.clone(), after.clone()])),
        ([after], Some(name)) => {
            let before = kept(name);
            if !before.is_file() {
                return Err(UsageError::new(
                    format!(
                        "no run is kept under the name {name}: {} is missing",
                        before.display()
                    ),
                    format!("`sojourn compare --keep {name} RUN.sojourn` keeps one"),
                ));
            }
            Ok(Some([before, after.clone()]))
        }
        ([_], None) if command.keep.is_some() => Ok(None),
        ([_], None) => Err(UsageError::new(
            "a second run is missing",
            "give two run files, or one and --baseline NAME",
        )),
        _ => Err(UsageError::new(
            "a baseline and two run files are three runs",
            "give one run file with --baseline",
        )),
    }
}

fn compare(command: &Compare, before: &Path, after: &Path) -> Result<u8, UsageError> {
    let (first, second) = (RunFile::open(before)?, RunFile::open(after)?);
    let comparison = Comparison::of(&first, &second, command.tolerance).map_err(|error| {
        UsageError::new(error.to_string(), "compare two runs of the same journey file")
    })?;
    match &command.output {
        Some(path) => {
            // The name was checked before anything was read.
            let format = Format::of_name(path).unwrap_or(Format::Text);
            let text = rendered(&comparison, format, false)?;
            std::fs::write(path, text).map_err(|error| {
                UsageError::new(
                    format!("cannot write {}: {error}", path.display()),
                    "choose another place with --output",
                )
            })?;
            eprintln!("{}: {}", path.display(), comparison.sentence());
        }
        None => {
            let colour = outputs::wants_colour();
            outputs::print(&rendered(&comparison, command.format, colour)?);
        }
    }
    Ok(match comparison.finding {
        _ if comparison.is_void => EXIT_VOID,
        Finding::Worse => EXIT_FAILED,
        Finding::Better | Finding::NoDifference => 0,
    })
}

fn rendered(comparison: &Comparison, format: Format, colour: bool) -> Result<String, UsageError> {
    Ok(match format {
        Format::Text => comparison.text(colour),
        Format::Json => comparison.json()?,
        Format::Html => comparison.html()?,
    })
}

/// Keeps a copy of a run file under a name, over the one of before.
fn keep(run: &Path, name: &str) -> Result<(), UsageError> {
    // Only what can be compared later is worth keeping.
    RunFile::open(run)?;
    let place = kept(name);
    let copied = std::fs::create_dir_all(BASELINES).and_then(|()| std::fs::copy(run, &place));
    copied.map_err(|error| {
        UsageError::new(
            format!("cannot keep {} as {}: {error}", run.display(), place.display()),
            "the working folder must be writable",
        )
    })?;
    eprintln!("kept as {}", place.display());
    Ok(())
}

fn kept(name: &str) -> PathBuf {
    Path::new(BASELINES).join(format!("{name}.sojourn"))
}

/// A name that is a file's: nothing that leads elsewhere.
fn name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if text.is_empty() || text.starts_with('.') || !text.chars().all(is_plain) {
        return Err("a name has letters, digits, `-`, `_` and `.`".to_owned());
    }
    Ok(text.to_owned())
}

/// `5%` or `0.05`.
fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(number) => (number.trim(), 100.0),
        None => (text, 1.0),
    };
    match number.parse::<f64>() {
        Ok(share) if share.is_finite() && share >= 0.0 => Ok(share / unit),
        _ => Err("a share is written as 5% or 0.05".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_names() {
        assert_eq!(share("5%"), Ok(0.05));
        assert_eq!(share("0.1"), Ok(0.1));
        assert!(share("-1%").is_err() && share("much").is_err() && share("NaN").is_err());
        assert!(name("main-2.0").is_ok());
        assert!(name("../x").is_err() && name(".x").is_err() && name("").is_err());
    }
}
