//! What a mock is: routes in order, the first that fits a request answers it.
//!
//! A book is immutable but for counters and rate limits, which all threads share without locks.

pub(crate) mod answer;
pub(crate) mod degrade;
pub(crate) mod fault;
pub(crate) mod limit;
pub(crate) mod overrides;
pub(crate) mod pattern;
pub(crate) mod values;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sojourn_plan::{Channel, DataSource, Test};

use crate::callbacks::{Action, Callback};
use crate::latency::Latency;
use crate::queue::Queue;
use crate::server::Request;
use answer::Answer;
use degrade::Degradation;
use fault::Fault;
use limit::Limit;
use pattern::Pattern;
use values::{Place, Values};

/// Bodies above this are refused where a route looks at them.
pub(crate) const BODY_MAX: usize = 10_000_000;

/// A mock.
#[derive(Debug, Default)]
pub struct Book {
    /// Of everything random.
    pub seed: u64,
    /// In order.
    pub routes: Vec<Route>,
    /// Whether `delay=`, `status=`, `size=` and `close=` in a query are taken as wishes.
    pub query_overrides: bool,
    /// Requests are served in order by this queue, whose service times stand for latencies.
    pub queue: Option<Queue>,
    /// Rows that templates name.
    pub(crate) data: Vec<Arc<DataSource>>,
    /// What the templates' variables stand for.
    pub(crate) places: Vec<Place>,
    /// Where callbacks go.
    pub(crate) callbacks: Vec<Callback>,
    /// What is strange about it, in words.
    pub warnings: Vec<String>,
    /// Routes whose pattern is one path, by that path; ascending.
    by_path: HashMap<String, Vec<usize>>,
    /// The other routes, ascending.
    open: Vec<usize>,
}

/// One route.
#[derive(Debug)]
pub struct Route {
    /// As written, for metrics.
    pub name: String,
    /// `None`: any.
    pub method: Option<String>,
    /// Which paths.
    pub pattern: Pattern,
    /// What else must hold.
    pub conditions: Vec<Condition>,
    /// The possible answers with their shares; what the shares leave over is the first's.
    pub answers: Vec<(Answer, f64)>,
    /// Of answers that have none of their own.
    pub latency: Latency,
    /// Bodies of these sizes instead of the answer's own, with their shares.
    pub sizes: Vec<(u64, f64)>,
    /// What goes wrong, with its share.
    pub faults: Vec<(Fault, f64)>,
    /// Share of answers that end their connection.
    pub close: f64,
    /// How many requests at most.
    pub limit: Option<Limit>,
    /// How it gets worse.
    pub degradation: Option<Degradation>,
    /// Places among [`Book::callbacks`] of what follows an answer.
    pub(crate) callbacks: Vec<usize>,
    /// Requests so far: k of everything random.
    pub(crate) requests: AtomicU64,
}

/// A condition on a value of a request.
#[derive(Clone, Debug)]
pub struct Condition {
    /// Of what.
    pub place: Place,
    /// Which.
    pub test: Test,
}

/// A stream of randomness of a route: purposes and routes never share one.
pub(crate) fn stream(purpose: &[u8; 8], route: usize) -> u64 {
    u64::from_be_bytes(*purpose).wrapping_add((route as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

impl Book {
    /// A book of these routes.
    pub fn new(seed: u64, routes: Vec<Route>) -> Self {
        let mut book = Self { seed, routes, ..Self::default() };
        for (place, route) in book.routes.iter().enumerate() {
            match route.pattern.literal() {
                Some(path) => book.by_path.entry(path).or_default().push(place),
                None => book.open.push(place),
            }
        }
        book
    }

    /// The routes that may fit a path, in order.
    pub(crate) fn candidates(&self, path: &str) -> impl Iterator<Item = usize> {
        let exact = match self.by_path.is_empty() {
            true => &[],
            false => self.by_path.get(path).map_or(&[][..], Vec::as_slice),
        };
        let (mut exact, mut open) = (exact.iter().peekable(), self.open.iter().peekable());
        std::iter::from_fn(move || {
            let is_exact = match (exact.peek(), open.peek()) {
                (Some(exact), Some(open)) => exact < open,
                (exact, _) => exact.is_some(),
            };
            if is_exact { exact.next().copied() } else { open.next().copied() }
        })
    }

    /// The channels that callbacks publish to, each once.
    pub(crate) fn published_channels(&self) -> Vec<Arc<Channel>> {
        let mut channels: Vec<Arc<Channel>> = Vec::new();
        for callback in &self.callbacks {
            if let Action::Publish(publication) = &callback.action
                && !channels.iter().any(|known| Arc::ptr_eq(known, &publication.channel))
            {
                channels.push(publication.channel.clone());
            }
        }
        channels
    }

    /// Whether any route keeps a counter that is worth reporting.
    pub(crate) fn counts(&self) -> bool {
        self.routes.len() > 1 || self.routes.iter().any(Route::is_random)
    }
}

impl Route {
    /// A route for everything, which answers at once.
    pub fn catch_all(answer: Answer) -> Self {
        Self {
            name: "*".to_owned(),
            method: None,
            pattern: Pattern::any(),
            conditions: Vec::new(),
            answers: vec![(answer, 1.0)],
            latency: Latency::Fixed(0),
            sizes: Vec::new(),
            faults: Vec::new(),
            close: 0.0,
            limit: None,
            degradation: None,
            callbacks: Vec::new(),
            requests: AtomicU64::new(0),
        }
    }

    /// Whether method and path fit; who answers GET answers HEAD.
    pub(crate) fn fits(&self, request: &Request<'_>) -> bool {
        let is_method = |method: &str| {
            method == request.method || (method == "GET" && request.method == "HEAD")
        };
        self.method.as_deref().is_none_or(is_method) && self.pattern.fits(request.route())
    }

    /// Whether the conditions hold.
    pub(crate) fn holds(&self, values: &Values<'_>) -> bool {
        self.conditions.iter().all(|condition| {
            let value = values.json(&condition.place);
            condition.test.holds(value.as_deref())
        })
    }

    /// Whether conditions, answers or callbacks look at the body.
    pub(crate) fn needs_body(&self, book: &Book) -> bool {
        self.conditions.iter().any(|condition| condition.place.needs_body())
            || self.answers.iter().any(|(answer, _)| answer.needs_body(book))
            || self.callbacks.iter().any(|place| book.callbacks[*place].needs_body(book))
    }

    /// Whether anything depends on the request's number.
    pub(crate) fn is_random(&self) -> bool {
        self.answers.len() > 1
            || self.answers.iter().any(|(answer, _)| !answer.is_ready())
            || self.answers.iter().any(|(answer, _)| answer.latency().is_some())
            || !matches!(self.latency, Latency::Fixed(_))
            || !self.sizes.is_empty()
            || !self.faults.is_empty()
            || self.close > 0.0
            || self.degradation.is_some()
            || !self.callbacks.is_empty()
    }

    /// The number of this request, from 0.
    pub(crate) fn count(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed)
    }
}
