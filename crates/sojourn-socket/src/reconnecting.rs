//! A new connection in place of one that was lost.

use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use sojourn_broker::{Backoff, BrokerError};
use sojourn_clock::now_ns;

/// Attempts to connect again, on a thread of their own, so that whoever lost the connection goes on
/// answering; dropped, no further attempt is made.
#[derive(Debug)]
pub struct Reconnecting<T> {
    lost_ns: u64,
    outcome: Receiver<Result<T, BrokerError>>,
    /// Its end tells the thread that nobody waits any more.
    _stop: Sender<()>,
}

impl<T: Send + 'static> Reconnecting<T> {
    /// Begins, for a connection lost at this instant (CLOCK_MONOTONIC nanoseconds). `attempt` must
    /// have a deadline of its own.
    pub fn start(
        lost_ns: u64,
        give_up_after: Duration,
        attempt: impl FnMut() -> Result<T, BrokerError> + Send + 'static,
    ) -> Self {
        let (done, outcome) = bounded(1);
        let (stop, stopped) = bounded(0);
        let refused = done.clone();
        let thread = std::thread::Builder::new().name("reconnect".to_owned());
        let work =
            move || run(Backoff::with_limit(lost_ns, give_up_after), attempt, &done, &stopped);
        if let Err(error) = thread.spawn(work) {
            let message = format!("no thread to connect again: {error}");
            // There is room for one, and it is the only one.
            let _sent = refused.try_send(Err(BrokerError::new(message)));
        }
        Self { lost_ns, outcome, _stop: stop }
    }

    /// When the connection was lost, CLOCK_MONOTONIC nanoseconds.
    pub fn lost_ns(&self) -> u64 {
        self.lost_ns
    }

    /// Waits up to `timeout` for what comes of it; an error when it gave up.
    pub fn wait(&self, timeout: Duration) -> Option<Result<T, BrokerError>> {
        match self.outcome.recv_timeout(timeout) {
            Ok(outcome) => Some(outcome),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                Some(Err(BrokerError::new("connecting again ended without an outcome")))
            }
        }
    }
}

fn run<T>(
    mut backoff: Backoff,
    mut attempt: impl FnMut() -> Result<T, BrokerError>,
    done: &Sender<Result<T, BrokerError>>,
    stopped: &Receiver<()>,
) {
    loop {
        let outcome = attempt();
        if let Err(error) = outcome {
            match backoff.pause(now_ns()) {
                Some(pause) => match stopped.recv_timeout(pause) {
                    Err(RecvTimeoutError::Timeout) => continue,
                    _ => return,
                },
                None => drop(done.try_send(Err(error))),
            }
        } else {
            drop(done.try_send(outcome));
        }
        return;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Backoff::GIVE_UP_AFTER;

    #[test]
    fn it_tries_until_it_succeeds_or_nobody_waits() {
        let mut attempts = 0;
        let third = Reconnecting::start(now_ns(), PATIENCE, move || {
            attempts += 1;
            if attempts < 3 { Err(BrokerError::new("away")) } else { Ok(attempts) }
        });
        assert_eq!(third.wait(Duration::from_secs(60)), Some(Ok(3)));

        let (ended, end) = bounded::<()>(0);
        let never = Reconnecting::start(now_ns(), PATIENCE, move || {
            let _held = &ended;
            Err::<(), _>(BrokerError::new("away"))
        });
        assert_eq!(never.wait(Duration::from_millis(1)), None);
        drop(never);
        let ended = end.recv_timeout(Duration::from_secs(60));
        assert_eq!(ended, Err(RecvTimeoutError::Disconnected), "its thread goes on");
    }

    #[test]
    fn after_the_time_given_it_gives_up_and_says_why() {
        let lost_ns = now_ns().saturating_sub(31_000_000_000);
        let away = Reconnecting::start(lost_ns, Duration::from_secs(30), || {
            Err::<(), _>(BrokerError::new("away"))
        });
        assert_eq!(away.wait(Duration::from_secs(60)), Some(Err(BrokerError::new("away"))));
    }
}
