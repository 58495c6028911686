//! The search: one observation in, the next step out.

use serde::Serialize;

use super::{
    AtLeast, End, Growth, Judgement, Limit, Observation, Purpose, Tried,
    judge::{Rule, judge},
    length::{self, Needs},
};

/// Steps of a search, at most.
const STEPS_MAX: usize = 60;
/// How often a step is made longer.
const LONGER_MAX: u32 = 3;
/// Tolerated growth while rates are far apart.
const COARSE: f64 = 0.1;
/// How far below the first rate the search goes before it gives up.
const FLOOR: f64 = 1.0 / 16.0;
/// How near the highest rate that held comes to one at which runs were void.
const NEAR_A_WALL: f64 = 1.1;

/// What a search is to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The first rate, arrivals per second.
    pub from_per_s: f64,
    /// The highest rate to try.
    pub to_per_s: f64,
    /// Half the distance between what holds and what fails, as a share of the capacity.
    pub precision: f64,
    /// The steady phase of every step, where it is not to follow from what was seen, nanoseconds.
    pub step_ns: Option<u64>,
    /// Journeys that a step needs for its thresholds.
    pub samples: u64,
    /// Warm-up of the first step, nanoseconds.
    pub warmup_ns: u64,
}

impl Settings {
    /// The usual ones.
    pub fn new(from_per_s: f64) -> Self {
        Self {
            from_per_s,
            to_per_s: 1e6,
            precision: 0.025,
            step_ns: None,
            samples: 0,
            warmup_ns: 1_000_000_000,
        }
    }
}

/// A step of load to be made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Arrivals per second.
    pub rate_per_s: f64,
    /// Load before the steady phase, nanoseconds.
    pub warmup_ns: u64,
    /// Length of the steady phase, nanoseconds.
    pub steady_ns: u64,
    /// Growth of the backlog up to this share of the arrivals is none.
    pub tolerance: f64,
    /// What for.
    pub purpose: Purpose,
}

/// A search for the capacity.
#[derive(Clone, Debug)]
pub struct Search {
    settings: Settings,
    tried: Vec<Tried>,
    /// The step whose observation comes next.
    step: Step,
    held_per_s: Option<f64>,
    failed: Option<(f64, Limit)>,
    wall: Option<Wall>,
    guess: Option<Guess>,
    /// How far above a guess that was too low the next rate lies.
    stride: f64,
    /// The shortest p99 of journeys that any step showed, nanoseconds.
    base_ns: Option<u64>,
    spread: Option<f64>,
    confirmed: bool,
    longer: u32,
    voids: u32,
    is_over: bool,
}

/// A rate at which runs were void.
#[derive(Clone, Debug)]
struct Wall {
    rate_per_s: f64,
    by_generator: bool,
    cause: String,
}

/// What an overloaded system completed.
#[derive(Clone, Copy, Debug)]
struct Guess {
    per_s: f64,
    half_width_per_s: f64,
    below_tried: bool,
    above_tried: bool,
}

impl Search {
    /// A search, and its first step in [`Self::step`].
    pub fn new(settings: Settings) -> Self {
        let from_per_s = settings.from_per_s.min(settings.to_per_s);
        let mut search = Self {
            stride: 4.0 * settings.precision,
            settings,
            tried: Vec::new(),
            step: Step {
                rate_per_s: from_per_s,
                warmup_ns: 0,
                steady_ns: 0,
                tolerance: 0.0,
                purpose: Purpose::Rise,
            },
            held_per_s: None,
            failed: None,
            wall: None,
            guess: None,
            base_ns: None,
            spread: None,
            confirmed: false,
            longer: 0,
            voids: 0,
            is_over: false,
        };
        search.step = search.plan(from_per_s, Purpose::Rise, search.coarse());
        search
    }

    /// The step to be made now; `None` when the search is over.
    pub fn step(&self) -> Option<&Step> {
        (!self.is_over).then_some(&self.step)
    }

    /// Every step so far.
    pub fn tried(&self) -> &[Tried] {
        &self.tried
    }

    /// The shortest p99 of journeys that any step showed, nanoseconds.
    pub fn base_ns(&self) -> Option<u64> {
        self.base_ns
    }

    /// Takes what the step showed, and says which comes next.
    pub fn observe(&mut self, seen: &Observation) -> Option<&Step> {
        if self.is_over {
            return None;
        }
        let is_last = self.settings.step_ns.is_some()
            || self.longer >= LONGER_MAX
            || self.step.steady_ns >= self.most_ns();
        let tolerance = self.step.tolerance;
        let void = seen.void.is_some();
        self.base_ns = [self.base_ns, seen.p99_ns.filter(|_| !void)].into_iter().flatten().min();
        let (judgement, growth) = judge(seen, &Rule { tolerance, base_ns: self.base_ns, is_last });
        self.tried.push(Tried { step: self.step, judgement: judgement.clone(), growth });
        match judgement {
            Judgement::Undecided { longer, .. } => self.lengthen(longer),
            Judgement::Void { by_generator, cause } => self.void(by_generator, cause),
            Judgement::Held { .. } => {
                self.learn_spread(seen, growth, false);
                self.hold();
            }
            Judgement::Failed { limit } => {
                let by_growth = growth.filter(|growth| growth.least() > 0.0);
                self.learn_spread(seen, by_growth, true);
                self.fall(limit, by_growth);
            }
        }
        if self.tried.len() >= STEPS_MAX {
            self.is_over = true;
        }
        self.step()
    }

