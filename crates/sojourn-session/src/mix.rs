//! Which session a new client takes.

/// Shares of sessions: by relative weights, or by probabilities, which are weights of sum 100.
#[derive(Clone, Debug, PartialEq)]
pub struct Mix {
    /// Sums of the shares up to each session, the last of them 1.
    cumulative: Vec<f64>,
}

/// Why shares make no mix, as a fragment.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum MixError {
    /// Nothing would ever be chosen.
    #[error("all session weights are 0")]
    AllZero,
    /// Not 100 in all.
    #[error("the session probabilities are {0} in all, not 100")]
    NotHundred(f64),
}

/// How far the sum of decimal fractions may be from 100 by rounding alone.
const ROUNDING: f64 = 1e-9;

impl Mix {
    /// By relative weights, one for each session, none below 0.
    pub fn of_weights(weights: &[f64]) -> Result<Self, MixError> {
        let sum: f64 = weights.iter().sum();
        if !(sum > 0.0 && sum.is_finite()) {
            return Err(MixError::AllZero);
        }
        let mut reached = 0.0;
        let add = |weight: &f64| {
            reached += weight;
            reached / sum
        };
        Ok(Self { cumulative: weights.iter().map(add).collect() })
    }

    /// By probabilities in percent, one for each session.
    pub fn of_probabilities(percents: &[f64]) -> Result<Self, MixError> {
        let sum: f64 = percents.iter().sum();
        if (sum - 100.0).abs() > ROUNDING {
            return Err(MixError::NotHundred(sum));
        }
        Self::of_weights(percents)
    }

    /// The mix of a single session.
    pub fn single() -> Self {
        Self { cumulative: vec![1.0] }
    }

    /// Of so many sessions this one and no other.
    pub fn only(session: usize, sessions: usize) -> Self {
        let reached = |at| if at < session { 0.0 } else { 1.0 };
        Self { cumulative: (0..sessions).map(reached).collect() }
    }

    /// The session for a draw that is uniform in [0, 1). One of share 0 is never chosen.
    pub fn pick(&self, unit: f64) -> usize {
        let at = self.cumulative.partition_point(|&reached| reached <= unit);
        // Only rounding could lead behind the last one that has a share.
        let last = self.cumulative.iter().position(|&reached| reached >= 1.0);
        at.min(last.unwrap_or_else(|| self.cumulative.len().saturating_sub(1)))
    }

    /// How many sessions there are.
    pub fn sessions(&self) -> usize {
        self.cumulative.len()
    }

    /// The share of a session, 0 to 1; 0 for one that there is not.
    pub fn share(&self, session: usize) -> f64 {
        let reached = |at: usize| self.cumulative.get(at).copied().unwrap_or(1.0);
        reached(session) - session.checked_sub(1).map_or(0.0, reached)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_relative_or_percent() {
        let mix = Mix::of_weights(&[0.0, 3.0, 1.0, 0.0]).unwrap();
        assert_eq!(
            (mix.share(0), mix.share(1), mix.share(2), mix.share(3)),
            (0.0, 0.75, 0.25, 0.0)
        );
        assert_eq!((mix.pick(0.0), mix.pick(0.7499), mix.pick(0.75), mix.pick(1.0)), (1, 1, 2, 2));
        let only = Mix::only(1, 3);
        assert_eq!((only.pick(0.0), only.pick(0.999), only.share(1)), (1, 1, 1.0));
        assert_eq!(Mix::of_weights(&[0.0]), Err(MixError::AllZero));
        assert!(Mix::of_probabilities(&[33.3, 33.3, 33.4]).is_ok());
        assert_eq!(Mix::of_probabilities(&[99.9]), Err(MixError::NotHundred(99.9)));
        assert_eq!(
            Mix::of_probabilities(&[50.0]).unwrap_err().to_string(),
            "the session probabilities are 50 in all, not 100"
        );
    }
}
