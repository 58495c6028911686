//! Files with results, and `stdin`.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    os::fd::AsFd,
    path::Path,
    rc::Rc,
};

use sojourn_record::results::{Detail, MergedReader, ResultReader, ResultsError};

use super::interrupt::{Interrupt, Interruptible};
use crate::errors::UsageError;

/// Results of all inputs, and what may end them early.
pub(crate) struct Inputs {
    pub(crate) reader: MergedReader,
    interrupt: Rc<Interrupt>,
}

/// Opens files, or standard input where there are none; `stdin` is a word for it. A tick is given
/// every so many nanoseconds; 0 is never.
pub(crate) fn open(
    files: &[OsString],
    detail: Detail,
    every_ns: u64,
) -> Result<Inputs, UsageError> {
    let interrupt = Rc::new(Interrupt::new(every_ns));
    let stdin = [OsString::from("stdin")];
    let files = if files.is_empty() { &stdin } else { files };
    let mut readers = Vec::with_capacity(files.len());
    for name in files {
        let file = open_one(name)?;
        let input = Box::new(Interruptible::new(file, Rc::clone(&interrupt)));
        readers.push(ResultReader::new(name.to_string_lossy(), input, detail));
    }
    Ok(Inputs { reader: MergedReader::new(readers), interrupt })
}

fn open_one(name: &OsStr) -> Result<File, UsageError> {
    let file = if name == "stdin" {
        std::io::stdin().as_fd().try_clone_to_owned().map(File::from)
    } else {
        File::open(Path::new(name))
    };
    file.map_err(|error| UsageError::file("open", name, &error))
}

impl Inputs {
    /// What was wrong with the inputs, once they are read; not that they end in the middle of a
    /// record because they were interrupted.
    pub(crate) fn failures(&self) -> Vec<&ResultsError> {
        let is_interrupted = self.interrupt.has_come();
        let is_failure = |error: &&ResultsError| {
            let is_end =
                matches!(error, ResultsError::CutOff { .. } | ResultsError::Undetected { .. });
            !(is_interrupted && is_end)
        };
        self.reader.errors().iter().filter(is_failure).collect()
    }
}
