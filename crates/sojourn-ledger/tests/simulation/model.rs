//! The naive model: knows the whole truth at once, looks at one key's journeys at a time, keeps no
//! tables, and recounts everything from the beginning for each question.

use std::collections::BTreeMap;

use sojourn_ledger::{
    DuplicateKind, EventClass, FinishClass, JourneyId, JourneySpec, Marker, Predecessor, StageKind,
};

use super::world::{EventTruth, JourneyTruth, Truth, spec};

/// What the book must hold in the end.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) journeys: BTreeMap<JourneyId, Outcome>,
    /// By stamp.
    pub(crate) events: BTreeMap<u64, EventClass>,
    /// Kind, stage, duration; sorted.
    pub(crate) hops: Vec<(u16, u8, i64)>,
    pub(crate) key_reused: u64,
    pub(crate) failure_after_completion: u64,
    pub(crate) late_hops: u64,
    pub(crate) second_branches: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) class: FinishClass,
    pub(crate) end_ns: u64,
    pub(crate) stage_ns: Vec<u64>,
    pub(crate) hops_without_predecessor: u32,
    pub(crate) negative_hops: u32,
}

pub(crate) fn judge(truth: &Truth) -> Expected {
    let mut expected = Expected::default();
    let specs = spec().journeys;
    let mut names: Vec<(u16, &str)> = Vec::new();
    names.extend(truth.journeys.iter().map(|journey| (journey.kind, &*journey.key)));
    names.extend(truth.events.iter().map(|event| (event.kind, &*event.key)));
    names.sort_unstable();
    names.dedup();
    for (kind, key) in names {
        let is_of = |event: &&EventTruth| event.kind == kind && event.key == key;
        let (unreadable, events): (Vec<_>, Vec<_>) =
            truth.events.iter().filter(is_of).partition(|event| event.undecodable);
        let classes = unreadable.iter().map(|event| (event.stamp_ns, EventClass::Undecodable));
        expected.events.extend(classes);
        let mut journeys: Vec<_> =
            truth.journeys.iter().filter(|own| own.kind == kind && own.key == key).collect();
        journeys.sort_by_key(|journey| journey.keyed_ns.unwrap_or(u64::MAX));
        judge_key(&specs[usize::from(kind)], &journeys, events, truth.end_ns, &mut expected);
    }
    expected.hops.sort_unstable();
    expected
}

/// Gives each event to the journey that had the key, or to none.
fn judge_key(
    spec: &JourneySpec,
    journeys: &[&JourneyTruth],
    mut events: Vec<&EventTruth>,
    end_ns: u64,
    expected: &mut Expected,
) {
    // Before the first journey has the key: events wait, at most so long.
    let first_ns = journeys.first().and_then(|journey| journey.keyed_ns).unwrap_or(u64::MAX);
    let early_wait_ns = super::world::spec().early_wait_ns;
    events.retain(|event| {
        let waited_ns = first_ns.saturating_sub(event.stamp_ns);
        if waited_ns == 0 || (event.marker != Marker::Foreign && waited_ns <= early_wait_ns) {
            return true;
        }
        let class = match event.marker {
            Marker::Ours => EventClass::Orphan,
            Marker::Foreign => EventClass::Foreign,
            Marker::Absent => EventClass::Unattributed,
        };
        expected.events.insert(event.stamp_ns, class);
        false
    });
    let mut owner: Option<(Story<'_>, u64)> = None;
    for journey in journeys {
        let keyed_ns = journey.keyed_ns.unwrap_or(u64::MAX);
        let reused = owner.as_ref().is_some_and(|(_, decided_ns)| *decided_ns > keyed_ns);
        if reused {
            expected.key_reused += 1;
            let class = FinishClass::RootFailed;
            let story = Story { spec, journey, events: Vec::new(), end_ns };
            expected.journeys.insert(journey.id, story.outcome(class, keyed_ns, &[]));
            continue;
        }
        if let Some((mut former, _)) = owner.take() {
            former.events.retain(|event| event.stamp_ns < keyed_ns);
            former.tell(expected);
            events.retain(|event| event.stamp_ns > keyed_ns);
        }
        let story = Story { spec, journey, events: events.clone(), end_ns };
        let decided_ns = story.decision().1;
        owner = Some((story, decided_ns));
    }
    if let Some((last, _)) = owner {
        last.tell(expected);
    }
}

/// One journey and the events under its key, by stamp.
struct Story<'a> {
    spec: &'a JourneySpec,
    journey: &'a JourneyTruth,
    events: Vec<&'a EventTruth>,
    end_ns: u64,
}

