//! What sessions publish and wait for, as a plan has it.

use sojourn_plan::{
    Action, Expect, Journey, Plan, PublishAction, Stage, Step, Template, usual_linger_ns,
};

use super::{STEPS_MAX, step_named};
use crate::channels::Channels;
use crate::program::{Program, Row};

/// What generators must know of messages and events.
#[derive(Clone, Debug)]
pub struct EventLoad {
    /// Of each of the program's messages.
    pub published: Vec<Published>,
    /// Of each of its expectations.
    pub expected: Vec<Expected>,
    /// How many of the plan's journeys are sessions: they come first.
    pub sessions: usize,
    /// Of each journey of the plan, by its stages: which of the declared ones they are.
    pub stages: Vec<Vec<u16>>,
    /// Of each declared stage: whether anything is taken out of its events.
    pub is_kept: Vec<bool>,
    /// Of each declared stage: the index of the plan's channel that it is seen on, if it is used.
    pub channels: Vec<Option<usize>>,
}

/// A message's step and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// Its step in its session's journey.
    pub step: usize,
    /// Index of the plan's channel.
    pub channel: usize,
    /// Topic, subject, routing key, stream or queue.
    pub topic: String,
    /// How long an acknowledgement is waited for, nanoseconds.
    pub timeout_ns: u64,
}

/// An expectation's step and what is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Its step in its session's journey.
    pub step: usize,
    /// Number of the declared stage.
    pub stage: u16,
    /// The journey of events, by its place in the plan, that begins when a client comes to it.
    pub begins: Option<u16>,
}

/// While the plan is made.
pub(super) struct EventLoading<'a> {
    program: &'a Program,
    channels: &'a Channels,
    timeout_ns: u64,
    /// Of each channel that is used: which of the declared ones it is.
    used: Vec<usize>,
    published: Vec<Option<Published>>,
    /// Steps of expectations.
    steps: Vec<usize>,
}

impl<'a> EventLoading<'a> {
    pub(super) fn new(program: &'a Program, channels: &'a Channels, timeout_ns: u64) -> Self {
        Self {
            program,
            channels,
            timeout_ns,
            used: Vec::new(),
            published: vec![None; program.messages.len()],
            steps: vec![0; program.expectations.len()],
        }
    }

    pub(super) fn publish(&mut self, steps: &mut Vec<Step>, name: String, number: usize) {
        let channel = self.program.messages[number].channel.as_str();
        // Channels were looked up when they were read.
        let Some(declared) = self.channels.channel(channel) else { return };
        let topic = self.channels.channels[declared].connector.usual_topic().unwrap_or_default();
        let place = self.used(declared);
        let timeout_ns = self.timeout_ns;
        let usual = format!("publish {channel}");
        let is_alike =
            |step: &Step| matches!(&step.action, Action::Publish(other) if other.channel == place);
        let name = free(steps, name, usual, is_alike);
        let step = step_named(steps, name, |name| Step {
            action: Action::Publish(PublishAction {
                channel: place,
                topic: Template::literal(topic),
                key: None,
                headers: Vec::new(),
                body: Template::default(),
                timeout_ns,
            }),
            ..Step::named(name, timeout_ns)
        });
        let topic = topic.to_owned();
        self.published[number] = Some(Published { step, channel: place, topic, timeout_ns });
    }

    pub(super) fn expect(&mut self, steps: &mut Vec<Step>, name: String, number: usize) {
        let expected = &self.program.expectations[number];
        let usual = format!("expect {}", expected.stage);
        let name = free(steps, name, usual, |step| step.action.http().is_some());
        self.steps[number] = step_named(steps, name, |name| Step::named(name, expected.within_ns));
    }

