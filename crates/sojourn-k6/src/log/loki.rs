//! The log as Loki takes it: lines by their labels, some of a moment together.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::output::{LeastLevel, words};
use crate::duration::Nanos;

/// Where Loki is unless something else is said.
const URL: &str = "http://127.0.0.1:3100/loki/api/v1/push";
/// Lines of a period.
const LIMIT: usize = 100;
/// Most lines that a period may be given: they are in memory until they are sent.
const LIMIT_MAX: usize = 100_000;
const PUSH_PERIOD_NS: u64 = 1_000_000_000;
const MESSAGE_LETTERS_MAX: usize = 1 << 20;

/// `loki=URL,label.NAME=…,limit=…`.
#[derive(Clone, PartialEq, Eq)]
pub struct LokiOptions {
    /// Where lines are posted to.
    pub url: String,
    /// What every line is labelled with.
    pub labels: BTreeMap<String, String>,
    /// What is known of a line and may label it; the rest is told behind its text. Without, all of
    /// it may.
    pub allowed: Option<Vec<String>>,
    /// Most lines of a period; what comes beyond is counted.
    pub limit: usize,
    /// How often lines are sent, ns.
    pub push_period_ns: u64,
    /// Of longer texts the middle is left out.
    pub letters_max: usize,
    /// Headers of the requests.
    pub headers: Vec<(String, String)>,
    /// From which level on.
    pub least: LeastLevel,
}

/// Headers and the URL may have secrets in them.
impl std::fmt::Debug for LokiOptions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LokiOptions").field("labels", &self.labels).finish_non_exhaustive()
    }
}

/// A line and when it was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LokiEntry {
    /// Since 1970, ns.
    pub at_ns: u128,
    /// Its text.
    pub text: String,
    /// What else is known of it.
    pub fields: BTreeMap<String, String>,
}

impl LokiOptions {
    pub(super) fn parse(text: Option<&str>) -> Result<Self, String> {
        let mut options = Self {
            url: URL.to_owned(),
            labels: BTreeMap::new(),
            allowed: None,
            limit: LIMIT,
            push_period_ns: PUSH_PERIOD_NS,
            letters_max: MESSAGE_LETTERS_MAX,
            headers: Vec::new(),
            least: LeastLevel::default(),
        };
        let Some(text) = text else { return Ok(options) };
        let wrong = |problem: String| format!("loki: {problem}");
        let mut words = words(text).map_err(wrong)?.into_iter();
        match words.next() {
            None | Some("") => return Err(wrong("it has no URL: loki=URL".to_owned())),
            Some(url) => url.clone_into(&mut options.url),
        }
        for word in words {
            options.take(word).map_err(wrong)?;
        }
        Ok(options)
    }

    fn take(&mut self, word: &str) -> Result<(), String> {
        let (key, value) = word.split_once('=').ok_or_else(|| format!("`{word}` has no value"))?;
        let number = |most: usize| {
            let number = value.parse().ok().filter(|number| (1..=most).contains(number));
            number.ok_or_else(|| format!("{key}: `{value}` is no number from 1 to {most}"))
        };
        match key {
            "limit" => self.limit = number(LIMIT_MAX)?,
            "msgMaxSize" => self.letters_max = number(usize::MAX)?,
            "level" => self.least = LeastLevel::parse(value)?,
            "pushPeriod" => {
                let period = Nanos::parse_go(value).map_err(|error| format!("{key}: {error}"))?;
                // More often than a hundred times a second would be sending all the time.
                self.push_period_ns = period.ns().max(10_000_000);
            }
            "allowedLabels" => {
                let inner = value.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
                let inner = inner.ok_or_else(|| format!("{key}: `{value}` is not [NAME,…]"))?;
                let names = inner.split(',').map(str::trim).filter(|name| !name.is_empty());
                self.allowed = Some(names.map(str::to_owned).collect());
            }
            // It was of k6's own insides.
            "profile" => {}
            _ => match key.split_once('.') {
                Some(("label", name)) if !name.is_empty() => {
                    self.labels.insert(name.to_owned(), value.to_owned());
                }
                Some(("header", name)) if !name.is_empty() => {
                    self.headers.push((name.to_owned(), value.to_owned()));
                }
                _ => {
                    return Err(format!(
                        "`{key}` is none of label.NAME, header.NAME, allowedLabels, limit, level, \
                         pushPeriod and msgMaxSize"
                    ));
                }
            },
        }
        Ok(())
    }

    /// The body of a request with these lines; so many beyond them were left out.
    pub fn body(&self, entries: &[LokiEntry], dropped: u64) -> String {
        let mut streams: Vec<(Map<String, Value>, Vec<Value>)> = Vec::new();
        let mut add = |labels: Map<String, Value>, at_ns: u128, text: String| {
            let value = json!([at_ns.to_string(), text]);
            match streams.iter_mut().find(|(known, _)| *known == labels) {
                Some((_, values)) => values.push(value),
                None => streams.push((labels, vec![value])),
            }
        };
        for entry in entries {
            let (labels, text) = self.labelled(entry);
            add(labels, entry.at_ns, self.shortened(&text));
        }
        if let Some(last) = entries.last().filter(|_| dropped > 0) {
            let mut labels = self.own_labels();
            labels.insert("level".to_owned(), "warning".into());
            let period = Nanos(i64::try_from(self.push_period_ns).unwrap_or(i64::MAX));
            let limit = self.limit;
            let text =
                format!("{dropped} log lines were dropped: the limit is {limit} in {period}");
            add(labels, last.at_ns, text);
        }
        let streams = streams.into_iter();
        let streams = streams.map(|(labels, values)| json!({ "stream": labels, "values": values }));
        json!({ "streams": streams.collect::<Vec<_>>() }).to_string()
    }

