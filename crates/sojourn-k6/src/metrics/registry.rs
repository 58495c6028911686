//! All metrics of a test: the built-in ones, those that scripts declare, and submetrics.

use std::collections::HashMap;
use std::sync::Arc;

use super::builtin;
use super::kind::{Contains, MetricKind};
use super::matcher::Matcher;
use super::metric::{Metric, MetricId, Submetric};
use super::submetric::{self, SubmetricError};

/// The metrics of one test, in order of declaration. Scripts declare theirs while they initialise;
/// afterwards it is only read.
#[derive(Debug, Clone)]
pub struct Registry {
    metrics: Vec<Metric>,
    by_name: HashMap<Box<str>, MetricId>,
}

/// Why a script may not have a metric; the texts are k6's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeclareError {
    /// Not letters, digits and underscores, or too short or too long.
    #[error(
        "Invalid metric name: '{0}'. Metric names must only include up to 128 ASCII letters, \
         numbers, or underscores and start with a letter or an underscore."
    )]
    Name(String),
    /// Declared before, as another kind.
    #[error("metric '{name}' already exists but with type {old}, instead of {new}")]
    Kind {
        /// The metric.
        name: String,
        /// What it is.
        old: MetricKind,
        /// What it was to be.
        new: MetricKind,
    },
    /// Declared before, with values of another meaning.
    #[error("metric '{name}' already exists but with a value type {old}, instead of {new}")]
    Contains {
        /// The metric.
        name: String,
        /// What its values are.
        old: Contains,
        /// What they were to be.
        new: Contains,
    },
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// The built-in metrics.
    pub fn new() -> Self {
        let mut registry = Self { metrics: Vec::new(), by_name: HashMap::new() };
        for builtin in builtin::ALL {
            registry.push(builtin.name, builtin.id.kind(), builtin.contains, None);
            if let Some(metric) = registry.metrics.last_mut() {
                metric.is_ours = builtin.is_ours;
            }
        }
        registry
    }

    /// A script's metric, made or, if it was declared likewise before, found.
    ///
    /// A script that has a metric of its own by the name of one of ours gets it; ours goes on as
    /// `sojourn_NAME`.
    ///
    /// # Errors
    ///
    /// The name breaks the rules, or the metric exists otherwise.
    pub fn declare(
        &mut self,
        name: &str,
        kind: MetricKind,
        contains: Contains,
    ) -> Result<MetricId, DeclareError> {
        if !is_name(name) {
            return Err(DeclareError::Name(name.to_owned()));
        }
        if let Some(&id) = self.by_name.get(name) {
            let metric = &mut self.metrics[id.index()];
            if !metric.is_ours {
                return same(metric, kind, contains);
            }
            let renamed: Box<str> = format!("sojourn_{name}").into();
            metric.name.clone_from(&renamed);
            self.by_name.insert(renamed, id);
        }
        Ok(self.push(name, kind, contains, None))
    }

    /// The metric of a threshold's key, `metric` or `metric{tag:value,…}`; a submetric is made if
    /// need be.
    ///
    /// # Errors
    ///
    /// No such metric, or braces that say nothing.
    pub fn resolve(&mut self, key: &str) -> Result<MetricId, SubmetricError> {
        let parsed = submetric::parse(key)?;
        let Some(&parent) = self.by_name.get(parsed.metric) else {
            return Err(SubmetricError::Unknown(key.to_owned()));
        };
        let Some((suffix, tags)) = parsed.braces else { return Ok(parent) };
        let old = self.metrics.iter().find(|metric| {
            metric.submetric.as_ref().is_some_and(|s| s.parent == parent && s.tags == tags)
        });
        if let Some(old) = old {
            return Ok(old.id);
        }
        let name = format!("{}{{{suffix}}}", parsed.metric);
        let contains = self.metrics[parent.index()].contains;
        let submetric = Submetric { parent, suffix: suffix.into(), tags };
        Ok(self.push(&name, parent.kind(), contains, Some(submetric)))
    }

    /// What a metric is. None for an id of another registry.
    pub fn get(&self, id: MetricId) -> Option<&Metric> {
        self.metrics.get(id.index())
    }

    /// The metric or submetric of exactly this name.
    pub fn find(&self, name: &str) -> Option<&Metric> {
        self.by_name.get(name).and_then(|id| self.get(*id))
    }

    /// All of them, in order of declaration.
    pub fn iter(&self) -> impl Iterator<Item = &Metric> {
        self.metrics.iter()
    }

    /// The submetrics of a metric, in order of declaration.
    pub fn submetrics(&self, parent: MetricId) -> impl Iterator<Item = &Metric> {
        let is_its = move |m: &&Metric| m.submetric.as_ref().is_some_and(|s| s.parent == parent);
        self.metrics.iter().filter(is_its)
    }

    /// What the threads need to find the submetrics of their samples. Made once all submetrics
    /// are known, before the first sample.
    pub fn matcher(&self) -> Arc<Matcher> {
        Arc::new(Matcher::new(self.metrics.iter().filter(|metric| metric.submetric.is_some())))
    }

    fn push(
        &mut self,
        name: &str,
        kind: MetricKind,
        contains: Contains,
        submetric: Option<Submetric>,
    ) -> MetricId {
        // Each is declared by a line of a script or of its options: far fewer than 2^30.
        let id = MetricId::new(self.metrics.len() as u32, kind);
        let name: Box<str> = name.into();
        self.by_name.insert(name.clone(), id);
        self.metrics.push(Metric { id, name, kind, contains, submetric, is_ours: false });
        id
    }
}