    /// Ends the search with what is known.
    pub fn stop(&mut self) {
        self.is_over = true;
    }

    /// What is known: when the search is over, what it found.
    pub fn end(&self) -> End {
        let wall = self.wall.as_ref();
        let failed = self.failed.as_ref();
        let failed = failed.filter(|(rate, _)| wall.is_none_or(|wall| *rate <= wall.rate_per_s));
        let confirmed = self.confirmed;
        match (self.held_per_s, failed) {
            (Some(held_per_s), Some((failed_per_s, limit))) => End::Found {
                held_per_s,
                failed_per_s: *failed_per_s,
                limit: limit.clone(),
                confirmed,
                narrowed: self.is_narrow(held_per_s, *failed_per_s),
            },
            (Some(held_per_s), None) => {
                let because = match wall {
                    Some(Wall { rate_per_s, by_generator, cause }) => AtLeast::Void {
                        by_generator: *by_generator,
                        rate_per_s: *rate_per_s,
                        cause: cause.clone(),
                    },
                    None if held_per_s >= self.settings.to_per_s => AtLeast::Ceiling,
                    None => AtLeast::Stopped,
                };
                End::AtLeast { held_per_s, because, confirmed }
            }
            (None, Some((failed_per_s, limit))) => {
                End::NeverHeld { failed_per_s: *failed_per_s, limit: limit.clone() }
            }
            (None, None) => match wall {
                Some(wall) => End::Void { rate_per_s: wall.rate_per_s, cause: wall.cause.clone() },
                None => End::Nothing,
            },
        }
    }

    fn coarse(&self) -> f64 {
        self.settings.precision.max(COARSE)
    }

    fn most_ns(&self) -> u64 {
        let most_ns = length::most_ns(self.base_ns);
        if self.step.purpose == Purpose::Confirm { 2 * most_ns } else { most_ns }
    }

    fn plan(&self, rate_per_s: f64, purpose: Purpose, tolerance: f64) -> Step {
        let is_fine = tolerance <= self.settings.precision;
        let spread = self.spread.filter(|_| is_fine);
        let needs = Needs { rate_per_s, base_ns: self.base_ns, tolerance, spread };
        let steady_ns = length::steady_ns(&self.settings, &needs);
        let warmup_ns = length::warmup_ns(&self.settings, self.base_ns);
        Step { rate_per_s, warmup_ns, steady_ns, tolerance, purpose }
    }

    fn go(&mut self, rate_per_s: f64, purpose: Purpose, tolerance: f64) {
        self.step = self.plan(rate_per_s, purpose, tolerance);
        (self.longer, self.voids) = (0, 0);
    }

    fn lengthen(&mut self, longer: f64) {
        let seconds = self.step.steady_ns as f64 / 1e9 * longer;
        self.step.steady_ns = length::whole_ns(seconds).min(self.most_ns());
        self.step.warmup_ns = length::warmup_ns(&self.settings, self.base_ns);
        self.longer += 1;
    }

    fn void(&mut self, by_generator: bool, cause: String) {
        self.voids += 1;
        if self.voids == 1 {
            // Once may be an accident: the machine had something else to do.
            return;
        }
        self.wall = Some(Wall { rate_per_s: self.step.rate_per_s, by_generator, cause });
        if self.step.purpose == Purpose::Confirm || self.held_per_s.is_none() {
            self.is_over = true;
        } else {
            self.aim();
        }
    }

    /// Remembers how well growth was known near the limit.
    fn learn_spread(&mut self, seen: &Observation, growth: Option<Growth>, is_overload: bool) {
        let is_near = is_overload || self.step.tolerance <= self.settings.precision;
        if let Some(growth) = growth.filter(|_| is_near) {
            let spread = growth.half_width * (seen.started as f64).sqrt();
            self.spread = Some(self.spread.map_or(spread, |known| known.min(spread)));
        }
    }

    fn hold(&mut self) {
        let rate = self.step.rate_per_s;
        self.held_per_s = Some(self.held_per_s.map_or(rate, |held| held.max(rate)));
        if self.step.purpose == Purpose::Confirm {
            self.confirmed = true;
            self.is_over = true;
            return;
        }
        self.aim();
    }

