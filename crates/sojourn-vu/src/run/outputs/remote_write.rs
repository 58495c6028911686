//! Figures of series to Prometheus and what reads its remote write.
//!
//! Figures are those since the test's start: one that was not taken is in the next.

use std::collections::HashMap;

use sojourn_clock::{Anchor, now_ns};
use sojourn_k6::metrics::{Contains, MetricKind, Registry, Sample, Sink, TagSet};
use sojourn_k6::output::{
    NATIVE_SCHEMA, NATIVE_ZERO_MAX, NativeTally, RemoteWriteOptions, RemoteWriteStat, SeriesBook,
    native_name, samples_of,
};
use sojourn_outputs::wire::{
    Endpoint, Failure, Labelled, LabelledValue, NativeHistogram, Poster, Security, WRITE_HEADERS,
    label, write_request,
};
use url::Url;

use super::sender::{Push, Sending};

/// The value that says that a series has ended: a certain one of those that are no number.
const STALE_BITS: u64 = 0x7ff0_0000_0000_0002;

/// Most series of one request.
const SERIES_MAX: usize = 10_000;

/// See the module's page.
pub(super) struct RemoteWrite {
    poster: Poster,
    url: Url,
    labels: Vec<(String, String)>,
    stats: Vec<RemoteWriteStat>,
    marks_stale: bool,
    anchor: Anchor,
    book: SeriesBook<Sink>,
    /// Trends, where they are native histograms; times are seconds.
    natives: Option<SeriesBook<NativeTally>>,
    /// Samples since figures were last taken.
    since: u64,
    /// The latest instant that was sent, ms.
    unix_ms: i64,
}

impl RemoteWrite {
    pub(super) fn new(options: RemoteWriteOptions) -> Result<Self, String> {
        let mut url = Url::parse(&options.url).map_err(|error| format!("no URL: {error}"))?;
        if let Some((name, password)) = &options.basic {
            let set = url.set_username(name).and_then(|()| url.set_password(Some(password)));
            set.map_err(|()| "a URL without a host has no user".to_owned())?;
        }
        let endpoint = Endpoint::new(&url, &options.headers)?;
        let identity = options.identity.map(|(chain, key)| (chain.into(), key.into()));
        let security = Security { ca_file: None, identity, is_unverified: options.is_unverified };
        let poster = Poster::new(&endpoint, &security)?;
        // What stands behind the question mark is part of where it goes.
        let mut target = poster.url("");
        target.set_query(url.query());
        Ok(Self {
            poster,
            url: target,
            labels: options.labels,
            stats: options.stats,
            marks_stale: options.marks_stale,
            anchor: Anchor::now(),
            book: SeriesBook::default(),
            natives: options.has_native_histograms.then(SeriesBook::default),
            since: 0,
            unix_ms: 0,
        })
    }

    /// What has changed, as series; with `is_stale` the end of all.
    fn series(&self, registry: &Registry, unix_ms: i64, is_stale: bool) -> Vec<Labelled> {
        let mut all = Vec::new();
        for series in self.book.iter().filter(|series| series.is_changed || is_stale) {
            // Ids are the registry's own.
            let Some(metric) = registry.get(series.metric) else { continue };
            for sample in samples_of(metric, series, &self.stats) {
                let labels = self.labels(sample.name, &series.tags);
                let value = if is_stale { f64::from_bits(STALE_BITS) } else { sample.value };
                all.push(Labelled { labels, value: LabelledValue::Number(value), unix_ms });
            }
        }
        for series in self.natives.iter().flat_map(SeriesBook::iter) {
            if !series.is_changed && !is_stale {
                continue;
            }
            let Some(metric) = registry.get(series.metric) else { continue };
            let mut native = native(&series.total);
            if is_stale {
                native.sum = f64::from_bits(STALE_BITS);
            }
            let labels = self.labels(native_name(metric), &series.tags);
            let value = LabelledValue::Histogram(Box::new(native));
            all.push(Labelled { labels, value, unix_ms });
        }
        all
    }

    /// Of a series: the options' labels, above them its tags, above them its name, which is nobody
    /// else's.
    fn labels(&self, name: String, tags: &TagSet) -> Vec<(String, String)> {
        let mut labels: HashMap<String, String> = self.labels.iter().cloned().collect();
        labels.extend(tags.iter().map(|(key, value)| (named(key), value.to_owned())));
        labels.insert("__name__".to_owned(), name);
        labels.into_iter().collect()
    }

    /// Takes a sample; false where there is no room for its series, or no bucket for its value.
    fn add(&mut self, sample: &Sample, registry: &Registry) -> bool {
        let Some(natives) = &mut self.natives else { return self.book.add(sample) };
        if sample.metric.kind() != MetricKind::Trend {
            return self.book.add(sample);
        }
        let is_time =
            registry.get(sample.metric).is_some_and(|metric| metric.contains == Contains::Time);
        let value = if is_time { sample.value / 1e3 } else { sample.value };
        value.is_finite() && natives.add(&Sample { value, ..sample.clone() })
    }

    /// Writes series with an instant of their own: what is sent twice is refused.
    fn write(&mut self, moment: Push<'_>, is_stale: bool) -> Result<(), Failure> {
        let until_ns = now_ns() + moment.timeout.as_nanos() as u64;
        let now_ms = self.anchor.unix_ns_at(now_ns()) / 1_000_000;
        let unix_ms = i64::try_from(now_ms).unwrap_or(i64::MAX).max(self.unix_ms + 1);
        let mut all = self.series(moment.registry, unix_ms, is_stale);
        while !all.is_empty() {
            let rest = all.split_off(all.len().min(SERIES_MAX));
            let body = write_request(std::mem::replace(&mut all, rest))?;
            let left_ns = until_ns.saturating_sub(now_ns()).max(1);
            let timeout = std::time::Duration::from_nanos(left_ns);
            self.unix_ms = unix_ms;
            self.poster.post(&self.url, &WRITE_HEADERS, &body, timeout)?;
        }
        Ok(())
    }
}

/// As it goes over the wire.
fn native(tally: &NativeTally) -> NativeHistogram {
    let buckets = |buckets: &std::collections::BTreeMap<i32, u64>| {
        buckets.iter().map(|(bucket, count)| (*bucket, *count)).collect()
    };
    NativeHistogram {
        schema: NATIVE_SCHEMA,
        zero_max: NATIVE_ZERO_MAX,
        count: tally.count,
        sum: tally.sum,
        zeros: tally.zeros,
        positive: buckets(&tally.positive),
        negative: buckets(&tally.negative),
    }
}

/// A tag's name as a label's: it has no other characters, and does not begin with a digit.
fn named(key: &str) -> String {
    let name = label(key);
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

impl Sending for RemoteWrite {
    fn take(&mut self, samples: &[Sample], registry: &Registry) -> u64 {
        let taken = samples.iter().filter(|sample| self.add(sample, registry)).count() as u64;
        self.since += taken;
        samples.len() as u64 - taken
    }

    fn push(&mut self, moment: Push<'_>) -> Result<(), Failure> {
        self.write(moment, false)?;
        self.book.settle();
        self.natives.iter_mut().for_each(SeriesBook::settle);
        self.since = 0;
        if moment.is_last && self.marks_stale {
            self.write(moment, true)?;
        }
        Ok(())
    }

    fn unsent(&self) -> u64 {
        self.since
    }
}