    fn own_labels(&self) -> Map<String, Value> {
        let own = self.labels.iter();
        own.map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect()
    }

    /// A line's labels, and its text with what may not be one behind it.
    fn labelled(&self, entry: &LokiEntry) -> (Map<String, Value>, String) {
        let (mut labels, mut text) = (self.own_labels(), entry.text.clone());
        let may_label =
            |name: &String| self.allowed.as_ref().is_none_or(|names| names.contains(name));
        for (name, value) in &entry.fields {
            if may_label(name) {
                labels.insert(name.clone(), value.as_str().into());
            } else {
                text.push_str(&format!(" {name}={value}"));
            }
        }
        (labels, text)
    }

    fn shortened(&self, text: &str) -> String {
        let letters = text.chars().count();
        if letters <= self.letters_max {
            return text.to_owned();
        }
        let (head, tail) = (self.letters_max / 2, self.letters_max - self.letters_max / 2);
        let first: String = text.chars().take(head).collect();
        let last: String = text.chars().skip(letters - tail).collect();
        let omitted = letters - self.letters_max;
        format!("{first}... omitting {omitted} characters ...{last}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> LokiOptions {
        LokiOptions::parse(Some(text)).expect("options")
    }

    fn entry(at_ns: u128, text: &str, level: &str) -> LokiEntry {
        let fields = [("level", level), ("source", "console")];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        LokiEntry { at_ns, text: text.to_owned(), fields: fields.into() }
    }

    fn body(options: &LokiOptions, entries: &[LokiEntry], dropped: u64) -> Value {
        serde_json::from_str(&options.body(entries, dropped)).expect("JSON")
    }

    #[test]
    fn words_are_read_and_others_refused() {
        let plain = LokiOptions::parse(None).expect("options");
        assert_eq!((plain.url.as_str(), plain.limit), (URL, 100));
        let all = "http://x/p,label.app=k6,label.x=y z,limit=3,level=warn,pushPeriod=500ms,\
                   msgMaxSize=4,header.X-Scope=ten,allowedLabels=[level,source],profile=1";
        let all = options(all);
        assert_eq!((all.url.as_str(), all.limit, all.letters_max), ("http://x/p", 3, 4));
        assert_eq!((all.push_period_ns, all.least), (500_000_000, LeastLevel::Warning));
        assert_eq!(all.labels["x"], "y z");
        assert_eq!(all.headers, [("X-Scope".to_owned(), "ten".to_owned())]);
        assert_eq!(all.allowed.as_deref(), Some(&["level".to_owned(), "source".to_owned()][..]));
        assert!(!format!("{all:?}").contains("ten"));
        for wrong in [
            "",
            "u,limit=0",
            "u,limit=a",
            "u,level=zz",
            "u,pushPeriod=3",
            "u,foo=1",
            "u,limit",
            "u,allowedLabels=[level",
            "u,allowedLabels=level",
            "u,label.=x",
            "u,msgMaxSize=a",
        ] {
            assert!(LokiOptions::parse(Some(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn lines_of_the_same_labels_are_one_stream() {
        let labelled = options("u,label.app=k6");
        let lines = [entry(1, "a", "info"), entry(2, "b", "warning"), entry(3, "c", "info")];
        let streams = json!({ "streams": [
            { "stream": { "app": "k6", "level": "info", "source": "console" },
              "values": [["1", "a"], ["3", "c"]] },
            { "stream": { "app": "k6", "level": "warning", "source": "console" },
              "values": [["2", "b"]] },
        ]});
        assert_eq!(body(&labelled, &lines, 0), streams);
    }

    #[test]
    fn what_may_not_label_stands_behind_the_text_and_what_was_dropped_is_told() {
        let few = options("u,allowedLabels=[level],limit=1,pushPeriod=300ms");
        let told = body(&few, &[entry(7, "a", "info")], 15);
        let streams = json!({ "streams": [
            { "stream": { "level": "info" }, "values": [["7", "a source=console"]] },
            { "stream": { "level": "warning" },
              "values": [["7", "15 log lines were dropped: the limit is 1 in 300ms"]] },
        ]});
        assert_eq!(told, streams);
    }

    #[test]
    fn the_middle_of_long_texts_is_left_out() {
        let short = options("u,msgMaxSize=4");
        assert_eq!(short.shortened("e\nthree"), "e\n... omitting 3 characters ...ee");
        assert_eq!(short.shortened("äöü€"), "äöü€");
        assert_eq!(short.shortened("äöxü€"), "äö... omitting 1 characters ...ü€");
    }
}