    fn fall(&mut self, limit: Limit, growth: Option<Growth>) {
        let rate = self.step.rate_per_s;
        if self.failed.as_ref().is_none_or(|(failed, _)| rate < *failed) {
            self.failed = Some((rate, limit));
        }
        if self.held_per_s.is_some_and(|held| held >= rate) {
            self.held_per_s = self.held_below(rate);
        }
        // In what rates are counted in: an arrival of a batch is several journeys.
        let seen = growth.map(|growth| Guess {
            per_s: rate * (1.0 - growth.share),
            half_width_per_s: rate * growth.half_width,
            below_tried: false,
            above_tried: false,
        });
        let keeps = self.guess.is_some_and(|old| {
            let apart = |new: Guess| (new.per_s - old.per_s).abs();
            let fits = |new: Guess| apart(new) <= old.half_width_per_s + new.half_width_per_s;
            rate > old.per_s
                && seen.is_none_or(|new| fits(new) && new.half_width_per_s >= old.half_width_per_s)
        });
        if !keeps {
            self.guess = seen;
        }
        self.stride = 4.0 * self.settings.precision;
        self.aim();
    }

    /// The highest rate below this one that held, of those that no longer step refuted.
    fn held_below(&self, rate_per_s: f64) -> Option<f64> {
        let held = self.tried.iter().filter(|tried| {
            matches!(tried.judgement, Judgement::Held { .. }) && tried.step.rate_per_s < rate_per_s
        });
        held.map(|tried| tried.step.rate_per_s).reduce(f64::max)
    }

    fn is_narrow(&self, held_per_s: f64, failed_per_s: f64) -> bool {
        let precision = self.settings.precision;
        failed_per_s / held_per_s <= (1.0 + precision) / (1.0 - precision) * (1.0 + 1e-9)
    }

    /// Chooses the next rate from what is known.
    fn aim(&mut self) {
        let failed = self.failed.as_ref().map(|(rate, _)| *rate);
        let wall = self.wall.as_ref().map(|wall| wall.rate_per_s);
        match (self.held_per_s, failed) {
            (None, Some(failed)) => self.descend(failed),
            // Without either nothing has been judged: the step stays as it is.
            (None, None) => {}
            (Some(held), failed) => match (failed, wall) {
                (Some(failed), wall) if wall.is_none_or(|wall| failed <= wall) => {
                    self.narrow(held, failed);
                }
                (_, Some(wall)) if wall / held <= NEAR_A_WALL => self.confirm(held),
                (_, Some(wall)) => {
                    self.go((held * wall).sqrt(), Purpose::Narrow, self.coarse());
                }
                _ if held >= self.settings.to_per_s => self.confirm(held),
                _ => {
                    let rate = (2.0 * held).min(self.settings.to_per_s);
                    self.go(rate, Purpose::Rise, self.coarse());
                }
            },
        }
    }

    fn descend(&mut self, failed: f64) {
        let floor = self.settings.from_per_s.min(self.settings.to_per_s) * FLOOR;
        if failed <= floor * (1.0 + 1e-9) {
            self.is_over = true;
            return;
        }
        let guessed = self.guess.map(|guess| 0.8 * guess.per_s);
        let guessed = guessed.filter(|rate| (floor..0.9 * failed).contains(rate));
        let rate = guessed.unwrap_or_else(|| (failed / 4.0).max(floor));
        self.go(rate, Purpose::Descend, self.coarse());
    }

    fn narrow(&mut self, held: f64, failed: f64) {
        if self.is_narrow(held, failed) {
            return self.confirm(held);
        }
        let precision = self.settings.precision;
        if let Some(rate) = self.beside_the_guess(held, failed) {
            return self.go(rate, Purpose::Narrow, precision);
        }
        let middle = (held * failed).sqrt();
        let above = held * (1.0 + self.stride);
        if self.guess.is_some_and(|guess| guess.per_s <= held) && above < middle {
            // The guess was too low: what an overloaded system completes may be less than what it
            // can do.
            self.stride *= 2.0;
            return self.go(above, Purpose::Narrow, precision);
        }
        let tolerance = ((failed / held - 1.0) / 4.0).clamp(precision, self.coarse());
        self.go(middle, Purpose::Narrow, tolerance);
    }

    /// The rate just below the guess, then the one just above it, where they lie in the bracket.
    fn beside_the_guess(&mut self, held: f64, failed: f64) -> Option<f64> {
        let precision = self.settings.precision;
        let guess = self.guess.as_mut()?;
        let (below, above) = (guess.per_s * (1.0 - precision), guess.per_s * (1.0 + precision));
        if !guess.below_tried && below > held * (1.0 + precision / 2.0) && below < failed {
            guess.below_tried = true;
            return Some(below);
        }
        if !guess.above_tried && above > held && above < failed * (1.0 - precision / 2.0) {
            guess.above_tried = true;
            return Some(above);
        }
        None
    }

    fn confirm(&mut self, held: f64) {
        let precision = self.settings.precision;
        let mut step = self.plan(held, Purpose::Confirm, precision);
        if self.settings.step_ns.is_none() {
            step.steady_ns *= 2;
        }
        self.step = step;
        (self.longer, self.voids) = (0, 0);
    }
}
