//! A thread's interner of tag sets: the same tags give the same set.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashTable;

use super::hash::hash;
use super::matcher::Matcher;
use super::tag_set::{Pairs, TagSet};

/// How many distinct sets are kept before the interner starts anew, and k6 warns.
pub const SETS_MAX: usize = 100_000;

/// What [`TagSets::with`] was asked, longest ago forgotten all at once.
const STEPS_MAX: usize = 2 * SETS_MAX;

static NEXT_ID: AtomicU64 = AtomicU64::new(0);

/// Makes the tag sets of one thread. Asking again for what was asked before costs a hash and a
/// comparison of a few hundred bytes, and no allocation.
#[derive(Debug)]
pub struct TagSets {
    matcher: Arc<Matcher>,
    empty: Arc<TagSet>,
    /// By content.
    sets: HashTable<Arc<TagSet>>,
    /// By base and what was laid over it, as it was asked.
    steps: HashTable<Step>,
    scratch: Vec<u8>,
    made: usize,
    warn_at: usize,
    warning: Option<usize>,
}

#[derive(Debug)]
struct Step {
    key: Box<[u8]>,
    set: Arc<TagSet>,
}

impl TagSets {
    /// With the submetrics of [`Registry::matcher`](super::Registry::matcher).
    pub fn new(matcher: Arc<Matcher>) -> Self {
        let empty = Arc::new(TagSet::plain(next_id(), Pairs::default(), &matcher));
        Self {
            matcher,
            empty,
            sets: HashTable::new(),
            steps: HashTable::new(),
            scratch: Vec::with_capacity(512),
            made: 0,
            warn_at: SETS_MAX,
            warning: None,
        }
    }

    /// No tags at all.
    pub fn empty(&self) -> &Arc<TagSet> {
        &self.empty
    }

    /// `base` with these tags over its own. It may be another thread's.
    pub fn with(&mut self, base: &Arc<TagSet>, overlay: &[(&str, &str)]) -> Arc<TagSet> {
        if overlay.is_empty() {
            return Arc::clone(base);
        }
        if let Some(metadata) = base.metadata_part() {
            let plain = self.with(&metadata.plain, overlay);
            let pairs = metadata.pairs.clone();
            return Arc::new(TagSet::with_metadata(next_id(), &plain, pairs));
        }
        write_step(&mut self.scratch, base.id, overlay);
        let hashed = hash(&self.scratch);
        if let Some(step) = self.steps.find(hashed, |step| *step.key == *self.scratch) {
            return Arc::clone(&step.set);
        }
        let key: Box<[u8]> = self.scratch.as_slice().into();
        let set = self.intern(Pairs::new(base.pairs().overlaid(overlay)));
        if self.steps.len() >= STEPS_MAX {
            self.steps = HashTable::new();
        }
        let step = Step { key, set: Arc::clone(&set) };
        self.steps.insert_unique(hashed, step, |step| hash(&step.key));
        set
    }

    /// `base` without a tag.
    pub fn without(&mut self, base: &Arc<TagSet>, key: &str) -> Arc<TagSet> {
        if base.get(key).is_none() {
            return Arc::clone(base);
        }
        let set = self.intern(Pairs::new(base.iter().filter(|(own, _)| *own != key).collect()));
        match base.metadata_part() {
            None => set,
            Some(metadata) => {
                let pairs = metadata.pairs.clone();
                Arc::new(TagSet::with_metadata(next_id(), &set, pairs))
            }
        }
    }

    /// `base` with these metadata over its own. Each call makes a set, since metadata are what
    /// differs from one iteration to the next.
    pub fn with_metadata(&self, base: &Arc<TagSet>, overlay: &[(&str, &str)]) -> Arc<TagSet> {
        let none = Pairs::default();
        let (plain, own) = match base.metadata_part() {
            Some(metadata) => (&metadata.plain, &metadata.pairs),
            None => (base, &none),
        };
        let pairs = Pairs::new(own.overlaid(overlay));
        Arc::new(TagSet::with_metadata(next_id(), plain, pairs))
    }

    /// `base` without one of its metadata.
    pub fn without_metadata(&self, base: &Arc<TagSet>, key: &str) -> Arc<TagSet> {
        let Some(metadata) = base.metadata_part() else { return Arc::clone(base) };
        let kept: Vec<_> = metadata.pairs.iter().filter(|(own, _)| *own != key).collect();
        if kept.is_empty() {
            return Arc::clone(&metadata.plain);
        }
        let pairs = Pairs::new(kept);
        Arc::new(TagSet::with_metadata(next_id(), &metadata.plain, pairs))
    }

    /// How many distinct sets were made, those forgotten included.
    pub fn made(&self) -> usize {
        self.made
    }

    /// k6's warning of too many distinct sets, once at 100,000 and again whenever the number has
    /// doubled.
    pub fn take_warning(&mut self) -> Option<String> {
        self.warning.take().map(|count| {
            format!(
                "The test has generated metrics with {count} unique time series, which is higher \
                 than the suggested limit of {SETS_MAX} and could cause high memory usage. \
                 Consider not using high-cardinality values like unique IDs as metric tags or, if \
                 you need them in the URL, use the name metric tag or URL grouping. See \
                 https://grafana.com/docs/k6/latest/using-k6/tags-and-groups/ for details."
            )
        })
    }

