//! Plain JSON, read no further than selectors look: what they do not look at is checked and passed
//! over, what they do is borrowed.
//!
//! A glance sees what reading the whole would show, or nothing: whatever it is not sure of (an
//! envelope, a payload that is no object or no JSON) is left to [`crate::decode`].

use std::borrow::Cow;

use sojourn_plan::{Decoder, JsonPath, PathStep, Selector};

use crate::RawMessage;
use crate::envelope::{Headers, Names};
use crate::places::{Branches, Level, Placed, Values, take};
use crate::select::{Found, is_envelope_path};
use crate::skim::Skim;
use crate::text::scalar_text;

/// Most places looked for: they are compared one by one.
const PLACES_MAX: usize = 16;
/// Where the field `type` is among the places.
const TYPE: usize = 0;

/// The places of a payload that a channel's selectors look at.
#[derive(Debug)]
pub(crate) struct Glasses {
    decoder: Decoder,
    /// None lies within another.
    places: Vec<Vec<PathStep>>,
    root: Branches,
    unsure: Unsure,
}

impl Glasses {
    /// For these selectors; `None` where a glance would not do.
    pub(crate) fn new<'s>(
        decoder: &Decoder,
        selectors: impl Iterator<Item = &'s Selector>,
    ) -> Option<Self> {
        if !matches!(decoder, Decoder::Auto | Decoder::Json) {
            return None;
        }
        let mut wanted = vec![vec![PathStep::Name("type".to_owned())]];
        for selector in selectors {
            let Selector::Body(path) = selector else { continue };
            let steps = path.plain.as_ref().filter(|_| !is_envelope_path(path))?;
            let is_name = |step: &&PathStep| matches!(step, PathStep::Name(_));
            let names: Vec<_> = steps.iter().take_while(is_name).cloned().collect();
            match (names.is_empty(), steps.is_empty()) {
                // The whole document is wanted.
                (true, true) => return None,
                // Nothing of an object has a number.
                (true, false) => {}
                (false, _) => wanted.push(names),
            }
        }
        // Those that others lie within come first, `type` before all.
        wanted.sort_by_key(Vec::len);
        let (mut places, mut root) = (Vec::<Vec<PathStep>>::new(), Branches::default());
        for names in wanted {
            if !places.iter().any(|place| names.starts_with(place)) {
                root.insert(&names, places.len());
                places.push(names);
            }
        }
        (places.len() <= PLACES_MAX).then(|| Self {
            decoder: decoder.clone(),
            places,
            root,
            unsure: Unsure::default(),
        })
    }

    /// Whether it is worth trying, after what came of it with the messages before.
    pub(crate) fn are_on(&mut self) -> bool {
        self.unsure.tries()
    }

    /// What came of it.
    pub(crate) fn learn(&mut self, was_sure: bool) {
        self.unsure.learn(was_sure);
    }

    /// Looks at a message. `None`: it is to be read whole.
    pub(crate) fn look<'m>(&self, message: &RawMessage<'m>) -> Option<Glance<'m>> {
        let headers = Headers::of(message, &self.decoder);
        let recognises = matches!(self.decoder, Decoder::Auto);
        if recognises && headers.may_be_enveloped() {
            return None;
        }
        let text = std::str::from_utf8(message.payload).ok()?;
        let mut skim = Skim::new(text);
        let mut values = Values::new();
        values.resize_with(self.places.len(), || None);
        let mut names = Names::default();
        let level = Level::Document { names: &mut names, recognises };
        take(&mut skim, &self.root, &mut values, level)?;
        skim.end()?;
        Some(Glance { values, event_type: headers.event_type(), message_id: headers.message_id() })
    }
}

/// What was seen of a message.
#[derive(Debug)]
pub(crate) struct Glance<'m> {
    /// One for each place.
    values: Values<'m>,
    /// The header's.
    event_type: Option<Cow<'m, str>>,
    /// The declared one.
    message_id: Option<Cow<'m, str>>,
}

impl Glance<'_> {
    /// For selectors.
    pub(crate) fn view<'a>(&'a self, glasses: &'a Glasses) -> View<'a> {
        View {
            glasses,
            values: &self.values,
            event_type: self.event_type.as_deref(),
            message_id: self.message_id.as_deref(),
        }
    }
}

/// A glance, and the glasses that it was had by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    glasses: &'a Glasses,
    values: &'a [Option<Placed<'a>>],
    event_type: Option<&'a str>,
    message_id: Option<&'a str>,
}

impl<'a> View<'a> {
    /// As [`crate::Decoded::event_type`].
    pub(crate) fn event_type(self) -> Option<Cow<'a, str>> {
        if let Some(text) = self.event_type {
            return Some(Cow::Borrowed(text));
        }
        match self.values.get(TYPE)?.as_ref()? {
            Placed::Text(text) => Some(Cow::Borrowed(text)),
            Placed::Other(value) => scalar_text(value),
        }
    }

    /// As [`crate::Decoded::message_id`].
    pub(crate) fn message_id(self) -> Option<&'a str> {
        self.message_id
    }

    /// The value at a path that the glasses were made for.
    pub(crate) fn find(self, path: &JsonPath) -> Option<Found<'a>> {
        let steps = path.plain.as_ref()?;
        let places = &self.glasses.places;
        let place = places.iter().position(|place| steps.starts_with(place))?;
        let beyond = &steps[places[place].len()..];
        match self.values.get(place)?.as_ref()? {
            Placed::Text(text) => beyond.is_empty().then(|| Found::Text(Cow::Borrowed(text))),
            Placed::Other(value) => {
                let mut beyond = beyond.iter();
                let value = beyond.try_fold(value, |value, step| match step {
                    PathStep::Name(name) => value.get(name),
                    PathStep::Index(index) => value.get(index),
                });
                value.map(Found::Json)
            }
        }
    }
}

/// How often glances were unsure one after the other, each for nothing: the more, the longer none
/// is tried.
#[derive(Debug, Default)]
struct Unsure {
    pause: u32,
    left: u32,
}

impl Unsure {
    const PAUSE_MAX: u32 = 63;

    fn tries(&mut self) -> bool {
        let tries = self.left == 0;
        self.left = self.left.saturating_sub(1);
        tries
    }

    fn learn(&mut self, was_sure: bool) {
        self.pause = if was_sure { 0 } else { (2 * self.pause + 1).min(Self::PAUSE_MAX) };
        self.left = self.pause;
    }
}

#[cfg(test)]
#[path = "glance_tests.rs"]
mod tests;
