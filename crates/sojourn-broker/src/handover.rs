//! The front of a publisher whose thread does the work: messages go there through a bounded queue,
//! outcomes come back, and each message is pending in between.

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::Outcome;

/// The publisher's end. The number of pending messages bounds both channels, so that neither ever
/// fills up.
#[derive(Debug)]
pub struct Handover<Job> {
    /// Gone once the handover is closed.
    jobs: Option<Sender<Job>>,
    outcomes: Receiver<Outcome>,
    whom: &'static str,
    queue_max: usize,
    /// Messages handed over whose outcome has not been polled.
    pending: usize,
}

impl<Job> Handover<Job> {
    /// A handover of `queue_max` messages (at least one), with the thread's ends: jobs come out of
    /// the one, an outcome for each goes into the other. `whom` messages wait for, in errors.
    pub fn new(queue_max: usize, whom: &'static str) -> (Self, Receiver<Job>, Sender<Outcome>) {
        let queue_max = queue_max.max(1);
        let (jobs, taken) = bounded(queue_max);
        let (told, outcomes) = bounded(queue_max);
        (Self { jobs: Some(jobs), outcomes, whom, queue_max, pending: 0 }, taken, told)
    }

    /// Errs when as many messages are pending as may be: asked before one is made ready.
    ///
    /// # Errors
    /// The queue is full; in words for [`crate::Publisher::try_publish`].
    pub fn check_room(&self) -> Result<(), String> {
        match self.pending >= self.queue_max {
            true => Err(format!("{} messages wait for {}", self.pending, self.whom)),
            false => Ok(()),
        }
    }

    /// Hands a message over, where there is room.
    ///
    /// # Errors
    /// The thread has ended, or there was no room.
    pub fn send(&mut self, job: Job) -> Result<(), String> {
        let sent = self.jobs.as_ref().is_some_and(|jobs| jobs.try_send(job).is_ok());
        if !sent {
            return Err("the publisher has ended".to_owned());
        }
        self.pending += 1;
        Ok(())
    }

    /// [`crate::Publisher::poll`].
    pub fn poll(&mut self, outcomes: &mut Vec<Outcome>) {
        let before = outcomes.len();
        outcomes.extend(self.outcomes.try_iter());
        self.pending = self.pending.saturating_sub(outcomes.len() - before);
    }

    /// Nothing more is handed over: the thread finds its queue disconnected.
    pub fn close(&mut self) {
        self.jobs = None;
    }

    /// Messages handed over whose outcome has not been polled.
    pub fn pending(&self) -> usize {
        self.pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pending_bounds_both_channels() {
        let (mut handover, jobs, told) = Handover::new(2, "the broker");
        for token in 0..2 {
            handover.check_room().unwrap();
            handover.send(token).unwrap();
        }
        assert_eq!(handover.check_room().unwrap_err(), "2 messages wait for the broker");
        // Taken is not done.
        assert_eq!(jobs.try_recv(), Ok(0));
        assert!(handover.check_room().is_err());
        told.try_send(Outcome { token: 0, acked_ns: 7, error: None }).unwrap();
        assert!(handover.check_room().is_err());
        let mut outcomes = Vec::new();
        handover.poll(&mut outcomes);
        assert_eq!((outcomes.len(), handover.pending()), (1, 1));
        handover.check_room().unwrap();
        handover.close();
        assert!(handover.send(3).is_err());
        assert_eq!(jobs.iter().collect::<Vec<_>>(), [1]);
        drop(jobs);
        let (mut orphan, jobs, _told) = Handover::new(0, "the broker");
        drop(jobs);
        assert_eq!(orphan.send(1).unwrap_err(), "the publisher has ended");
        assert_eq!(orphan.pending(), 0);
    }
}
