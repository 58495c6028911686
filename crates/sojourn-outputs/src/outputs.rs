//! All outputs of a run.

use std::sync::Arc;

use sojourn_clock::Anchor;
use sojourn_metrics::{Snapshot, Store};
use sojourn_record::JourneyRecord;

use crate::{
    account::Account,
    builder::{Builder, Wanted},
    http::{Poster, Security},
    influxdb::InfluxDb,
    ndjson::Ndjson,
    otlp::{Otlp, OtlpGrpc},
    outlet::{FLUSH_NS, Outlet, Output},
    prometheus::{RemoteWrite, Scrape},
    statsd::Statsd,
    target::{OutputError, Place, Run, Target},
};

/// A second of the run.
#[derive(Clone, Copy, Debug)]
pub struct Second<'a> {
    /// Its end, CLOCK_MONOTONIC nanoseconds.
    pub at_ns: u64,
    /// The run's start, likewise.
    pub start_ns: u64,
    /// Whether it is the last.
    pub is_last: bool,
    /// What each source reported since the last second.
    pub interval: &'a [Snapshot],
    /// All of it since the run's start, this second included.
    pub store: &'a Store,
    /// Journeys kept since the last second.
    pub journeys: &'a [JourneyRecord],
    /// Further ones, for which there was no room on the way here.
    pub journeys_beyond: u64,
}

/// All outputs of a run.
#[derive(Debug)]
pub struct Outputs {
    builder: Builder,
    outlets: Vec<Outlet>,
}

impl Outputs {
    /// Opens what has to be there before the run: listeners, files, threads. Servers are first
    /// spoken to when there is something to send.
    ///
    /// # Errors
    /// [`OutputError::Start`].
    pub fn open(targets: &[Target], run: &Run) -> Result<Self, OutputError> {
        let outlets: Result<_, _> = targets.iter().map(|target| open(target, run)).collect();
        let wanted = targets.iter().map(|target| match target.place {
            Place::Ndjson(_) => Wanted::Messages,
            Place::Otlp(_) | Place::OtlpGrpc(_) => Wanted::Timelines,
            _ => Wanted::Nothing,
        });
        let wanted = wanted.max().unwrap_or(Wanted::Nothing);
        Ok(Self { builder: Builder::new(Anchor::now(), wanted), outlets: outlets? })
    }

    /// Gives every output a second of the run. Never waits for any of them.
    pub fn second(&mut self, second: &Second<'_>) {
        let frame = Arc::new(self.builder.frame(second));
        for outlet in &self.outlets {
            outlet.give(&frame);
            outlet.give_beyond(second.journeys_beyond);
        }
    }

    /// Gives every output [`FLUSH_NS`] (the same time for all) to send what it holds, ends it, and
    /// says what became of what it was given.
    pub fn end(self) -> Vec<Account> {
        self.end_within(FLUSH_NS)
    }

    /// The same with another time, nanoseconds.
    pub fn end_within(mut self, flush_ns: u64) -> Vec<Account> {
        let until_ns = sojourn_clock::now_ns() + flush_ns;
        self.outlets.iter_mut().for_each(|outlet| outlet.begin_end(until_ns));
        self.outlets.into_iter().map(|outlet| outlet.end(until_ns)).collect()
    }
}

fn open(target: &Target, run: &Run) -> Result<Outlet, OutputError> {
    let started = output(&target.place, run).and_then(|output| {
        Outlet::start(target.what.clone(), output).map_err(|why| format!("no thread: {why}"))
    });
    started.map_err(|why| OutputError::Start { what: target.what.clone(), why })
}

fn output(place: &Place, run: &Run) -> Result<Box<dyn Output>, String> {
    let security = Security { ca_file: run.ca_file.clone(), ..Security::default() };
    let poster = |endpoint| Poster::new(endpoint, &security);
    Ok(match place {
        Place::Prometheus { address, linger_ns } => {
            Box::new(Scrape::start(address, *linger_ns, run)?)
        }
        Place::RemoteWrite(endpoint) => Box::new(RemoteWrite::new(poster(endpoint)?, run)),
        Place::Otlp(endpoint) => Box::new(Otlp::new(poster(endpoint)?, run)),
        Place::OtlpGrpc(endpoint) => Box::new(OtlpGrpc::new(endpoint, &security, run)?),
        Place::InfluxDb1 { endpoint, database } => {
            Box::new(InfluxDb::version_1(poster(endpoint)?, database, run))
        }
        Place::InfluxDb2 { endpoint, org, bucket } => {
            Box::new(InfluxDb::version_2(poster(endpoint)?, org, bucket, run))
        }
        Place::Statsd(address) => Box::new(Statsd::new(address)?),
        Place::Ndjson(path) => Box::new(Ndjson::create(path, run)?),
        #[cfg(feature = "parquet")]
        Place::Parquet(path) => Box::new(crate::parquet::Parquet::create(path, run)?),
        #[cfg(not(feature = "parquet"))]
        Place::Parquet(path) => {
            let path = path.display();
            return Err(format!("{path} cannot be written: build with the feature `parquet`"));
        }
    })
}
