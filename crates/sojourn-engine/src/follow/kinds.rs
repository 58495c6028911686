//! Kinds of journeys that come into being when they are first expected.

use std::sync::{Arc, Mutex, PoisonError};

use sojourn_plan::{Journey, Stage, StageKind, usual_linger_ns};

/// Most kinds of one run: each takes some dozens of series.
pub const KINDS_MAX: usize = 32;

/// What must come of a journey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The kind's name, for reports.
    pub name: String,
    /// Stages of the pattern, each at most once, in the order in which hops are counted.
    pub stages: Vec<u8>,
    /// Deadline from the journey's scheduled instant, nanoseconds.
    pub within_ns: u64,
}

/// All kinds so far, shared by whoever begins journeys and the ledger's observer.
#[derive(Debug)]
pub struct Kinds {
    /// The stages that kinds choose from.
    pattern: Vec<Stage>,
    known: Mutex<Vec<(Expected, Arc<Kind>)>>,
}

/// A kind as the observer takes it in.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) journey: Journey,
    /// Of each of its stages, which one of the pattern it is.
    pub(crate) chosen: Vec<u8>,
}

impl Kinds {
    /// None yet, of these stages.
    pub(crate) fn new(pattern: Vec<Stage>) -> Self {
        Self { pattern, known: Mutex::default() }
    }

    /// How many stages there are to choose from.
    pub(crate) fn stages(&self) -> u8 {
        self.pattern.len().try_into().unwrap_or(u8::MAX)
    }

    /// The number of a kind, which comes into being if it is not there yet. Errs in words when
    /// another kind has its name, when there are too many, or when a stage is unknown or named
    /// twice.
    pub fn declare(&self, expected: &Expected) -> Result<u16, String> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = known.iter().position(|(other, _)| other.name == expected.name) {
            let is_same = known[at].0 == *expected;
            let number = u16::try_from(at).ok().filter(|_| is_same);
            return number.ok_or_else(|| {
                format!(
                    "the journey \"{}\" was expected with other stages or another deadline \
                     before: give this one a name of its own",
                    expected.name
                )
            });
        }
        if known.len() >= KINDS_MAX {
            return Err(format!(
                "there are {KINDS_MAX} kinds of journeys already, the most of one run: a journey's \
                 name says what it is, not which"
            ));
        }
        let kind = self.kind(expected)?;
        known.push((expected.clone(), Arc::new(kind)));
        // At most KINDS_MAX.
        Ok((known.len() - 1) as u16)
    }

    /// The name of a kind.
    pub fn name(&self, kind: u16) -> Option<String> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(usize::from(kind)).map(|(expected, _)| expected.name.clone())
    }

    pub(crate) fn get(&self, kind: usize) -> Option<Arc<Kind>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(kind).map(|(_, kind)| Arc::clone(kind))
    }

    /// The longest time that a journey of any kind is observed, nanoseconds.
    pub(crate) fn observed_ns_max(&self) -> u64 {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |kind: &Kind| kind.journey.within_ns.saturating_add(kind.journey.linger_ns);
        known.iter().map(|(_, kind)| of(kind)).max().unwrap_or(0)
    }

    fn kind(&self, expected: &Expected) -> Result<Kind, String> {
        let mut stages = Vec::with_capacity(expected.stages.len());
        for (at, &number) in expected.stages.iter().enumerate() {
            let stage = self.pattern.get(usize::from(number));
            let stage = stage.ok_or_else(|| format!("there is no stage {number}"))?;
            if expected.stages[..at].contains(&number) {
                return Err(format!("the stage \"{}\" is expected twice", stage.name));
            }
            let after = at.checked_sub(1);
            stages.push(Stage { kind: StageKind::Required, after, ..stage.clone() });
        }
        if stages.is_empty() {
            return Err("no stage is expected".to_owned());
        }
        let journey = Journey {
            name: expected.name.clone(),
            steps: Vec::new(),
            stages,
            within_ns: expected.within_ns,
            linger_ns: usual_linger_ns(expected.within_ns),
            trace: false,
            label: None,
            poison: None,
        };
        Ok(Kind { journey, chosen: expected.stages.clone() })
    }
}
