//! The page of `plot`: latency over time, one series for each attack and outcome.
//!
//! Results are taken as they come, in whatever order: a missing sequence number leaves a gap and
//! nothing else. An attack is told apart by its name and by the input that it stands in.

mod downsample;
mod page;
mod series;

use sojourn_record::results::AttackResult;

use super::digest::Digest;
use crate::render::RenderError;
use series::Series;

/// Most attacks of a page: more cannot be told apart by eye.
const ATTACKS_MAX: usize = 100;

/// Most points kept in memory, 16 bytes each; above it the lowest and the highest of four
/// neighbours are kept.
const POINTS_MAX: usize = 4 << 20;

/// Points in the making of a page.
#[derive(Debug)]
pub struct Plot {
    threshold: usize,
    attacks: Vec<Attack>,
    /// Which attack the last result belonged to, which the next one mostly does too.
    last: usize,
    points: usize,
    points_max: usize,
    /// Results without a known time, which have no place.
    untimed: u64,
}

/// Why there is no page.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlotError {
    /// Too few points to keep a shape.
    #[error("threshold {0}: must be 0, for every point, or at least 3")]
    Threshold(usize),
    /// Not to be told apart by eye.
    #[error("more than {ATTACKS_MAX} attacks (by name and file): too many for one page")]
    Attacks,
}

/// The results of one attack.
#[derive(Debug)]
struct Attack {
    input: usize,
    name: Vec<u8>,
    /// The successes and the errors.
    outcomes: [Outcome; 2],
}

/// One line of the page, and its figures.
#[derive(Debug, Default)]
struct Outcome {
    series: Series,
    digest: Digest,
    max_ns: i64,
}

impl Plot {
    /// No points yet. Series above `threshold` points are thinned out; 0 is never.
    pub fn new(threshold: usize) -> Result<Self, PlotError> {
        if matches!(threshold, 1 | 2) {
            return Err(PlotError::Threshold(threshold));
        }
        Ok(Self {
            threshold,
            attacks: Vec::new(),
            last: 0,
            points: 0,
            points_max: POINTS_MAX,
            untimed: 0,
        })
    }

    /// Whether nothing was taken in.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.attacks.is_empty() && self.untimed == 0
    }

    /// Takes in a result of an input, by its number. Errs when there are too many attacks.
    pub fn add(&mut self, input: usize, result: &AttackResult<'_>) -> Result<(), PlotError> {
        if !result.timestamp.is_known() {
            self.untimed += 1;
            return Ok(());
        }
        let index = self.find(input, result.attack)?;
        let outcome = &mut self.attacks[index].outcomes[usize::from(!result.error.is_empty())];
        outcome.series.push(result.timestamp.unix_ns, result.latency_ns);
        outcome.digest.add(result.latency_ns);
        outcome.max_ns = outcome.max_ns.max(result.latency_ns);
        self.points += 1;
        if self.points >= self.points_max {
            self.thin();
        }
        Ok(())
    }

    /// The page. `inputs` are the inputs' names, by number: where attacks share a name they bear
    /// that of their input besides.
    pub fn page(mut self, title: &str, inputs: &[&str]) -> Result<String, RenderError> {
        page::page(&mut self, title, inputs)
    }

    fn find(&mut self, input: usize, name: &[u8]) -> Result<usize, PlotError> {
        let is_it = |attack: &Attack| attack.input == input && attack.name == name;
        if !self.attacks.get(self.last).is_some_and(is_it) {
            self.last = match self.attacks.iter().position(is_it) {
                Some(index) => index,
                None if self.attacks.len() >= ATTACKS_MAX => return Err(PlotError::Attacks),
                None => {
                    let outcomes = Default::default();
                    self.attacks.push(Attack { input, name: name.to_vec(), outcomes });
                    self.attacks.len() - 1
                }
            };
        }
        Ok(self.last)
    }

    fn thin(&mut self) {
        self.points = 0;
        for outcome in self.attacks.iter_mut().flat_map(|attack| &mut attack.outcomes) {
            outcome.series.thin();
            self.points += outcome.series.len();
        }
    }
}

#[cfg(test)]
mod tests;
