//! Samples as plain data, for outputs that are in another process.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::metric::MetricId;
use super::registry::Registry;
use super::sample::Sample;
use super::tag_set::TagSet;
use super::tag_sets::TagSets;

/// Samples with their tags, each set of tags once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CarriedSamples {
    /// Tags.
    plain: Vec<Pairs>,
    /// Tags, by their place in `plain`, with metadata.
    sets: Vec<(u32, Pairs)>,
    samples: Vec<CarriedSample>,
}

type Pairs = Vec<(String, String)>;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct CarriedSample {
    metric: MetricId,
    /// Its place in `sets`.
    set: u32,
    at_ns: u64,
    value: f64,
}

/// Samples that make no sense here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("samples of metrics or with tags that there are not")]
pub struct CarriedError;

impl CarriedSamples {
    /// Of these samples.
    pub fn new(samples: &[Sample]) -> Self {
        let mut carried = Self::default();
        let (mut plain, mut sets) = (HashMap::new(), HashMap::new());
        for sample in samples {
            let tags = &*sample.tags;
            // There are fewer sets than samples, and of these some ten thousand.
            let set = *sets.entry(tags.id).or_insert_with(|| {
                let at = *plain.entry(tags.plain_id()).or_insert_with(|| {
                    carried.plain.push(owned(tags.iter()));
                    carried.plain.len() as u32 - 1
                });
                carried.sets.push((at, owned(tags.metadata())));
                carried.sets.len() as u32 - 1
            });
            let Sample { metric, at_ns, value, .. } = *sample;
            carried.samples.push(CarriedSample { metric, set, at_ns, value });
        }
        carried
    }

    /// The samples again, with tags of this interner.
    ///
    /// # Errors
    /// A metric that the registry has not, or tags that were not carried.
    pub fn into_samples(
        self,
        interner: &mut TagSets,
        registry: &Registry,
    ) -> Result<Vec<Sample>, CarriedError> {
        let empty = interner.empty().clone();
        let plain: Vec<_> =
            self.plain.iter().map(|pairs| interner.with(&empty, &borrowed(pairs))).collect();
        let mut sets = Vec::with_capacity(self.sets.len());
        for (at, metadata) in &self.sets {
            let tags = plain.get(*at as usize).ok_or(CarriedError)?;
            sets.push(match metadata.is_empty() {
                true => tags.clone(),
                false => interner.with_metadata(tags, &borrowed(metadata)),
            });
        }
        let sample = |carried: CarriedSample| {
            let CarriedSample { metric, set, at_ns, value } = carried;
            let tags: &std::sync::Arc<TagSet> = sets.get(set as usize).ok_or(CarriedError)?;
            let is_known = registry.get(metric).is_some_and(|known| known.id == metric);
            is_known
                .then(|| Sample { metric, tags: tags.clone(), at_ns, value })
                .ok_or(CarriedError)
        };
        self.samples.into_iter().map(sample).collect()
    }
}

fn owned<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Pairs {
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

fn borrowed(pairs: &Pairs) -> Vec<(&str, &str)> {
    pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::metrics::{Contains, MetricKind, Shard, ShardOptions, builtin};

    #[test]
    fn samples_have_their_tags_and_metadata_elsewhere() {
        let registry = Registry::new();
        let options = ShardOptions { samples_max: 100, ..ShardOptions::default() };
        let (mut here, mut there) =
            (TagSets::new(registry.matcher()), TagSets::new(registry.matcher()));
        let mut shard = Shard::new(options);
        let empty = Arc::clone(here.empty());
        for k in 0..10_u32 {
            let tags = here.with(&empty, &[("status", if k < 5 { "200" } else { "404" })]);
            let tags = match k % 2 {
                0 => tags,
                _ => here.with_metadata(&tags, &[("iter", &k.to_string())]),
            };
            shard.add(builtin::HTTP_REQS, &tags, u64::from(k), f64::from(k));
        }
        let samples = shard.take_samples(Vec::new());
        let carried = CarriedSamples::new(&samples);
        assert_eq!((carried.plain.len(), carried.sets.len()), (2, 7));
        let again = carried.clone().into_samples(&mut there, &registry).unwrap();
        let shown = |samples: &[Sample]| -> Vec<String> {
            let of = |one: &Sample| {
                let tags: Vec<_> = one.tags.iter().collect();
                let metadata: Vec<_> = one.tags.metadata().collect();
                format!("{:?} {tags:?} {metadata:?} {} {}", one.metric, one.at_ns, one.value)
            };
            samples.iter().map(of).collect()
        };
        assert_eq!(shown(&samples), shown(&again));
        assert!(Arc::ptr_eq(&again[0].tags, &again[2].tags));
        assert_eq!(CarriedSamples::new(&again), carried);
    }

    #[test]
    fn what_makes_no_sense_is_an_error() {
        let mut registry = Registry::new();
        let own = registry.declare("own", MetricKind::Gauge, Contains::Default).unwrap();
        let mut sets = TagSets::new(registry.matcher());
        let sample = Sample { metric: own, tags: Arc::clone(sets.empty()), at_ns: 1, value: 2.0 };
        let carried = CarriedSamples::new(&[sample]);
        assert!(carried.clone().into_samples(&mut sets, &registry).is_ok());
        let without = carried.clone().into_samples(&mut sets, &Registry::new());
        assert_eq!(without.unwrap_err(), CarriedError);
        let no_sets = CarriedSamples { sets: Vec::new(), ..carried.clone() };
        let no_plain = CarriedSamples { plain: Vec::new(), ..carried };
        for wrong in [no_sets, no_plain] {
            assert_eq!(wrong.into_samples(&mut sets, &registry).unwrap_err(), CarriedError);
        }
    }
}
