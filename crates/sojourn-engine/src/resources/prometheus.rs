//! Figures that Prometheus knows: instant queries over its HTTP API, once a second.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::Value;
use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_http::{
    BodyPolicy, Client, ClientCertificate, ClientConfig, Completion, Exchange, Io, Origin,
    OriginId, TlsOptions, origin_host_header,
};
use sojourn_plan::{Prometheus, Secret};

/// How long connecting may take.
const CONNECT_NS: u64 = 5 * SECOND_NS;
/// Longest answer.
const ANSWER_BYTES_MAX: usize = 4 << 20;
/// Series of one query that are kept, over the whole run.
const SERIES_MAX: usize = 20;
/// Longest labels of a series, characters.
const LABELS_MAX: usize = 120;

/// A server and what it is asked.
pub(super) struct Server {
    client: Client,
    origin: OriginId,
    pub(super) prometheus: Arc<Prometheus>,
    secrets: Vec<Secret>,
    /// `Prometheus 127.0.0.1:9090`, for messages.
    place: String,
    queries: Vec<Query>,
    completions: Vec<Completion>,
    /// Of the next request: an answer to one that was given up is nobody's.
    next_token: u64,
}

/// One query.
struct Query {
    name: String,
    /// The request, whole.
    bytes: Vec<u8>,
    /// It has had several values at once, which are told apart by their labels from then on.
    is_several: bool,
    /// Labels of the series that are kept.
    known: BTreeSet<String>,
    /// What has been said of it.
    told: Told,
}

#[derive(Default)]
struct Told {
    failed: bool,
    left_out: bool,
}

/// A value, and whose it is.
pub(super) type Observed = (String, f64);

impl Server {
    /// Nothing is connected yet. Errs in words when the settings of TLS cannot be used.
    pub(super) fn new(prometheus: &Arc<Prometheus>, usual: &TlsOptions) -> Result<Self, String> {
        let server = &prometheus.server;
        let place = format!("Prometheus {}", server.address());
        let config = ClientConfig {
            connect_timeout_ns: CONNECT_NS,
            // Made on one thread and used on another, which a ring does not allow.
            io: Io::Epoll,
            punctual: false,
            tls: tls(prometheus, usual),
            ..ClientConfig::default()
        };
        let mut client = Client::new(config)
            .map_err(|error| format!("{place}: no client can be made: {error}"))?;
        let origin = Origin { tls: server.tls, host: server.host.clone(), port: server.port };
        Ok(Self {
            origin: client.origin(&origin),
            client,
            secrets: prometheus.secrets(),
            prometheus: Arc::clone(prometheus),
            place,
            queries: Vec::new(),
            completions: Vec::new(),
            next_token: 0,
        })
    }

    /// Adds a query.
    pub(super) fn add(&mut self, name: &str, query: &str) -> Result<(), String> {
        let server = &self.prometheus.server;
        let origin = Origin { tls: server.tls, host: server.host.clone(), port: server.port };
        let headers = self.prometheus.request_headers();
        let mut headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.reveal())).collect();
        headers.push(("accept", "application/json"));
        let (target, host) = (self.prometheus.target(query), origin_host_header(&origin));
        let mut bytes = Vec::new();
        sojourn_http::write_request("GET", &target, &host, &headers, b"", &mut bytes).map_err(
            |_| format!("{}: its URL or a header holds what cannot be sent", self.place),
        )?;
        self.queries.push(Query {
            name: name.to_owned(),
            bytes,
            is_several: false,
            known: BTreeSet::new(),
            told: Told::default(),
        });
        Ok(())
    }

    /// Asks for every query's value at this instant, and hands over what came of each.
    fn ask(
        &mut self,
        timeout_ns: u64,
        mut answered: impl FnMut(&mut Query, Result<Vec<Observed>, String>),
    ) {
        let first = self.next_token;
        self.next_token += self.queries.len() as u64;
        for (token, query) in (first..).zip(&self.queries) {
            let exchange = Exchange {
                token,
                origin: self.origin,
                bytes: &query.bytes,
                head_only: false,
                timeout_ns,
                body: BodyPolicy::Keep { bytes_max: ANSWER_BYTES_MAX },
            };
            self.client.send(now_ns(), exchange);
        }
        let mut left = self.queries.len();
        // Every request has a completion, at the latest when its time is up.
        while left > 0 {
            let waited = self.client.wait_until(now_ns() + SECOND_NS, &mut self.completions);
            for completion in std::mem::take(&mut self.completions) {
                let place = completion.token.checked_sub(first).map(|place| place as usize);
                let answer = answer(&completion, &self.secrets);
                if let Some(query) = place.and_then(|place| self.queries.get_mut(place)) {
                    left -= 1;
                    answered(query, answer);
                }
            }
            if let Err(error) = waited {
                for query in &mut self.queries {
                    answered(query, Err(error.to_string()));
                }
                return;
            }
        }
    }

    /// The first look, before the run. Errs in words at the first query that fails.
    pub(super) fn check(&mut self, timeout_ns: u64) -> Result<(), String> {
        let mut refused = None;
        self.ask(timeout_ns, |query, answer| match answer {
            // Which series there are is settled by what there is at the beginning.
            Ok(values) => drop(query.of(values)),
            Err(why) => {
                refused.get_or_insert_with(|| format!("query {}: {why}", query.name));
            }
        });
        refused.map_or(Ok(()), |why| Err(format!("{}: {why}", self.place)))
    }

    /// Every query's values, by the names of their series. Remarks are made once.
    pub(super) fn read(
        &mut self,
        timeout_ns: u64,
        remark: &mut dyn FnMut(String),
    ) -> Vec<Observed> {
        let place = self.place.clone();
        let mut observed = Vec::new();
        self.ask(timeout_ns, |query, answer| match answer {
            Ok(values) => {
                let (kept, left_out) = query.of(values);
                observed.extend(kept);
                if left_out > 0 && !query.told.left_out {
                    query.told.left_out = true;
                    let name = &query.name;
                    remark(format!(
                        "query {name} has {left_out} series more than the {SERIES_MAX} that are \
                         kept: sum it `by` fewer labels"
                    ));
                }
            }
            Err(why) if !query.told.failed => {
                query.told.failed = true;
                remark(format!("{place}: query {}: not answered every second: {why}", query.name));
            }
            Err(_) => {}
        });
        observed
    }
}

