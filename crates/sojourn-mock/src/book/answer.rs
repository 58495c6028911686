//! What a route answers: a message that stands ready, or one made from the request.

use sojourn_plan::{Hole, Part, RenderContext, Template, VariableId};

use super::Book;
use super::values::{Place, Values};
use crate::latency::Latency;
use crate::message::{Body, Message};
use crate::target::Endpoint;

/// An answer, and how long it takes where that differs from the route's.
#[derive(Clone, Debug)]
pub struct Answer {
    pub(crate) kind: Kind,
    pub(crate) latency: Option<Latency>,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// An endpoint of the test target.
    Endpoint(Endpoint),
    /// The same each time.
    Ready(Message),
    /// Made from the request.
    Rendered(Box<Rendered>),
    /// What the queue decided about the request.
    Ticket,
}

/// An answer with templates.
#[derive(Clone, Debug)]
pub(crate) struct Rendered {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, Template)>,
    pub(crate) body: Template,
}

/// What templates are rendered from, besides the request.
pub(crate) struct Surroundings<'a> {
    pub(crate) book: &'a Book,
    pub(crate) run_id: &'a str,
    pub(crate) k: u64,
}

impl Answer {
    /// A message that stands ready.
    pub fn ready(message: Message) -> Self {
        Self { kind: Kind::Ready(message), latency: None }
    }

    /// What the queue decided about the request: `{"id":…,"arrival_ns":…,"start_ns":…,
    /// "finish_ns":…}`.
    pub fn ticket() -> Self {
        Self { kind: Kind::Ticket, latency: None }
    }

    /// An endpoint of the test target.
    pub(crate) fn endpoint(endpoint: Endpoint) -> Self {
        Self { kind: Kind::Endpoint(endpoint), latency: None }
    }

    pub(crate) fn is_ready(&self) -> bool {
        matches!(self.kind, Kind::Ready(_))
    }

    pub(crate) fn latency(&self) -> Option<&Latency> {
        self.latency.as_ref()
    }

    pub(crate) fn needs_body(&self, book: &Book) -> bool {
        match &self.kind {
            Kind::Endpoint(endpoint) => endpoint.needs_body(),
            Kind::Ready(_) | Kind::Ticket => false,
            Kind::Rendered(it) => {
                let headers = it.headers.iter().map(|(_, value)| value);
                headers.chain([&it.body]).any(|template| needs_body(template, book))
            }
        }
    }
}

impl Rendered {
    pub(crate) fn message(&self, around: &Surroundings<'_>, values: &Values<'_>) -> Message {
        let texts: Vec<(&str, Vec<u8>)> = self
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), around.render(value, values)))
            .collect();
        let body = around.render(&self.body, values);
        let headers = texts.iter().map(|(name, value)| (*name, value.as_slice()));
        Message::new(self.status, headers, Body::Bytes(body.into()))
    }
}

impl Surroundings<'_> {
    /// A template's text; what the request lacks is empty.
    pub(crate) fn render(&self, template: &Template, values: &Values<'_>) -> Vec<u8> {
        let own: Vec<(VariableId, Box<str>)> = variables_of(template)
            .map(|id| {
                let place = self.book.places.get(usize::from(id.0));
                let value = place.and_then(|place| values.text(place));
                (id, value.unwrap_or_default().into())
            })
            .collect();
        let context = RenderContext {
            seed: self.book.seed,
            k: self.k,
            run_id: self.run_id,
            key: "",
            variables: &[],
            own: &own,
            data: &self.book.data,
        };
        let mut out = Vec::new();
        // Every variable it uses has just been set.
        let _rendered = template.render(&context, &mut out);
        out
    }
}

/// Whether a template takes something from the body.
pub(crate) fn needs_body(template: &Template, book: &Book) -> bool {
    let place = |id: VariableId| book.places.get(usize::from(id.0));
    variables_of(template).any(|id| place(id).is_some_and(Place::needs_body))
}

fn variables_of(template: &Template) -> impl Iterator<Item = VariableId> {
    template.parts.iter().filter_map(|part| match part {
        Part::Hole { hole: Hole::Variable(id), .. } => Some(*id),
        _ => None,
    })
}
