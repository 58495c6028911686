//! Where files and variables of a run come from: this machine, or what a coordinator sent along.

use std::fs::File;
#[cfg(feature = "script")]
use std::io::Cursor;
use std::io::{self, Read, Write};
use std::os::fd::IntoRawFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{MemfdFlags, memfd_create};
use sojourn_engine::{Joined, Parcel};

use crate::errors::UsageError;

/// Most bytes of all files that are sent along: each generator has them in memory.
const SENT_MAX: usize = 200_000_000;

/// What standard input is called among the files that are sent along.
pub(crate) const STANDARD_INPUT: &str = "/dev/stdin";

/// Where the files and variables are that a plan and its work are made of.
#[derive(Debug)]
pub(crate) enum Shelf {
    /// On this machine.
    Here,
    /// On this machine, and what is asked for is noted, for generators elsewhere.
    Noted(Mutex<Parcel>),
    /// In what a coordinator sent along, and nowhere else.
    Sent(Arc<Parcel>),
}

impl Shelf {
    /// Notes what is asked for.
    pub(crate) fn noting() -> Self {
        Self::Noted(Mutex::default())
    }

    /// That of a process which makes load for another one's run.
    pub(crate) fn of(joined: &Joined) -> Self {
        joined.parcel().map_or(Self::Here, |parcel| Self::Sent(Arc::clone(parcel)))
    }

    /// Whether the run has generators elsewhere.
    #[cfg(feature = "script")]
    pub(crate) fn is_sent(&self) -> bool {
        !matches!(self, Self::Here)
    }

    /// A file's content.
    pub(crate) fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let name = path.to_string_lossy();
        match self {
            Self::Here => std::fs::read(path),
            Self::Noted(_) => {
                let content = std::fs::read(path)?;
                self.note(&name, &content)?;
                Ok(content)
            }
            Self::Sent(parcel) => parcel.files.get(&*name).cloned().ok_or_else(|| {
                io::Error::new(io::ErrorKind::NotFound, "the coordinator did not send it along")
            }),
        }
    }

    /// Notes what a file has, where that is wanted; errs where all together is too much.
    fn note(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let Self::Noted(parcel) = self else { return Ok(()) };
        let mut parcel = parcel.lock().unwrap_or_else(PoisonError::into_inner);
        parcel.files.insert(name.to_owned(), content.to_vec());
        let bytes = parcel.files.values().map(Vec::len).sum::<usize>();
        if bytes > SENT_MAX {
            return Err(io::Error::other(format!(
                "with it the files of this run come to {bytes} bytes, and generators in other \
                 processes are sent at most {SENT_MAX}"
            )));
        }
        Ok(())
    }

    /// Adds what was made of files here, under the name by which it is read elsewhere; errs where
    /// all together is too much.
    #[cfg(feature = "script")]
    pub(crate) fn put(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        self.note(&path.to_string_lossy(), content)
    }

    /// Everything on standard input.
    pub(crate) fn read_standard_input(&self) -> io::Result<Vec<u8>> {
        match self {
            Self::Sent(_) => self.read(Path::new(STANDARD_INPUT)),
            _ => {
                let mut content = Vec::new();
                io::stdin().lock().read_to_end(&mut content)?;
                self.note(STANDARD_INPUT, &content)?;
                Ok(content)
            }
        }
    }

    /// A file's text.
    pub(crate) fn read_text(&self, path: &Path) -> io::Result<String> {
        let text = String::from_utf8(self.read(path)?);
        text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is no UTF-8 text"))
    }

    /// A file's content piece by piece.
    #[cfg(feature = "script")]
    pub(crate) fn open(&self, path: &Path) -> io::Result<Box<dyn Read>> {
        match self {
            Self::Here => Ok(Box::new(File::open(path)?)),
            _ => Ok(Box::new(Cursor::new(self.read(path)?))),
        }
    }

    /// An environment variable.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        match self {
            Self::Here => std::env::var(name).ok(),
            Self::Noted(parcel) => {
                let value = std::env::var(name).ok();
                let mut parcel = parcel.lock().unwrap_or_else(PoisonError::into_inner);
                parcel.variables.insert(name.to_owned(), value.clone());
                value
            }
            Self::Sent(parcel) => parcel.variables.get(name).cloned().flatten(),
        }
    }

    /// A path by which this process can open a file: its own, or that of a memory file with what
    /// was sent along. That one is there as long as the process is.
    pub(crate) fn path_of(&self, path: &Path) -> Result<PathBuf, UsageError> {
        let content = match self {
            Self::Here => return Ok(path.to_owned()),
            _ => self.read(path),
        };
        let held = content.and_then(|content| {
            if matches!(self, Self::Noted(_)) {
                return Ok(path.to_owned());
            }
            let mut file = File::from(memfd_create("sojourn-sent", MemfdFlags::CLOEXEC)?);
            file.write_all(&content)?;
            Ok(PathBuf::from(format!("/proc/self/fd/{}", file.into_raw_fd())))
        });
        held.map_err(|error| UsageError::unreadable(path, &error, "give a file that is there"))
    }

    /// What was asked for.
    pub(crate) fn into_parcel(self) -> Arc<Parcel> {
        match self {
            Self::Here => Arc::default(),
            Self::Noted(parcel) => {
                Arc::new(parcel.into_inner().unwrap_or_else(PoisonError::into_inner))
            }
            Self::Sent(parcel) => parcel,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_here_can_be_read_elsewhere_and_nothing_else() {
        let path = std::env::temp_dir().join(format!("sojourn-shelf-{}", std::process::id()));
        std::fs::write(&path, "content").unwrap();
        let here = Shelf::noting();
        assert_eq!(here.read_text(&path).unwrap(), "content");
        assert_eq!(here.path_of(&path).unwrap(), path);
        let home = here.variable("PATH");
        assert_eq!(here.variable("SOJOURN_NO_SUCH_VARIABLE"), None);
        std::fs::remove_file(&path).unwrap();
        let there = Shelf::Sent(here.into_parcel());
        assert_eq!(there.read(&path).unwrap(), b"content");
        assert_eq!((there.variable("PATH"), there.variable("HOME")), (home, None));
        let held = there.path_of(&path).unwrap();
        assert_eq!(std::fs::read_to_string(held).unwrap(), "content");
        let error = there.read(Path::new("/etc/passwd")).unwrap_err();
        assert!(error.to_string().contains("did not send it along"), "{error}");
    }
}
