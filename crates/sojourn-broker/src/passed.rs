//! Checks JSON that nobody looks at.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// What `serde_json` begins names with that it gives a meaning of its own.
const PRIVATE: &str = "$serde_json";

/// Passes a value that nobody looks at. Unlike with `IgnoredAny`, numbers out of range, halves of
/// surrogate pairs and too much nesting are errors, as when it is read.
pub(crate) struct Passed;

impl<'m> DeserializeSeed<'m> for Passed {
    type Value = ();

    fn deserialize<D: Deserializer<'m>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }
}

impl<'m> Visitor<'m> for Passed {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'m>>(self, mut fields: A) -> Result<(), A::Error> {
        while fields.next_key_seed(PassedName)?.is_some() {
            fields.next_value_seed(Self)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'m>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Self)?.is_some() {}
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }
}

/// Passes a name, unless `serde_json` gives it a meaning of its own.
pub(crate) struct PassedName;

impl<'m> DeserializeSeed<'m> for PassedName {
    type Value = ();

    fn deserialize<D: Deserializer<'m>>(self, name: D) -> Result<(), D::Error> {
        name.deserialize_str(self)
    }
}

impl Visitor<'_> for PassedName {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<(), E> {
        if name.starts_with(PRIVATE) { Err(unsure()) } else { Ok(()) }
    }
}

/// Nobody reads its words: the whole is read then.
#[cold]
pub(crate) fn unsure<E: Error>() -> E {
    E::custom("unsure")
}