    fn intern(&mut self, pairs: Pairs) -> Arc<TagSet> {
        let hashed = hash_pairs(&pairs);
        if let Some(set) = self.sets.find(hashed, |set| *set.pairs() == pairs) {
            return Arc::clone(set);
        }
        if self.sets.len() >= SETS_MAX {
            self.sets = HashTable::new();
            self.steps = HashTable::new();
        }
        let set = Arc::new(TagSet::plain(next_id(), pairs, &self.matcher));
        self.sets.insert_unique(hashed, Arc::clone(&set), |set| hash_pairs(set.pairs()));
        self.made += 1;
        if self.made >= self.warn_at {
            self.warning = Some(self.made);
            self.warn_at = self.warn_at.saturating_mul(2);
        }
        set
    }
}

fn next_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

fn hash_pairs(pairs: &Pairs) -> u64 {
    let mut bytes = Vec::new();
    pairs.write_key(&mut bytes);
    hash(&bytes)
}

/// Base and overlay as bytes that nothing else has.
fn write_step(scratch: &mut Vec<u8>, base: u64, overlay: &[(&str, &str)]) {
    scratch.clear();
    scratch.extend_from_slice(&base.to_le_bytes());
    for (key, value) in overlay {
        let lengths = (key.len() as u64) << 32 | value.len() as u64;
        scratch.extend_from_slice(&lengths.to_le_bytes());
        scratch.extend_from_slice(key.as_bytes());
        scratch.extend_from_slice(value.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn sets() -> TagSets {
        TagSets::new(Arc::new(Matcher::default()))
    }

    fn pairs<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(&'a str, &'a str)> {
        pairs.collect()
    }

    #[test]
    fn the_same_tags_are_the_same_set() {
        let mut sets = sets();
        let empty = Arc::clone(sets.empty());
        let one = sets.with(&empty, &[("b", "2"), ("a", "1")]);
        let half = sets.with(&empty, &[("a", "1")]);
        let other = sets.with(&half, &[("b", "2")]);
        assert!(Arc::ptr_eq(&one, &other));
        assert!(Arc::ptr_eq(&one, &sets.with(&empty, &[("b", "2"), ("a", "1")])));
        assert!(Arc::ptr_eq(&half, &sets.without(&one, "b")));
        assert_eq!(pairs(one.iter()), [("a", "1"), ("b", "2")]);
        assert_eq!((one.len(), one.get("b"), one.get("c")), (2, Some("2"), None));
        assert_eq!(sets.made(), 2);
    }

    #[test]
    fn metadata_are_beside_the_tags() {
        let mut sets = sets();
        let empty = Arc::clone(sets.empty());
        let user = sets.with_metadata(&empty, &[("vu", "1"), ("iter", "0")]);
        let tagged = sets.with(&user, &[("a", "1")]);
        let later = sets.with_metadata(&tagged, &[("iter", "1")]);
        assert_eq!(pairs(later.iter()), [("a", "1")]);
        assert_eq!(pairs(later.metadata()), [("iter", "1"), ("vu", "1")]);
        let plain = sets.without_metadata(&later, "iter");
        let plain = sets.without_metadata(&plain, "vu");
        assert!(Arc::ptr_eq(&plain, &sets.with(&empty, &[("a", "1")])));
        let bare = sets.without(&later, "a");
        assert_eq!((bare.len(), bare.metadata().count()), (0, 2));
    }

    #[test]
    fn too_many_sets_are_told_and_begun_anew() {
        let mut sets = sets();
        let empty = Arc::clone(sets.empty());
        let mut warnings = Vec::new();
        for k in 0..2 * SETS_MAX + 10 {
            sets.with(&empty, &[("id", &k.to_string())]);
            warnings.extend(sets.take_warning());
        }
        assert_eq!(warnings.len(), 2);
        assert!(warnings[0].contains("with 100000 unique time series"), "{}", warnings[0]);
        assert!(warnings[1].contains("with 200000 unique"), "{}", warnings[1]);
        assert!(sets.sets.len() <= SETS_MAX && sets.steps.len() <= STEPS_MAX);
    }

    proptest! {
        #[test]
        fn sets_are_maps(
            steps in prop::collection::vec(
                prop::collection::vec(("[a-c]{0,2}", "[a-c]{0,2}"), 0..4), 1..8),
        ) {
            let mut sets = sets();
            let mut map = BTreeMap::new();
            let mut set = Arc::clone(sets.empty());
            for step in &steps {
                let overlay: Vec<(&str, &str)> = step.iter().map(|(k, v)| (&**k, &**v)).collect();
                set = sets.with(&set, &overlay);
                map.extend(step.iter().cloned());
                let expected = map.iter().map(|(k, v)| (k.as_str(), v.as_str()));
                prop_assert!(set.iter().eq(expected));
            }
        }
    }
}
