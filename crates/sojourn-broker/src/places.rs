//! Takes out of a JSON document what lies at some places in it.

use std::borrow::Cow;

use serde_json::Value;
use smallvec::SmallVec;
use sojourn_plan::PathStep;

use crate::envelope::Names;
use crate::skim::Skim;

/// What was found, one for each place.
pub(crate) type Values<'m> = SmallVec<[Option<Placed<'m>>; 4]>;

/// A value at a place.
#[derive(Debug)]
pub(crate) enum Placed<'m> {
    Text(Cow<'m, str>),
    Other(Value),
}

/// The fields of an object that lead to places.
#[derive(Debug, Default)]
pub(crate) struct Branches(Vec<(String, Branch)>);

#[derive(Debug)]
pub(crate) enum Branch {
    /// The value is wanted whole.
    Place(usize),
    /// What lies in it is.
    Deeper(Branches),
}

static NONE: Branches = Branches(Vec::new());

impl Branches {
    /// No place inserted before may begin `names`.
    pub(crate) fn insert(&mut self, names: &[PathStep], place: usize) {
        let [PathStep::Name(name), rest @ ..] = names else { return };
        if rest.is_empty() {
            self.0.push((name.clone(), Branch::Place(place)));
            return;
        }
        let at = self.0.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.0.push((name.clone(), Branch::Deeper(Self::default())));
            self.0.len() - 1
        });
        if let Branch::Deeper(branches) = &mut self.0[at].1 {
            branches.insert(rest, place);
        }
    }

    fn find(&self, name: &str) -> Option<&Branch> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, branch)| branch)
    }

    /// Of a name that comes twice the last value counts, whole.
    fn forget(&self, values: &mut Values<'_>) {
        for (_, branch) in &self.0 {
            match branch {
                Branch::Place(place) => values[*place] = None,
                Branch::Deeper(branches) => branches.forget(values),
            }
        }
    }
}

/// Where an object is.
#[derive(Debug)]
pub(crate) enum Level<'n> {
    /// It is the document.
    Document { names: &'n mut Names, recognises: bool },
    /// It is the document's `payload`, and that may be a change of Debezium.
    Payload,
    /// Anywhere else.
    Deeper,
}

impl Level<'_> {
    /// Whether the field of this name is the document's `payload`; `None` where the name says that
    /// the document is to be read whole.
    fn is_payload(&mut self, name: &str) -> Option<bool> {
        match self {
            Level::Document { names, recognises: true } => {
                names.note(name);
                Some(name == "payload")
            }
            Level::Payload if name == "op" => None,
            Level::Document { .. } | Level::Payload | Level::Deeper => Some(false),
        }
    }
}

/// Takes what lies at places in an object, or passes what is none. `None`: the document is to be
/// read whole, as it is where it is no object.
pub(crate) fn take<'m>(
    skim: &mut Skim<'m>,
    branches: &Branches,
    values: &mut Values<'m>,
    mut level: Level<'_>,
) -> Option<()> {
    if skim.next()? != b'{' {
        return match level {
            Level::Document { .. } => None,
            Level::Payload | Level::Deeper => skim.value(),
        };
    }
    skim.fields(|skim, name| {
        let is_payload = level.is_payload(name)?;
        take_field(skim, branches.find(name), values, is_payload)
    })?;
    match level {
        Level::Document { names, recognises: true } if names.may_be_enveloped() => None,
        _ => Some(()),
    }
}

fn take_field<'m>(
    skim: &mut Skim<'m>,
    found: Option<&Branch>,
    values: &mut Values<'m>,
    is_payload: bool,
) -> Option<()> {
    let branches = match found {
        None if !is_payload => return skim.value(),
        None => &NONE,
        Some(Branch::Place(place)) => {
            let value = match skim.next()? {
                b'"' => Placed::Text(skim.string()?),
                _ => Placed::Other(skim.read()?),
            };
            if is_payload
                && let Placed::Other(payload) = &value
                && payload.get("op").is_some()
            {
                return None;
            }
            values[*place] = Some(value);
            return Some(());
        }
        Some(Branch::Deeper(branches)) => branches,
    };
    branches.forget(values);
    take(skim, branches, values, if is_payload { Level::Payload } else { Level::Deeper })
}