    /// Adds channels and journeys of events to the plan. `None` where there is nothing.
    pub(super) fn finish(mut self, plan: &mut Plan) -> Option<EventLoad> {
        if !self.program.has_events() {
            return None;
        }
        let sessions = plan.journeys.len();
        let mut begins = vec![None; self.program.expectations.len()];
        for row in &self.program.rows {
            let Some(&first) = row.expectations.first() else { continue };
            let at = match self.journey(row, &plan.journeys[sessions..]) {
                Made::Same(at) => sessions + at,
                Made::New(journey) => {
                    plan.journeys.push(*journey);
                    plan.journeys.len() - 1
                }
            };
            begins[first as usize] = u16::try_from(at).ok();
        }
        let channels = &self.channels.channels;
        plan.channels = self.used.iter().map(|&declared| channels[declared].clone()).collect();
        // At most a hundred stages, and as many of channels.
        let number = |name: &str| self.channels.stage(name).unwrap_or(0) as u16;
        let expectations = self.program.expectations.iter();
        let mut is_kept = vec![false; self.channels.stages.len()];
        for expected in expectations.clone() {
            is_kept[usize::from(number(&expected.stage))] |= expected.extracts;
        }
        let stages = self.channels.stages.iter();
        let place = |declared: usize| self.used.iter().position(|&used| used == declared);
        let stage_channels = stages.map(|stage| place(stage.channel)).collect();
        let of = |journey: &Journey| journey.stages.iter().map(|it| number(&it.name)).collect();
        let expected = expectations
            .zip(&self.steps)
            .zip(begins)
            .map(|((it, &step), begins)| Expected { step, stage: number(&it.stage), begins });
        Some(EventLoad {
            expected: expected.collect(),
            sessions,
            stages: plan.journeys.iter().map(of).collect(),
            is_kept,
            channels: stage_channels,
            published: self.published.into_iter().flatten().collect(),
        })
    }

    /// The place of a declared channel among those that are used.
    fn used(&mut self, declared: usize) -> usize {
        let known = self.used.iter().position(|&used| used == declared);
        known.unwrap_or_else(|| {
            self.used.push(declared);
            self.used.len() - 1
        })
    }

    /// The journey of a row: named by its session and its stages, in time if they all come within
    /// the time that their expectations have together.
    fn journey(&mut self, row: &Row, known: &[Journey]) -> Made {
        let program = self.program;
        let expected = row.expectations.iter().map(|&at| &program.expectations[at as usize]);
        let within_ns = expected.clone().map(|it| it.within_ns).fold(0, u64::saturating_add);
        let mut stages = Vec::new();
        for expected in expected {
            let Some(stage) = self.channels.stage(&expected.stage) else { continue };
            let stage = &self.channels.stages[stage];
            let channel = self.used(stage.channel);
            stages.push(stage.of_journey(channel, expected.count, stages.len().checked_sub(1)));
        }
        let names: Vec<&str> = stages.iter().map(|stage| stage.name.as_str()).collect();
        let session = &program.sessions[row.session].name;
        let base = format!("{session} ({})", names.join("-"));
        let alike = known.iter().filter(|other| other.name.starts_with(&base));
        let is_same = |other: &Journey| {
            other.within_ns == within_ns && outline(&other.stages).eq(outline(&stages))
        };
        let same = |other: &Journey| other.name.starts_with(&base) && is_same(other);
        if let Some(at) = known.iter().position(same) {
            return Made::Same(at);
        }
        let name = match alike.count() {
            0 => base,
            others => format!("{base} {}", others + 1),
        };
        Made::New(Box::new(Journey {
            name,
            steps: Vec::new(),
            stages,
            within_ns,
            linger_ns: usual_linger_ns(within_ns),
            trace: false,
            label: None,
            poison: None,
        }))
    }
}

/// A row's journey.
enum Made {
    /// That of an earlier row, by its place among journeys of events.
    Same(usize),
    New(Box<Journey>),
}

/// What tells rows of stages apart: their names, and how many events reach them.
fn outline(stages: &[Stage]) -> impl Iterator<Item = (&str, Option<u32>)> {
    stages.iter().map(|stage| {
        let members = match stage.expect {
            Expect::Members(members) => Some(members),
            Expect::Told { .. } => None,
        };
        (stage.name.as_str(), members)
    })
}

/// A name that no step of another sort has, and that is new only while there is room.
fn free(steps: &[Step], name: String, usual: String, is_alike: impl Fn(&Step) -> bool) -> String {
    match steps.iter().find(|step| step.name == name) {
        Some(step) if is_alike(step) => name,
        None if steps.len() < STEPS_MAX => name,
        _ => usual,
    }
}
