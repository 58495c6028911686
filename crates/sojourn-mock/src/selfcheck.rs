//! How much a mock can hold on this machine, and how exactly: a staircase of rates against itself.
//!
//! Load is open: arrival k is due at k/rate whether or not earlier ones are answered, so a mock
//! that falls behind cannot slow its own test down.

use std::io;
use std::sync::Arc;

use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};
use sojourn_http::{
    BodyPolicy, Client, ClientConfig, Exchange, Origin, OriginId, origin_host_header, write_request,
};

use crate::latency::Latency;
use crate::mock::{Mock, MockOptions};
use crate::server::{Figures, Meter};
use crate::source::{Respond, Source, Watched};

/// Connections of one address to another: a little less than the kernel's usual range of ports.
const CONNECTIONS_MAX: f64 = 25_000.0;
/// A generator that starts so much of its load later than this tests itself, not the mock.
const LAG_MAX_NS: u64 = 20 * MILLISECOND_NS;
const LAG_QUANTILE: f64 = 0.99;

/// What to check.
#[derive(Clone, Debug)]
pub struct Staircase {
    /// How long each answer is held.
    pub latency: Latency,
    /// Overshoot p99 must stay below this, nanoseconds.
    pub bound_ns: u64,
    /// The first rate, requests per second.
    pub from_per_s: f64,
    /// No rate is higher than this, requests per second.
    pub to_per_s: f64,
    /// Each rate is so many times the one before.
    pub factor: f64,
    /// How long each rate is kept and measured, nanoseconds, once holds have filled up.
    pub step_ns: u64,
}

/// One rate of the staircase.
#[derive(Clone, Debug)]
pub struct Stair {
    /// Requests per second.
    pub rate_per_s: f64,
    /// Connections at the end of the step.
    pub connections: u64,
    /// Requests held at the end of the step.
    pub held: u64,
    /// Overshoot during the step, nanoseconds: p50, p99 and the greatest.
    pub overshoot_ns: [u64; 3],
    /// How late the generator sent, p99, nanoseconds.
    pub lag_p99_ns: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Why it is the last.
    pub end: Option<StairsEnd>,
}

/// Why a staircase ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StairsEnd {
    /// No higher rate was asked for.
    Asked,
    /// The overshoot is above the bound: this rate is too much for the mock.
    Bound,
    /// Requests failed.
    Failures,
    /// The generator could not keep up: the mock might take more.
    Generator,
    /// The next rate would need more connections than one address has ports.
    Ports,
}

impl Staircase {
    /// Climbs until something gives way; each stair is shown as it is done.
    ///
    /// # Errors
    /// The mock or the client cannot be started, or the client's event loop fails.
    pub fn climb(
        &self,
        options: &MockOptions,
        mut show: impl FnMut(&Stair),
    ) -> io::Result<Vec<Stair>> {
        let respond = Respond {
            file: None,
            status: 200,
            headers: Vec::new(),
            latency: self.latency.clone(),
            queue: None,
            query_overrides: false,
            seed: 0,
        };
        let book = Watched::new(Source::Respond(respond)).read().map_err(io::Error::other)?;
        let mock = Mock::start(book, options).map_err(io::Error::other)?;
        let mut load = Load::new(&mock)?;
        let mut stairs: Vec<Stair> = Vec::new();
        let mut rate_per_s = self.from_per_s;
        loop {
            let mut stair = load.keep(rate_per_s, self, &mock.meter())?;
            let next_per_s = (rate_per_s * self.factor).min(self.to_per_s);
            stair.end = if stair.overshoot_ns[1] > self.bound_ns {
                Some(StairsEnd::Bound)
            } else if stair.failed > 0 {
                Some(StairsEnd::Failures)
            } else if stair.lag_p99_ns > LAG_MAX_NS {
                Some(StairsEnd::Generator)
            } else if rate_per_s >= self.to_per_s {
                Some(StairsEnd::Asked)
            } else if next_per_s * self.latency.mean_ns() / 1e9 > CONNECTIONS_MAX {
                Some(StairsEnd::Ports)
            } else {
                None
            };
            show(&stair);
            let is_last = stair.end.is_some();
            stairs.push(stair);
            if is_last {
                return Ok(stairs);
            }
            rate_per_s = next_per_s;
        }
    }
}

/// The highest stair whose figures hold: the last that did not break.
pub fn highest(stairs: &[Stair]) -> Option<&Stair> {
    stairs
        .iter()
        .rev()
        .find(|stair| matches!(stair.end, None | Some(StairsEnd::Asked | StairsEnd::Ports)))
}

/// The open load on one mock.
struct Load {
    client: Client,
    origin: OriginId,
    request: Arc<[u8]>,
}

impl Load {
    fn new(mock: &Mock) -> io::Result<Self> {
        let config =
            ClientConfig { connections_max: CONNECTIONS_MAX as usize, ..ClientConfig::default() };
        let mut client = Client::new(config)?;
        let origin = Origin::parse(&mock.url("/")).map_err(io::Error::other)?;
        let host = origin_host_header(&origin);
        let mut request = Vec::new();
        let no_headers: [(&str, &str); 0] = [];
        write_request("GET", "/", &host, &no_headers, &[], &mut request)
            .map_err(io::Error::other)?;
        Ok(Self { origin: client.origin(&origin), client, request: request.into() })
    }

    /// Keeps a rate: first until as many are held as will be, then for the length of a step.
    fn keep(&mut self, rate_per_s: f64, plan: &Staircase, meter: &Meter) -> io::Result<Stair> {
        let fill_ns = plan.latency.quantile_ns(0.99).saturating_add(SECOND_NS / 2);
        let start_ns = now_ns();
        let measured_ns = start_ns + fill_ns;
        let end_ns = measured_ns + plan.step_ns;
        let due_ns = |k: u64| start_ns + (k as f64 * 1e9 / rate_per_s) as u64;
        let mut before: Option<Figures> = None;
        let mut lags = sojourn_metrics::Histogram::new();
        let (mut k, mut failed) = (0, 0);
        let mut completions = Vec::new();
        loop {
            let now = now_ns();
            if before.is_none() && now >= measured_ns {
                before = Some(meter.figures());
                lags.clear();
            }
            if now >= end_ns {
                break;
            }
            while due_ns(k) <= now {
                lags.record(now - due_ns(k));
                self.client.send(
                    now,
                    Exchange {
                        token: 0,
                        origin: self.origin,
                        bytes: &self.request,
                        head_only: false,
                        timeout_ns: fill_ns.saturating_mul(4).saturating_add(10 * SECOND_NS),
                        body: BodyPolicy::Discard,
                    },
                );
                k += 1;
            }
            self.client.wait_until(due_ns(k).min(end_ns), &mut completions)?;
            failed += completions.drain(..).filter(|it| it.outcome.is_err()).count() as u64;
        }
        let now = meter.figures();
        let over = now.overshoot.since(&before.unwrap_or_default().overshoot);
        let at = |q| over.histogram.quantile(q).unwrap_or(0);
        Ok(Stair {
            rate_per_s,
            connections: now.open,
            held: now.held,
            overshoot_ns: [at(0.5), at(0.99), over.max_ns],
            lag_p99_ns: lags.quantile(LAG_QUANTILE).unwrap_or(0),
            failed,
            end: None,
        })
    }
}
