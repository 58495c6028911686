//! Figures of series to OpenTelemetry, by OTLP over gRPC or HTTP.
//!
//! Figures are those since the test's start: one that was not taken is in the next.

use percent_encoding::percent_decode_str;
use sojourn_clock::{Anchor, now_ns};
use sojourn_k6::metrics::{Contains, Metric, Registry, Sample};
use sojourn_k6::output::{BOUNDS, Exporter, OpenTelemetryOptions, Series, SeriesBook, Tally};
use sojourn_outputs::wire::{
    Channel, Endpoint, Failure, Figure, METRICS, Poster, Reading, Security, Sender, message,
    rejected,
};
use url::Url;

use super::sender::{Push, Sending};

const HEADERS: [(&str, &str); 1] = [("content-type", "application/x-protobuf")];

/// See the module's page.
pub(super) struct OpenTelemetry {
    way: Way,
    sender: Sender,
    prefix: String,
    is_rate_single: bool,
    anchor: Anchor,
    book: SeriesBook<Tally>,
    /// Samples since figures were last taken.
    since: u64,
}

enum Way {
    Grpc(Channel),
    Http(Poster, Url),
}

impl OpenTelemetry {
    pub(super) fn new(options: OpenTelemetryOptions) -> Result<Self, String> {
        let url = Url::parse(&options.url).map_err(|error| format!("no URL: {error}"))?;
        // As OpenTelemetry has them in variables.
        let decoded = |value: &str| percent_decode_str(value).decode_utf8_lossy().into_owned();
        let headers = options.headers.iter().map(|(name, value)| (name.clone(), decoded(value)));
        let endpoint = Endpoint::new(&url, &headers.collect::<Vec<_>>())?;
        let security = Security {
            ca_file: options.ca_file.map(Into::into),
            identity: options.identity.map(|(chain, key)| (chain.into(), key.into())),
            is_unverified: options.is_unverified,
        };
        let way = match &options.exporter {
            Exporter::Grpc => Way::Grpc(Channel::new(&endpoint, &security)?),
            Exporter::Http(path) => {
                let poster = Poster::new(&endpoint, &security)?;
                let slash = if path.starts_with('/') { "" } else { "/" };
                let url = poster.url(&format!("{slash}{path}"));
                Way::Http(poster, url)
            }
        };
        let anchor = Anchor::now();
        let pair = |name: &str, value: String| (name.to_owned(), value);
        let resource = vec![
            pair("service.name", options.service_name),
            pair("service.version", options.service_version),
        ];
        let sender = Sender { resource, scope: "k6".to_owned(), start_unix_ns: anchor.unix_ns };
        Ok(Self {
            way,
            sender,
            prefix: options.metric_prefix,
            is_rate_single: options.is_rate_single,
            anchor,
            book: SeriesBook::default(),
            since: 0,
        })
    }

    /// What has changed; those of one metric together.
    fn figures(&self, registry: &Registry) -> Vec<Figure> {
        let mut all = Vec::new();
        for series in self.book.iter().filter(|series| series.is_changed) {
            // Ids are the registry's own.
            if let Some(metric) = registry.get(series.metric) {
                self.figures_of(metric, series, &mut all);
            }
        }
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all
    }

    fn figures_of(&self, metric: &Metric, series: &Series<Tally>, all: &mut Vec<Figure>) {
        let name = format!("{}{}", self.prefix, metric.name);
        let unit = match metric.contains {
            Contains::Time => "ms",
            Contains::Data => "By",
            Contains::Default => "",
        };
        let pair = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
        let attributes: Vec<_> = series.tags.iter().map(pair).collect();
        let mut add = |name: String, more: Option<(&str, &str)>, reading: Reading| {
            let mut attributes = attributes.clone();
            attributes.extend(more.map(pair));
            all.push(Figure { name, unit, attributes, reading });
        };
        match &series.total {
            Tally::Counter(sum) => add(name, None, Reading::Sum(*sum)),
            Tally::Gauge(last, _) => add(name, None, Reading::Level(*last)),
            Tally::Rate(others, zeros) if self.is_rate_single => {
                for (condition, count) in [("nonzero", *others), ("zero", *zeros)] {
                    if count > 0 {
                        let condition = Some(("condition", condition));
                        add(format!("{name}.total"), condition, Reading::Count(count));
                    }
                }
            }
            Tally::Rate(others, zeros) => {
                add(format!("{name}.occurred"), None, Reading::Count(*others));
                add(format!("{name}.total"), None, Reading::Count(others + zeros));
            }
            Tally::Trend { count, sum, min, max, buckets } => {
                let (buckets, bounds) = (buckets.clone(), BOUNDS);
                let (count, sum, min, max) = (*count, *sum, *min, *max);
                add(name, None, Reading::Spread { count, sum, min, max, bounds, buckets });
            }
        }
    }
}

impl Sending for OpenTelemetry {
    fn take(&mut self, samples: &[Sample], _: &Registry) -> u64 {
        let taken = samples.iter().filter(|sample| self.book.add(sample)).count() as u64;
        self.since += taken;
        samples.len() as u64 - taken
    }

    fn push(&mut self, moment: Push<'_>) -> Result<(), Failure> {
        let figures = self.figures(moment.registry);
        if figures.is_empty() {
            return Ok(());
        }
        let body = message(&self.sender, self.anchor.unix_ns_at(now_ns()), figures);
        let answer = match &mut self.way {
            Way::Grpc(channel) => channel.call(METRICS, &body, moment.timeout)?,
            Way::Http(poster, url) => poster.post(url, &HEADERS, &body, moment.timeout)?,
        };
        match rejected(&answer) {
            0 => {
                self.book.settle();
                self.since = 0;
                Ok(())
            }
            count => Err(Failure::Never(format!("{count} figures were refused by the receiver"))),
        }
    }

    fn unsent(&self) -> u64 {
        self.since
    }
}
