//! Why an HTTP client could not be made, with what helps against that cause.

use std::io::{Error, ErrorKind};

use rustix::io::Errno;

use crate::RunError;

/// The run's error for a client's.
pub(crate) fn client_error(error: &Error) -> RunError {
    RunError {
        message: format!("cannot make an HTTP client: {error}"),
        hint: hint(error).map(str::to_owned),
    }
}

fn hint(error: &Error) -> Option<&'static str> {
    match Errno::from_io_error(error) {
        Some(Errno::MFILE) => Some("allow this process more open files (ulimit -n)"),
        Some(Errno::NFILE) => Some("this machine has no open files left (sysctl fs.file-max)"),
        Some(Errno::PERM | Errno::ACCESS | Errno::NOSYS) => {
            Some("io_uring is not allowed here: leave --io at auto, or say epoll")
        }
        Some(Errno::NOMEM) => Some("allow more locked memory (ulimit -l), or say --io epoll"),
        Some(_) => None,
        None => match error.kind() {
            ErrorKind::InvalidData => Some("mend the file, or name another"),
            ErrorKind::Unsupported => Some("leave --io at auto, or say epoll"),
            // The message itself says what is wrong with which flag's value.
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_is_of_the_cause() {
        let os = |errno: Errno| Error::from_raw_os_error(errno.raw_os_error());
        let hint_of = |error: Error| client_error(&error).hint.unwrap_or_default();
        assert!(hint_of(os(Errno::MFILE)).contains("ulimit -n"));
        assert!(hint_of(os(Errno::PERM)).contains("--io"));
        assert!(hint_of(os(Errno::NOMEM)).contains("ulimit -l"));
        let file = hint_of(Error::new(ErrorKind::InvalidData, "certificates of a.pem: none"));
        assert!(file.contains("file") && !file.contains("ulimit"), "{file}");
        assert_eq!(hint_of(Error::new(ErrorKind::InvalidInput, "unix socket: too long")), "");
        let address = Error::new(ErrorKind::AddrNotAvailable, "local address 9.9.9.9: not here");
        assert_eq!(hint_of(address), "");
    }
}
