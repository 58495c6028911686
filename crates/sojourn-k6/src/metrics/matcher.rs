//! Which submetrics a set of tags belongs to.

use super::metric::{Metric, MetricId};

/// The submetrics of a test, as the threads' interners ask for them.
#[derive(Debug, Default)]
pub struct Matcher {
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    found: Match,
    tags: Vec<(Box<str>, Box<str>)>,
}

/// A submetric whose tags a set has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) parent: MetricId,
    pub(super) submetric: MetricId,
}

impl Matcher {
    pub(super) fn new<'a>(submetrics: impl Iterator<Item = &'a Metric>) -> Self {
        let rules = submetrics.filter_map(|metric| {
            let submetric = metric.submetric.as_ref()?;
            let found = Match { parent: submetric.parent, submetric: metric.id };
            Some(Rule { found, tags: submetric.tags.clone() })
        });
        Self { rules: rules.collect() }
    }

    /// Those of a set, given by its look-up. A tag that a set has not counts as none, even where
    /// the submetric asks for an empty value.
    pub(super) fn matches<'a>(&self, get: impl Fn(&str) -> Option<&'a str>) -> Box<[Match]> {
        let has_all = |rule: &&Rule| rule.tags.iter().all(|(k, v)| get(k) == Some(v));
        self.rules.iter().filter(has_all).map(|rule| rule.found).collect()
    }
}