impl Story<'_> {
    fn deadline_ns(&self) -> u64 {
        self.journey.t0_ns + self.spec.within_ns
    }

    /// When an event is known to be this journey's.
    fn known_ns(&self, event: &EventTruth) -> u64 {
        event.stamp_ns.max(self.journey.keyed_ns.unwrap_or(u64::MAX))
    }

    /// The class, when it was decided, and how many events had been applied by then. Asks at every
    /// instant in turn, with all that was known by then.
    fn decision(&self) -> (FinishClass, u64, usize) {
        let lost_ns = self.deadline_ns() + self.spec.linger_ns;
        let mut instants: Vec<(u64, usize)> = vec![(self.deadline_ns(), usize::MAX)];
        let facts = [self.journey.root, self.journey.follow_up].into_iter().flatten();
        instants.extend(facts.map(|(at_ns, _)| (at_ns, usize::MAX)));
        let known = self.events.iter().enumerate();
        instants.extend(known.map(|(at, event)| (self.known_ns(event), at + 1)));
        instants.sort_unstable();
        for (now_ns, applied) in instants {
            // Of several events at one instant, those up to this one.
            let by_now = self.events.iter().filter(|event| self.known_ns(event) <= now_ns).count();
            let applied = applied.min(by_now);
            if now_ns > lost_ns || now_ns >= self.end_ns {
                break;
            }
            if let Some(class) = self.failed_by(now_ns, applied) {
                return (class, now_ns, applied);
            }
            let waits = self.has_never() && now_ns < self.deadline_ns();
            if let (false, Some(done_ns)) = (waits, self.done_ns(now_ns, applied)) {
                let in_time = done_ns <= self.deadline_ns();
                let class = if in_time { FinishClass::Completed } else { FinishClass::Late };
                return (class, now_ns, applied);
            }
        }
        let applied_by =
            |at_ns| self.events.iter().filter(|event| self.known_ns(event) <= at_ns).count();
        if lost_ns < self.end_ns {
            (FinishClass::Lost, lost_ns, applied_by(lost_ns))
        } else if self.deadline_ns() < self.end_ns {
            (FinishClass::Lost, self.end_ns, applied_by(self.end_ns))
        } else {
            (FinishClass::InFlightAtCutoff, self.end_ns, applied_by(self.end_ns))
        }
    }

    fn has_never(&self) -> bool {
        self.spec.stages.iter().any(|stage| stage.kind == StageKind::Never)
    }

    fn failed_by(&self, now_ns: u64, applied: usize) -> Option<FinishClass> {
        let no = |fact: Option<(u64, bool)>| fact.is_some_and(|(at, ok)| !ok && at <= now_ns);
        if no(self.journey.root) {
            return Some(FinishClass::RootFailed);
        }
        let by_event = (0..applied).any(|at| self.fails(at));
        (by_event || no(self.journey.follow_up)).then_some(FinishClass::Failed)
    }

    /// Whether the event fails its journey: the first of a stage that must not come, or a new one
    /// whose content is wrong.
    fn fails(&self, at: usize) -> bool {
        let event = self.events[at];
        let kind = self.spec.stages[usize::from(event.stage)].kind;
        let terminal = matches!(kind, StageKind::Never | StageKind::Failure);
        let new = self.first_like(at).is_none();
        new && (event.check_failed || (terminal && self.reached_ns(event.stage, at).is_none()))
    }

    /// The earlier event that this one repeats.
    fn first_like(&self, at: usize) -> Option<usize> {
        let event = self.events[at];
        let expect = self.spec.stages[usize::from(event.stage)].expect;
        (0..at).find(|&earlier| {
            let earlier = self.events[earlier];
            earlier.stage == event.stage && (expect == 1 || earlier.member == event.member)
        })
    }

    /// The stamp of the event that reached a stage, among the first so many.
    fn reached_ns(&self, stage: u8, applied: usize) -> Option<u64> {
        let expect = self.spec.stages[usize::from(stage)].expect as usize;
        let new = (0..applied)
            .filter(|&at| self.events[at].stage == stage && self.first_like(at).is_none());
        new.map(|at| self.events[at].stamp_ns).nth(expect - 1)
    }

    /// When all that is required had happened.
    fn done_ns(&self, now_ns: u64, applied: usize) -> Option<u64> {
        let mut done_ns = self.journey.root.filter(|&(t2_ns, ok)| ok && t2_ns <= now_ns)?.0;
        if self.spec.has_follow_ups {
            let ended = self.journey.follow_up.filter(|&(at_ns, ok)| ok && at_ns <= now_ns)?;
            done_ns = done_ns.max(ended.0);
        }
        for (stage, of) in self.spec.stages.iter().enumerate() {
            if of.kind == StageKind::Required {
                done_ns = done_ns.max(self.reached_ns(stage as u8, applied)?);
            }
        }
        if !self.branches().is_empty() {
            let reached = self.branches().into_iter().map(|stage| self.reached_ns(stage, applied));
            done_ns = done_ns.max(reached.flatten().min()?);
        }
        Some(done_ns)
    }

    /// The alternatives; no kind has two groups of them.
    fn branches(&self) -> Vec<u8> {
        let stages = (0..).zip(&self.spec.stages);
        stages
            .filter(|(_, stage)| matches!(stage.kind, StageKind::Branch(_)))
            .map(|(at, _)| at)
            .collect()
    }

    /// When the point was passed that a stage's hop counts from.
    fn base_ns(&self, stage: u8, stamp_ns: u64, applied: usize) -> Option<u64> {
        match self.spec.stages[usize::from(stage)].after {
            Predecessor::Stage(of) => self.reached_ns(of, applied),
            Predecessor::Step => {
                let step_ns = self.journey.step_ns.filter(|&step_ns| step_ns <= stamp_ns);
                Some(step_ns.unwrap_or(self.journey.t1_ns))
            }
        }
    }

    /// The hops of the stages reached by the first so many events.
    fn hops(&self, applied: usize) -> Vec<(u8, Option<i64>)> {
        let reached = (0..self.spec.stages.len() as u8)
            .filter_map(|stage| Some((stage, self.reached_ns(stage, applied)?)));
        let hop = |(stage, stamp_ns): (u8, u64)| {
            let from_ns = self.base_ns(stage, stamp_ns, applied);
            (stage, from_ns.map(|from_ns| stamp_ns as i64 - from_ns as i64))
        };
        reached.map(hop).collect()
    }

    fn outcome(&self, class: FinishClass, decided_ns: u64, hops: &[(u8, Option<i64>)]) -> Outcome {
        let applied = self.decided_by(class);
        let stages = 0..self.spec.stages.len() as u8;
        let done = matches!(class, FinishClass::Completed | FinishClass::Late);
        let done_ns = done.then(|| self.done_ns(decided_ns, applied)).flatten();
        Outcome {
            class,
            end_ns: done_ns.unwrap_or(decided_ns),
            stage_ns: stages.map(|stage| self.reached_ns(stage, applied).unwrap_or(0)).collect(),
            hops_without_predecessor: hops.iter().filter(|(_, hop)| hop.is_none()).count() as u32,
            negative_hops: hops.iter().filter(|(_, hop)| hop.is_some_and(|ns| ns < 0)).count()
                as u32,
        }
    }

    fn decided_by(&self, class: FinishClass) -> usize {
        if class == FinishClass::RootFailed && self.events.is_empty() {
            return 0;
        }
        self.decision().2
    }

    /// Writes the whole story down.
    fn tell(&self, expected: &mut Expected) {
        let (class, decided_ns, applied) = self.decision();
        let kind = self.journey.kind;
        let hops = self.hops(applied);
        expected.journeys.insert(self.journey.id, self.outcome(class, decided_ns, &hops));
        expected
            .hops
            .extend(hops.iter().filter_map(|&(stage, hop_ns)| Some((kind, stage, hop_ns?))));
        let completed = matches!(class, FinishClass::Completed | FinishClass::Late);
        let taken = if completed { self.events.len() } else { applied };
        let branches = self.branches().into_iter();
        let reached = branches.filter(|&stage| self.reached_ns(stage, taken).is_some()).count();
        expected.second_branches += (reached as u64).saturating_sub(1);
        for at in 0..self.events.len() {
            let event = self.events[at];
            let after = at >= applied;
            let class = match self.first_like(at) {
                _ if after && !completed => EventClass::AfterFailure,
                Some(first) => EventClass::Duplicate(self.again(first, at)),
                None => EventClass::Matched,
            };
            expected.events.insert(event.stamp_ns, class);
            if !(after && completed) {
                continue;
            }
            expected.failure_after_completion += u64::from(self.fails(at));
            // A stage reached late has its hop at once or never.
            let reaches = self.reached_ns(event.stage, at).is_none()
                && self.reached_ns(event.stage, at + 1).is_some();
            if reaches {
                match self.base_ns(event.stage, event.stamp_ns, at) {
                    Some(from_ns) => expected.hops.push((
                        kind,
                        event.stage,
                        event.stamp_ns as i64 - from_ns as i64,
                    )),
                    None => expected.late_hops += 1,
                }
            }
        }
    }

    fn again(&self, first: usize, at: usize) -> DuplicateKind {
        match (self.events[first].message_id, self.events[at].message_id) {
            (Some(first), Some(again)) if first == again => DuplicateKind::Redelivery,
            (Some(_), Some(_)) => DuplicateKind::Republication,
            _ => DuplicateKind::Unknown,
        }
    }
}
