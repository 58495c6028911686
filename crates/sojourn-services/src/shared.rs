//! One server for all the tests of a process.

use std::io;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Place for a server that is started when it is first asked for. Tests of one process take turns.
pub(crate) struct Shared<S>(OnceLock<Result<Mutex<S>, String>>);

impl<S> Shared<S> {
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The server, started by `start` if nobody has yet. A test that panicked with it in hand does
    /// not keep it from the others.
    ///
    /// # Errors
    /// It did not start, now or before.
    pub(crate) fn lock(
        &'static self,
        start: fn() -> io::Result<S>,
    ) -> io::Result<MutexGuard<'static, S>> {
        match self.0.get_or_init(|| start().map(Mutex::new).map_err(|error| error.to_string())) {
            Ok(shared) => Ok(shared.lock().unwrap_or_else(PoisonError::into_inner)),
            Err(error) => Err(io::Error::other(error.clone())),
        }
    }
}
