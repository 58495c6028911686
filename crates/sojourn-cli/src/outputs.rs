//! Where a run's results go.

use std::{
    fs::File,
    io::{BufWriter, IsTerminal, Write},
    path::{Path, PathBuf},
};

use crate::{errors::UsageError, runner::Format};

/// The run file of a run: as asked, else `reports/NAME-TIME.sojourn`, its folder made.
pub(crate) fn run_file(
    asked: Option<&Path>,
    name: &str,
    run_id: &str,
) -> Result<PathBuf, UsageError> {
    let path = asked.map_or_else(
        || PathBuf::from(format!("reports/{}-{run_id}.sojourn", safe(name))),
        Path::to_path_buf,
    );
    make_folder_of(&path)?;
    Ok(path)
}

/// The report of several runs together: `reports/NAME-KIND-TIME.ENDING`, its folder made.
pub(crate) fn beside_reports(name: &str, kind: &str, ending: &str) -> Result<PathBuf, UsageError> {
    let name = format!("reports/{}-{kind}-{}.{ending}", safe(name), crate::runner::run_id());
    let path = PathBuf::from(name);
    make_folder_of(&path)?;
    Ok(path)
}

/// A name that is one file's in every system.
fn safe(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    name.chars().map(|c| if is_plain(c) { c } else { '-' }).collect()
}

fn make_folder_of(path: &Path) -> Result<(), UsageError> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| {
            UsageError::new(
                format!("cannot make the folder {}: {error}", folder.display()),
                "choose another place with --output or --report",
            )
        })?;
    }
    Ok(())
}

/// Writes to standard output; a reader that has gone is no error.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ignored = out.write_all(text.as_bytes());
    let _ignored = out.flush();
}

/// The same of what is written piece by piece.
pub(crate) fn print_with(
    write: impl FnOnce(&mut dyn Write) -> Result<(), UsageError>,
) -> Result<(), UsageError> {
    let mut out = BufWriter::new(while_read(std::io::stdout().lock()));
    write(&mut out)?;
    let _ignored = out.flush();
    Ok(())
}

/// The writer until its reader has gone; then nothing.
pub(crate) fn while_read<W: Write>(out: W) -> impl Write {
    WhileRead(Some(out))
}

/// See [`while_read`].
struct WhileRead<W>(Option<W>);

impl<W: Write> Write for WhileRead<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self.0.as_mut().map_or(Ok(()), |out| out.write_all(bytes)) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => self.0 = None,
            written => written?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.as_mut().map_or(Ok(()), Write::flush)
    }
}

/// Errs when no format goes with a report's name: better before the run than after it.
pub(crate) fn check_name(path: &Path) -> Result<(), UsageError> {
    match Format::of_name(path) {
        Some(_) => Ok(()),
        None => Err(UsageError::new(
            format!("no report format goes with the name {}", path.display()),
            "end it in .html, .json or .txt",
        )),
    }
}

/// Writes a report's text.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), UsageError> {
    write_with(path, |out| put(out, text))
}

/// Writes a report piece by piece.
pub(crate) fn write_with(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), UsageError>,
) -> Result<(), UsageError> {
    let cannot = |error: UsageError| error.of(&format!("cannot write {}", path.display()));
    let file = File::create(path).map_err(|error| cannot(elsewhere(&error)))?;
    let mut out = BufWriter::new(file);
    write(&mut out).map_err(cannot)?;
    out.flush().map_err(|error| cannot(elsewhere(&error)))
}

/// Writes a text that is a piece of a report, or all of it.
pub(crate) fn put(out: &mut dyn Write, text: &str) -> Result<(), UsageError> {
    out.write_all(text.as_bytes()).map_err(|error| elsewhere(&error))
}

/// What to do when a report can't be written.
fn elsewhere(error: &std::io::Error) -> UsageError {
    let hint = "choose another place; the run file is there, `sojourn report` reads it";
    UsageError::new(error.to_string(), hint)
}

/// Whether colour is wanted: a terminal, and no NO_COLOR.
pub(crate) fn wants_colour() -> bool {
    std::io::stdout().is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
