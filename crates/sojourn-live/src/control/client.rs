//! The side of whoever asks.

use std::{
    fs,
    io::{self, Write},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
};

use super::{RateWish, folder::folder, read_line};

/// Most sockets that are looked at.
const RUNS_MAX: usize = 1_000;

/// A run of this user that goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningRun {
    /// Its id.
    pub run_id: String,
    /// Its plan's name.
    pub name: String,
    path: PathBuf,
}

/// The runs that go on, by id. Sockets that nobody listens on any more are removed.
pub fn running() -> io::Result<Vec<RunningRun>> {
    let mut runs = Vec::new();
    for entry in fs::read_dir(folder()?)?.take(RUNS_MAX) {
        let path = entry?.path();
        if path.extension().is_none_or(|ending| ending != "sock") {
            continue;
        }
        match ask(&path, "about") {
            Ok(Ok(about)) => {
                let (run_id, name) = about.split_once(' ').unwrap_or((about.as_str(), ""));
                let (run_id, name) = (run_id.to_owned(), name.to_owned());
                runs.push(RunningRun { run_id, name, path });
            }
            // Left by a run that was killed.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                let _ignored = fs::remove_file(&path);
            }
            _ => {}
        }
    }
    runs.sort_by(|one, other| one.run_id.cmp(&other.run_id));
    Ok(runs)
}

impl RunningRun {
    /// Asks for another rate: what came of it in words, or why it can't be. Errs when the run has
    /// ended meanwhile.
    pub fn ask_rate(&self, wish: RateWish) -> io::Result<Result<String, String>> {
        ask(&self.path, &format!("rate {wish}"))
    }
}

fn ask(path: &Path, line: &str) -> io::Result<Result<String, String>> {
    let mut stream = UnixStream::connect(path)?;
    stream.write_all(format!("{line}\n").as_bytes())?;
    let answer = read_line(&stream)?;
    match answer.split_once(' ') {
        Some(("ok", words)) => Ok(Ok(words.to_owned())),
        Some(("no", words)) => Ok(Err(words.to_owned())),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "no answer that can be read")),
    }
}
