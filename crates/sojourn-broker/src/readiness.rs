//! What came of a publisher's first attempt to connect, told by its thread to whoever waits for it.

use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use crate::BrokerError;

/// Connectors give up their first attempt sooner, in words of their own.
const PATIENCE: Duration = Duration::from_secs(30);

/// The waiting end.
#[derive(Debug)]
pub struct Readiness {
    heard: Receiver<Result<(), BrokerError>>,
    known: Option<Result<(), BrokerError>>,
}

/// The thread's end. What is told first counts; all else is passed over.
#[derive(Clone, Debug)]
pub struct FirstAttempt(Sender<Result<(), BrokerError>>);

impl Readiness {
    /// Both ends.
    pub fn new() -> (Self, FirstAttempt) {
        let (told, heard) = bounded(1);
        (Self { heard, known: None }, FirstAttempt(told))
    }

    /// Waits for the first attempt. Asked again it says the same.
    ///
    /// # Errors
    /// The attempt has failed, or there was none.
    pub fn wait(&mut self) -> Result<(), BrokerError> {
        let heard = &self.heard;
        let known = self.known.get_or_insert_with(|| {
            heard.recv_timeout(PATIENCE).unwrap_or_else(|error| {
                Err(BrokerError::new(match error {
                    RecvTimeoutError::Timeout => "the publisher does not connect",
                    RecvTimeoutError::Disconnected => "the publisher has ended",
                }))
            })
        });
        known.clone()
    }
}

impl FirstAttempt {
    /// What came of it.
    pub fn tell(&self, outcome: Result<(), BrokerError>) {
        // It is full from the first word on, and closed where nobody waits.
        let _later = self.0.try_send(outcome);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_counts_and_stays() {
        let (mut readiness, attempt) = Readiness::new();
        attempt.tell(Err(BrokerError::new("refused")));
        attempt.tell(Ok(()));
        for _ in 0..2 {
            assert_eq!(readiness.wait().unwrap_err().message, "refused");
            attempt.tell(Ok(()));
        }
        let (mut readiness, attempt) = Readiness::new();
        drop(attempt);
        assert_eq!(readiness.wait().unwrap_err().message, "the publisher has ended");
    }
}
