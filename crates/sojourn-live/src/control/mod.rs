//! Speaking to runs that go on: each listens on a Unix socket in a folder that only its user may
//! enter, and another process of that user lists them and asks for another rate.
//!
//! One line each way. Asked: `about`, or `rate` and a [`RateWish`] as it is written. Answered: `ok`
//! or `no`, a space, and words. Of `about` these are the run's id, a space and its name. A line has
//! at most [`LINE_MAX`] bytes and comes within [`PATIENCE`].

mod client;
mod folder;
mod server;
mod wish;

use std::{
    io::{self, BufRead, BufReader, Read},
    os::unix::net::UnixStream,
    time::Duration,
};

pub use client::{RunningRun, running};
pub use server::{ControlServer, OnWish};
pub use wish::RateWish;

/// Most bytes of a line.
const LINE_MAX: u64 = 512;
/// How long a line may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// Reads a line, without its end.
fn read_line(stream: &UnixStream) -> io::Result<String> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = Vec::new();
    BufReader::new(stream.take(LINE_MAX)).read_until(b'\n', &mut line)?;
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what);
    if line.pop() != Some(b'\n') {
        return Err(wrong("a line without end"));
    }
    String::from_utf8(line).map_err(|_| wrong("no UTF-8"))
}

/// Words that fit a line.
fn one_line(words: &str) -> String {
    let mut line = String::new();
    for c in words.chars().map(|c| if c.is_control() { ' ' } else { c }) {
        if line.len() + c.len_utf8() + 8 > LINE_MAX as usize {
            break;
        }
        line.push(c);
    }
    line
}