fn same(metric: &Metric, kind: MetricKind, contains: Contains) -> Result<MetricId, DeclareError> {
    let name = || metric.name.to_string();
    if metric.kind != kind {
        return Err(DeclareError::Kind { name: name(), old: metric.kind, new: kind });
    }
    if metric.contains != contains {
        return Err(DeclareError::Contains { name: name(), old: metric.contains, new: contains });
    }
    Ok(metric.id)
}

/// A letter or underscore, then up to 128 letters, digits and underscores, all ASCII.
fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    bytes.first().is_some_and(|first| is_part(first) && !first.is_ascii_digit())
        && (2..=129).contains(&bytes.len())
        && bytes.iter().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn kinds() -> (MetricKind, Contains) {
        (MetricKind::Counter, Contains::Default)
    }

    #[test]
    fn names_keep_k6s_rules() {
        let (kind, contains) = kinds();
        let mut registry = Registry::new();
        for fine in ["ab", "_a", "A1", &"x".repeat(128), &"x".repeat(129)] {
            assert!(registry.declare(fine, kind, contains).is_ok(), "{fine}");
        }
        for wrong in ["", "a", "a b", "ab-c", "ünï", "2ab", &"x".repeat(130)] {
            let error = registry.declare(wrong, kind, contains).unwrap_err().to_string();
            assert!(error.starts_with(&format!("Invalid metric name: '{wrong}'.")), "{error}");
        }
    }

    #[test]
    fn a_metric_is_declared_twice_only_likewise() {
        let (kind, contains) = kinds();
        let mut registry = Registry::new();
        let first = registry.declare("own", kind, contains).unwrap();
        assert_eq!(registry.declare("own", kind, contains), Ok(first));
        let other = registry.declare("own", MetricKind::Gauge, contains).unwrap_err();
        let text = "metric 'own' already exists but with type counter, instead of gauge";
        assert_eq!(other.to_string(), text);
        let other = registry.declare("data_sent", kind, contains).unwrap_err();
        let text =
            "metric 'data_sent' already exists but with a value type data, instead of default";
        assert_eq!(other.to_string(), text);
    }

    #[test]
    fn a_scripts_name_goes_before_ours() {
        let (kind, contains) = kinds();
        let mut registry = Registry::new();
        let own = registry.declare("iteration_lag", kind, contains).unwrap();
        assert_ne!(own, builtin::ITERATION_LAG);
        assert_eq!(registry.find("iteration_lag").unwrap().id, own);
        let ours = registry.get(builtin::ITERATION_LAG).unwrap();
        assert_eq!(&*ours.name, "sojourn_iteration_lag");
        assert_eq!(registry.declare("iteration_lag", kind, contains), Ok(own));
    }
}