impl Query {
    /// Values by the names of their series, and how many there is no room for.
    fn of(&mut self, values: Vec<Observed>) -> (Vec<Observed>, usize) {
        self.is_several |= values.len() > 1;
        if !self.is_several {
            let own = |(_, value)| (self.name.clone(), value);
            return (values.into_iter().map(own).collect(), 0);
        }
        let (mut kept, mut left_out) = (Vec::new(), 0);
        for (labels, value) in values {
            if !self.known.contains(&labels) && self.known.len() >= SERIES_MAX {
                left_out += 1;
                continue;
            }
            kept.push((format!("{}{{{labels}}}", self.name), value));
            self.known.insert(labels);
        }
        (kept, left_out)
    }
}

/// What an answer says: values by labels, or in words why there is none.
fn answer(completion: &Completion, secrets: &[Secret]) -> Result<Vec<Observed>, String> {
    let response = match &completion.outcome {
        Ok(response) => response,
        Err(failure) => return Err(format!("no answer: {failure}")),
    };
    let is_ok = response.status == 200;
    match values(&response.body) {
        Ok(values) if is_ok => Ok(values),
        Ok(_) => Err(format!("HTTP status {}", response.status)),
        Err(why) if is_ok => Err(redacted(&why, secrets)),
        Err(why) => Err(format!("HTTP status {}: {}", response.status, redacted(&why, secrets))),
    }
}

/// The values of an instant query's answer by labels; those that are no number are left out. Errs
/// with the server's own words where there are any.
fn values(body: &[u8]) -> Result<Vec<Observed>, String> {
    let answer: Value = serde_json::from_slice(body)
        .map_err(|_| "the answer is not that of Prometheus' API (JSON)".to_owned())?;
    if answer["status"] != "success" {
        let kind = answer["errorType"].as_str().unwrap_or("error");
        let why = answer["error"].as_str().unwrap_or("no more is said");
        return Err(format!("{kind}: {why}"));
    }
    let (kind, result) = (&answer["data"]["resultType"], &answer["data"]["result"]);
    match kind.as_str() {
        Some("scalar") => {
            Ok(number(result).map(|value| (String::new(), value)).into_iter().collect())
        }
        Some("vector") => {
            let samples = result.as_array().map_or(&[][..], Vec::as_slice);
            let mut values: Vec<Observed> = samples
                .iter()
                .filter_map(|sample| Some((labels(&sample["metric"]), number(&sample["value"])?)))
                .collect();
            values.sort_by(|a, b| a.0.cmp(&b.0));
            Ok(values)
        }
        Some("matrix") => Err("a range of values (matrix), not one at an instant: leave the \
                               range out, or use rate() or the like"
            .to_owned()),
        _ => Err("the answer holds no number".to_owned()),
    }
}

/// The number of `[instant, "number"]`; `None`: not a number, or beyond all of them.
fn number(sample: &Value) -> Option<f64> {
    let value: f64 = sample.get(1)?.as_str()?.parse().ok()?;
    value.is_finite().then_some(value)
}

