//! `--rehearse`: a plan at growing shares of its load, until one fails.

use std::path::{Path, PathBuf};

use sojourn_engine::Stop;
use sojourn_plan::Plan;

use crate::{
    errors::UsageError,
    report_file::ReportFile,
    runner::{self, How, RunFlags},
};

/// A share of the load: 0.1 is a tenth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share(f64);

/// Reads `10%` (or 0.1); above the whole is allowed.
pub(crate) fn share(text: &str) -> Result<Share, String> {
    let text = text.trim();
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => text.parse::<f64>(),
    };
    match number {
        Ok(share) if share > 0.0 && share <= 100.0 => Ok(Share(share)),
        _ => Err("write shares of the load such as 10%,50%,100%".to_owned()),
    }
}

impl Share {
    fn percent(self) -> f64 {
        (self.0 * 1e6).round() / 1e4
    }
}

/// Makes a run for each share, and ends with the first that does not pass: its exit code, or that
/// of the last one.
pub(crate) fn rehearse(
    plan: &Plan,
    shares: &[Share],
    flags: &RunFlags,
    stop: &Stop,
) -> Result<u8, UsageError> {
    if let Some(pair) = shares.windows(2).find(|pair| pair[1].0 <= pair[0].0) {
        return Err(UsageError::new(
            format!(
                "--rehearse: {}% does not come after {}%",
                pair[1].percent(),
                pair[0].percent()
            ),
            "name growing shares, such as 10%,50%,100%",
        ));
    }
    let plans = shares.iter().map(|share| {
        let percent = share.percent();
        let mut scaled = plan.scaled(share.0).map_err(|why| {
            let hint = "rehearse loads that have a rate or users";
            UsageError::new(format!("--rehearse {percent}%: {why}"), hint)
        })?;
        scaled.labels.push(("rehearsal".to_owned(), format!("{percent}%")));
        Ok((percent, scaled))
    });
    let plans = plans.collect::<Result<Vec<(f64, Plan)>, UsageError>>()?;
    for (place, (percent, scaled)) in plans.iter().enumerate() {
        let of = format!("rehearsal {} of {}: {percent}% of the load", place + 1, plans.len());
        eprintln!("{of}");
        let is_last = place + 1 == plans.len();
        let own = if is_last { flags.clone() } else { apart(flags, *percent) };
        let made = runner::make(scaled, &own, How { of, ..How::default() }, stop)?;
        runner::say_where(&made);
        if made.code != 0 || is_last {
            if !is_last {
                eprintln!("{percent}% of the load did not pass: nothing more is tried");
            }
            return Ok(made.code);
        }
    }
    Ok(0)
}

/// The flags of a run before the last, whose files have names of their own.
fn apart(flags: &RunFlags, percent: f64) -> RunFlags {
    let mut own = flags.clone();
    own.output = flags.output.as_deref().map(|path| named(path, percent));
    let renamed = |asked| ReportFile::renamed(asked, |path| named(path, percent));
    own.report = flags.report.iter().map(|asked| renamed(asked)).collect();
    own.out = flags.out.apart(|path| named(path, percent));
    own
}

/// `run.html` becomes `run-10.html`.
fn named(path: &Path, percent: f64) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let ending = path.extension().map_or_else(String::new, |it| format!(".{}", it.display()));
    path.with_file_name(format!("{stem}-{percent}{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_above_zero_and_names_tell_them_apart() {
        assert_eq!(share("10%"), Ok(Share(0.1)));
        assert_eq!(share(" 0.5 "), Ok(Share(0.5)));
        assert_eq!(share("150%"), Ok(Share(1.5)));
        for wrong in ["", "0%", "-5%", "ten", "nan", "inf"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
        assert_eq!(named(Path::new("a/run.html"), 12.5), Path::new("a/run-12.5.html"));
        assert_eq!(named(Path::new("run"), 10.0), Path::new("run-10"));
    }
}
