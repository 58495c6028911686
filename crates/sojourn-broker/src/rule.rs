//! A stage as its channel's router sees it: which events fit it, and the key in them.

use serde_json::Value;
use smallvec::SmallVec;
use sojourn_ledger::Key;
use sojourn_plan::{Check, Journey, Selector, StageSource, Test};

use crate::RawMessage;
use crate::besides::Besides;
use crate::select::{Found, Seen, find};
use crate::text::hash;

/// One stage of one journey, compiled.
#[derive(Debug)]
pub(crate) struct Rule {
    /// Index of the journey.
    pub(crate) kind: u16,
    /// Index of the stage in it.
    pub(crate) stage: u8,
    /// `journey/stage`, for samples.
    pub(crate) name: String,
    matches: Vec<Condition>,
    checks: Vec<Condition>,
    key: Selector,
    format: KeyFormat,
    member: Option<Selector>,
    /// What else it takes from its events.
    pub(crate) besides: Besides,
}

/// Whether an event fits a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// The payload would have to be readable to say.
    Undecided,
}

impl Rule {
    /// Compiles a stage; `None` when it is not seen on this channel.
    pub(crate) fn compile(
        (kind, journey): (u16, &Journey),
        index: u8,
        on_channel: usize,
    ) -> Option<Self> {
        let stage = journey.stages.get(usize::from(index))?;
        let StageSource::Event { channel, matches, checks, key, key_format } = &stage.source else {
            return None;
        };
        (*channel == on_channel).then(|| Self {
            kind,
            stage: index,
            name: format!("{}/{}", journey.name, stage.name),
            matches: matches.iter().map(Condition::new).collect(),
            checks: checks.iter().map(Condition::new).collect(),
            key: key.clone(),
            format: KeyFormat::new(key_format),
            // A stage reached by one event has no members to tell apart.
            member: stage.member.clone().filter(|_| stage.expect.is_several()),
            besides: Besides::of(journey, index),
        })
    }

    /// Whether an event fits. `readable`: its payload could be decoded.
    pub(crate) fn fits(&self, message: &RawMessage<'_>, seen: Seen<'_>, readable: bool) -> Fit {
        let mut fit = Fit::Yes;
        for condition in &self.matches {
            if !readable && needs_body(&condition.selector, seen) {
                fit = Fit::Undecided;
            } else if !condition.holds(message, seen) {
                return Fit::No;
            }
        }
        fit
    }

    /// The event's key; `None` when it is missing, null or empty.
    pub(crate) fn key(&self, message: &RawMessage<'_>, seen: Seen<'_>) -> Option<Key> {
        let found = find(&self.key, message, seen)?;
        self.format.key(&found.text()?)
    }

    /// Hash of the event's member, where the stage has members.
    pub(crate) fn member(&self, message: &RawMessage<'_>, seen: Seen<'_>) -> Option<u64> {
        let found = find(self.member.as_ref()?, message, seen)?;
        match (found.text(), &found) {
            (Some(text), _) => Some(hash(text.as_bytes())),
            (None, Found::Json(value)) if !value.is_null() => {
                Some(hash(value.to_string().as_bytes()))
            }
            _ => None,
        }
    }

    /// Whether a content check does not hold.
    pub(crate) fn check_failed(&self, message: &RawMessage<'_>, seen: Seen<'_>) -> bool {
        self.checks.iter().any(|check| !check.holds(message, seen))
    }

    /// Where the key is looked for, for samples.
    pub(crate) fn key_place(&self) -> String {
        match &self.key {
            Selector::Body(path) => path.text.clone(),
            Selector::Header(name) => format!("header {name}"),
            Selector::MessageKey => "the message key".to_owned(),
            Selector::Regex(regex) => format!("/{}/", regex.as_str()),
            Selector::Status | Selector::Text | Selector::Topic | Selector::Type => {
                format!("{:?}", self.key).to_lowercase()
            }
        }
    }

    /// What it looks at.
    pub(crate) fn selectors(&self) -> impl Iterator<Item = &Selector> {
        let conditions = self.matches.iter().chain(&self.checks);
        conditions
            .map(|condition| &condition.selector)
            .chain([&self.key])
            .chain(&self.member)
            .chain(self.besides.selectors())
    }
}

/// A check, with the commonest one (equal to a text) taken apart.
#[derive(Debug)]
struct Condition {
    selector: Selector,
    test: Test,
}

impl Condition {
    fn new(check: &Check) -> Self {
        Self { selector: check.selector.clone(), test: check.test.clone() }
    }

    fn holds(&self, message: &RawMessage<'_>, seen: Seen<'_>) -> bool {
        let found = find(&self.selector, message, seen);
        let holds = self.test_holds(found.as_ref());
        match (&self.selector, seen.type_alias()) {
            (Selector::Type, Some(alias)) => {
                let alias = Found::Text(alias.into());
                let alias_holds = self.test_holds(Some(&alias));
                // "Is not A" must be true of both names, "is A" of either.
                if matches!(self.test, Test::Differs(_) | Test::Absent) {
                    holds && alias_holds
                } else {
                    holds || alias_holds
                }
            }
            _ => holds,
        }
    }

    fn test_holds(&self, found: Option<&Found<'_>>) -> bool {
        match (&self.test, found) {
            // Text equal to text needs no copy; what else may be equal, the test itself knows.
            (Test::Equals(Value::String(expected)), Some(Found::Text(text))) => text == expected,
            (Test::Equals(Value::String(expected)), Some(Found::Json(Value::String(text)))) => {
                text == expected
            }
            (_, Some(Found::Json(value))) => self.test.holds(Some(value)),
            (_, Some(Found::Text(text))) => {
                self.test.holds(Some(&Value::String(text.clone().into_owned())))
            }
            (_, None) => self.test.holds(None),
        }
    }
}

/// Whether a selector can't be answered without the decoded payload.
fn needs_body(selector: &Selector, seen: Seen<'_>) -> bool {
    match selector {
        Selector::Body(_) => true,
        Selector::Type => seen.event_type().is_none(),
        Selector::Header(_)
        | Selector::MessageKey
        | Selector::Regex(_)
        | Selector::Status
        | Selector::Text
        | Selector::Topic => false,
    }
}

/// Text around the value that makes it the ledger's key: `pay:{}`.
#[derive(Debug)]
pub(crate) struct KeyFormat {
    before: String,
    after: String,
}

impl KeyFormat {
    /// A format without `{}` leaves the value as it is.
    pub(crate) fn new(format: &str) -> Self {
        let (before, after) = format.split_once("{}").unwrap_or_default();
        Self { before: before.to_owned(), after: after.to_owned() }
    }

    pub(crate) fn key(&self, value: &str) -> Option<Key> {
        if value.is_empty() {
            return None;
        }
        if self.before.is_empty() && self.after.is_empty() {
            return Key::new(value.as_bytes());
        }
        let mut bytes = SmallVec::<[u8; 64]>::new();
        for part in [&self.before, value, &self.after] {
            bytes.extend_from_slice(part.as_bytes());
        }
        Key::new(&bytes)
    }
}