/// `a=x, b=y`, without the metric's name.
fn labels(metric: &Value) -> String {
    let all = metric.as_object().into_iter().flatten().filter(|(name, _)| *name != "__name__");
    let all: Vec<String> =
        all.map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default())).collect();
    let text = all.join(", ");
    match text.char_indices().nth(LABELS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The server's words without what they may repeat of our secrets, and not over a line.
fn redacted(text: &str, secrets: &[Secret]) -> String {
    let mut text = text.lines().next().unwrap_or_default().to_owned();
    for secret in secrets {
        text = text.replace(secret.reveal(), "***");
    }
    text.chars().take(300).collect()
}

fn tls(prometheus: &Prometheus, usual: &TlsOptions) -> TlsOptions {
    let trust = &prometheus.server.trust;
    let client_certificate = trust.cert.clone().zip(trust.key.clone());
    TlsOptions {
        ca_file: usual.ca_file.clone(),
        root_certs: trust.ca.iter().cloned().collect(),
        client_certificate: client_certificate
            .map(|(certificate, key)| ClientCertificate { certificate, key }),
        insecure: trust.insecure || usual.insecure,
        ..TlsOptions::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(samples: &[(&str, &str)]) -> String {
        let one = |&(pod, value): &(&str, &str)| {
            let metric = format!(r#"{{"__name__":"cpu","pod":"{pod}","zone":"a"}}"#);
            format!(r#"{{"metric":{metric},"value":[1.5,"{value}"]}}"#)
        };
        let all: Vec<String> = samples.iter().map(one).collect();
        let result = all.join(",");
        format!(r#"{{"status":"success","data":{{"resultType":"vector","result":[{result}]}}}}"#)
    }

    #[test]
    fn scalars_and_vectors_are_values_and_what_is_no_number_is_none() {
        let scalar = r#"{"status":"success","data":{"resultType":"scalar","result":[1.5,"42.5"]}}"#;
        assert_eq!(values(scalar.as_bytes()), Ok(vec![(String::new(), 42.5)]));
        let two = values(vector(&[("b", "2"), ("a", "1e3"), ("c", "NaN")]).as_bytes()).unwrap();
        let expected = [("pod=a, zone=a", 1e3), ("pod=b, zone=a", 2.0)];
        assert_eq!(two, expected.map(|(labels, value)| (labels.to_owned(), value)));
        for none in [vector(&[]), vector(&[("a", "NaN")]), vector(&[("a", "+Inf")])] {
            assert_eq!(values(none.as_bytes()), Ok(vec![]), "{none}");
        }
    }

    #[test]
    fn what_is_no_value_is_said_in_the_servers_words() {
        let error =
            r#"{"status":"error","errorType":"bad_data","error":"parse error: unexpected"}"#;
        assert_eq!(values(error.as_bytes()), Err("bad_data: parse error: unexpected".to_owned()));
        let matrix = r#"{"status":"success","data":{"resultType":"matrix","result":[]}}"#;
        assert!(values(matrix.as_bytes()).unwrap_err().contains("range"));
        for wrong in ["", "<html>", "{}", "[]", r#"{"status":"success"}"#] {
            assert!(values(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    fn query() -> Query {
        Query {
            name: "cpu".to_owned(),
            bytes: Vec::new(),
            is_several: false,
            known: BTreeSet::new(),
            told: Told::default(),
        }
    }

    #[test]
    fn series_are_named_by_their_labels_and_bounded() {
        let sample = |labels: &str| (labels.to_owned(), 1.0);
        let mut several = query();
        let (kept, left_out) = several.of((0..23).map(|n| sample(&format!("n={n}"))).collect());
        assert_eq!((kept.len(), left_out), (SERIES_MAX, 3));
        assert_eq!(kept[0].0, "cpu{n=0}");
        // Those that are kept stay the same.
        let (kept, left_out) = several.of(vec![sample("n=22"), sample("n=1")]);
        assert_eq!((kept, left_out), (vec![("cpu{n=1}".to_owned(), 1.0)], 1));
    }

    #[test]
    fn one_that_is_alone_has_the_querys_name_whoever_it_is() {
        let mut alone = query();
        for labels in ["", "pod=a", "pod=b"] {
            let sample = (labels.to_owned(), 3.0);
            assert_eq!(alone.of(vec![sample]).0, [("cpu".to_owned(), 3.0)]);
        }
        let two = ["pod=a", "pod=b"].map(|labels| (labels.to_owned(), 1.0));
        assert_eq!(alone.of(two.to_vec()).0[0].0, "cpu{pod=a}");
        assert_eq!(alone.of(two[..1].to_vec()).0[0].0, "cpu{pod=a}");
    }

    #[test]
    fn secrets_are_not_repeated() {
        let secrets = [Secret::new("hunter22")];
        assert_eq!(redacted("no user hunter22\nhere", &secrets), "no user ***");
    }
}
