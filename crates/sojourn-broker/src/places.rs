//! Takes out of a JSON document what lies at some places in it.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use smallvec::SmallVec;
use sojourn_plan::PathStep;

use crate::envelope::Names;
use crate::passed::{Passed, PassedName, unsure};

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
pub(crate) enum Level<'n> {
    /// It is the document.
    Document { names: &'n mut Names, recognises: bool },
    /// It is the document's `payload`, and that may be a change of Debezium.
    Payload,
    /// Anywhere else.
    Deeper,
}

/// Reads an object with places in it, or passes what is none.
pub(crate) struct Object<'w, 'a, 'm> {
    pub(crate) branches: &'w Branches,
    pub(crate) values: &'a mut Values<'m>,
    pub(crate) level: Level<'a>,
}

impl<'m> Object<'_, '_, 'm> {
    /// What is no object has no places; a document is left to others then.
    fn none<E: Error>(&self) -> Result<(), E> {
        match self.level {
            Level::Document { .. } => Err(unsure()),
            Level::Payload | Level::Deeper => Ok(()),
        }
    }

    fn value<A: MapAccess<'m>>(
        &mut self,
        found: Option<&Branch>,
        is_payload: bool,
        fields: &mut A,
    ) -> Result<(), A::Error> {
        let branches = match found {
            None if !is_payload => return fields.next_value_seed(Passed),
            None => &NONE,
            Some(Branch::Place(place)) => {
                let value = fields.next_value_seed(Wanted)?;
                if is_payload
                    && let Placed::Other(payload) = &value
                    && payload.get("op").is_some()
                {
                    return Err(unsure());
                }
                self.values[*place] = Some(value);
                return Ok(());
            }
            Some(Branch::Deeper(branches)) => branches,
        };
        branches.forget(self.values);
        let level = if is_payload { Level::Payload } else { Level::Deeper };
        fields.next_value_seed(Object { branches, values: self.values, level })
    }
}

impl<'m> DeserializeSeed<'m> for Object<'_, '_, 'm> {
    type Value = ();

    fn deserialize<D: Deserializer<'m>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }
}

impl<'m> Visitor<'m> for Object<'_, '_, 'm> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'m>>(mut self, mut fields: A) -> Result<(), A::Error> {
        loop {
            let name = Name { branches: self.branches, level: &mut self.level };
            let Some((found, is_payload)) = fields.next_key_seed(name)? else { break };
            self.value(found, is_payload, &mut fields)?;
        }
        match &self.level {
            Level::Document { names, recognises: true } if names.may_be_enveloped() => {
                Err(unsure())
            }
            _ => Ok(()),
        }
    }

    fn visit_seq<A: SeqAccess<'m>>(self, items: A) -> Result<(), A::Error> {
        self.none::<A::Error>()?;
        Passed.visit_seq(items)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.none()
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.none()
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.none()
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.none()
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.none()
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.none()
    }
}

/// Reads a field's name: where it leads to, and whether it is the document's `payload`.
struct Name<'w, 'l, 'n> {
    branches: &'w Branches,
    level: &'l mut Level<'n>,
}

impl<'m, 'w> DeserializeSeed<'m> for Name<'w, '_, '_> {
    type Value = (Option<&'w Branch>, bool);

    fn deserialize<D: Deserializer<'m>>(self, name: D) -> Result<Self::Value, D::Error> {
        name.deserialize_str(self)
    }
}

impl<'w> Visitor<'_> for Name<'w, '_, '_> {
    type Value = (Option<&'w Branch>, bool);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        let mut is_payload = false;
        match self.level {
            Level::Document { names, recognises: true } => {
                names.note(name);
                is_payload = name == "payload";
            }
            Level::Payload if name == "op" => return Err(unsure()),
            Level::Document { .. } | Level::Payload | Level::Deeper => {}
        }
        PassedName.visit_str::<E>(name)?;
        Ok((self.branches.find(name), is_payload))
    }
}

/// Reads a value that is wanted.
struct Wanted;

impl<'m> DeserializeSeed<'m> for Wanted {
    type Value = Placed<'m>;

    fn deserialize<D: Deserializer<'m>>(self, value: D) -> Result<Placed<'m>, D::Error> {
        value.deserialize_any(self)
    }
}

impl<'m> Visitor<'m> for Wanted {
    type Value = Placed<'m>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'m str) -> Result<Placed<'m>, E> {
        Ok(Placed::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Placed<'m>, E> {
        Ok(Placed::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Placed<'m>, E> {
        Ok(Placed::Other(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Placed<'m>, E> {
        Ok(Placed::Other(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Placed<'m>, E> {
        Ok(Placed::Other(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Placed<'m>, E> {
        Ok(Placed::Other(value.into()))
    }

    fn visit_unit<E: Error>(self) -> Result<Placed<'m>, E> {
        Ok(Placed::Other(Value::Null))
    }

    fn visit_seq<A: SeqAccess<'m>>(self, items: A) -> Result<Placed<'m>, A::Error> {
        Value::deserialize(SeqAccessDeserializer::new(items)).map(Placed::Other)
    }

    fn visit_map<A: MapAccess<'m>>(self, fields: A) -> Result<Placed<'m>, A::Error> {
        Value::deserialize(MapAccessDeserializer::new(fields)).map(Placed::Other)
    }
}
