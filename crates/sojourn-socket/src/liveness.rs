//! Whether the other side is still there.

/// So long nothing comes before it is asked.
const SILENCE_NS: u64 = 900_000_000;
/// So long its answer may take.
const PATIENCE_NS: u64 = 900_000_000;
/// After a break like this we were away ourselves, so that its answer may still be on its way.
const AWAY_NS: u64 = 400_000_000;

/// When to send a ping, and when a connection is dead that nobody closed: after 1.8 s without a
/// byte. Whoever is away himself meanwhile gives the other side one more chance.
#[derive(Clone, Debug)]
pub struct Liveness {
    heard_ns: u64,
    asked_ns: Option<u64>,
    looked_ns: u64,
    is_extended: bool,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Nothing yet.
    Nothing,
    /// A ping is to be sent now; it is not asked for again.
    Ping,
    /// It does not answer: the connection is lost.
    Lost,
}

impl Liveness {
    /// A connection that has just been made.
    pub fn new(now_ns: u64) -> Self {
        Self { heard_ns: now_ns, asked_ns: None, looked_ns: now_ns, is_extended: false }
    }

    /// Something has come, whatever it is.
    pub fn heard(&mut self, now_ns: u64) {
        *self = Self::new(now_ns);
    }

    /// When something came last, CLOCK_MONOTONIC nanoseconds; at first, when it was made.
    pub fn heard_ns(&self) -> u64 {
        self.heard_ns
    }

    /// To be asked after everything has been read that is there.
    pub fn due(&mut self, now_ns: u64) -> Due {
        let was_away = now_ns.saturating_sub(self.looked_ns) > AWAY_NS;
        self.looked_ns = now_ns;
        match self.asked_ns {
            None if now_ns >= self.next_ns() => {
                self.asked_ns = Some(now_ns);
                Due::Ping
            }
            Some(_) if now_ns >= self.next_ns() && was_away && !self.is_extended => {
                self.is_extended = true;
                self.asked_ns = Some(now_ns);
                Due::Nothing
            }
            Some(_) if now_ns >= self.next_ns() => Due::Lost,
            _ => Due::Nothing,
        }
    }

    /// When something becomes due if nothing comes, CLOCK_MONOTONIC nanoseconds.
    pub fn next_ns(&self) -> u64 {
        match self.asked_ns {
            None => self.heard_ns + SILENCE_NS,
            Some(asked_ns) => asked_ns + PATIENCE_NS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn silence_is_asked_about_once_and_then_ends_the_connection() {
        let mut liveness = Liveness::new(0);
        let mut seen = Vec::new();
        for now_ns in (0..=1_800).step_by(100) {
            match liveness.due(now_ns * MS) {
                Due::Nothing => {}
                due => seen.push((now_ns, due)),
            }
        }
        assert_eq!(seen, [(900, Due::Ping), (1_800, Due::Lost)]);
        liveness.heard(1_800 * MS);
        assert_eq!(liveness.due(1_900 * MS), Due::Nothing);
    }

    #[test]
    fn whoever_was_away_himself_gives_one_more_chance() {
        let mut liveness = Liveness::new(0);
        assert_eq!(liveness.due(900 * MS), Due::Ping);
        assert_eq!(liveness.due(5_000 * MS), Due::Nothing);
        assert_eq!(liveness.due(5_300 * MS), Due::Nothing);
        assert_eq!(liveness.due(5_900 * MS), Due::Lost);
        let mut answered = Liveness::new(0);
        assert_eq!(answered.due(900 * MS), Due::Ping);
        answered.heard(5_000 * MS);
        assert_eq!(answered.due(5_100 * MS), Due::Nothing);
    }
}
