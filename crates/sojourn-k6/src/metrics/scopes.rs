//! The accounts of scenarios and groups, which only the full summary shows.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::account::Account;
use super::registry::Registry;
use super::tag_set::TagSet;

/// So many scenarios and groups have an account of their own.
pub const SCOPES_MAX: usize = 10_000;

/// How many tag sets' scopes a thread remembers before it starts anew.
const REMEMBERED_MAX: usize = 100_000;

/// A scenario, or a group within a scenario or outside of any.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Scope {
    /// The scenario's name. The nameless one of k6's shortcuts, `default`, is none.
    pub scenario: Option<Arc<str>>,
    /// The group's path; empty for the scenario as a whole.
    pub group: Arc<str>,
}

/// The accounts by scope.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(into = "Listed", from = "Listed")]
pub struct Scopes {
    accounts: Vec<ScopeAccount>,
    index: HashMap<Scope, usize>,
    /// Those of a tag set, by its number.
    of_sets: HashMap<u64, [Option<usize>; 2]>,
    refused: u64,
}

/// What happened in one scope.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ScopeAccount {
    /// Which.
    pub scope: Scope,
    /// When its first sample was taken, since 1970.
    pub first_ns: u64,
    /// Its samples. Its checks are told apart by their names alone.
    pub account: Account,
}

/// The same without the means of finding anything in it.
#[derive(Serialize, Deserialize)]
struct Listed {
    accounts: Vec<ScopeAccount>,
    refused: u64,
}

impl From<Scopes> for Listed {
    fn from(scopes: Scopes) -> Self {
        Self { accounts: scopes.accounts, refused: scopes.refused }
    }
}

impl From<Listed> for Scopes {
    fn from(listed: Listed) -> Self {
        let mut scopes = Self::default();
        scopes.take_in(listed.accounts, listed.refused);
        scopes
    }
}

impl Scopes {
    /// The accounts that a sample with these tags belongs to.
    pub(super) fn each(&mut self, tags: &TagSet, at_ns: u64, mut add: impl FnMut(&mut Account)) {
        let found = match self.of_sets.get(&tags.id) {
            Some(found) => *found,
            None => self.remember(tags, at_ns),
        };
        for at in found.into_iter().flatten() {
            add(&mut self.accounts[at].account);
        }
    }

    /// What there is so far; the scopes stay known.
    pub(super) fn take(&mut self) -> Self {
        let mut taken = Self { refused: self.refused, ..Self::default() };
        self.refused = 0;
        for own in &mut self.accounts {
            let account = Account::like(&own.account);
            let account = std::mem::replace(&mut own.account, account);
            let (scope, first_ns) = (own.scope.clone(), own.first_ns);
            taken.accounts.push(ScopeAccount { scope, first_ns, account });
        }
        taken
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.take_in(other.accounts, other.refused);
    }

    fn take_in(&mut self, accounts: Vec<ScopeAccount>, refused: u64) {
        for theirs in accounts {
            let Some(at) = self.at(theirs.scope, theirs.first_ns) else { continue };
            let own = &mut self.accounts[at];
            own.first_ns = own.first_ns.min(theirs.first_ns);
            own.account.merge(theirs.account);
        }
        self.refused += refused;
    }

    /// Whether all their metrics are those of a registry.
    pub(super) fn are_of(&self, registry: &Registry) -> bool {
        self.accounts.iter().all(|own| own.account.is_of(registry))
    }

    /// All scopes by their first samples.
    pub fn iter(&self) -> impl Iterator<Item = &ScopeAccount> {
        let mut accounts: Vec<_> = self.accounts.iter().collect();
        accounts.sort_by_key(|account| account.first_ns);
        accounts.into_iter()
    }

    /// How many scopes beyond [`SCOPES_MAX`] have no account.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    fn remember(&mut self, tags: &TagSet, at_ns: u64) -> [Option<usize>; 2] {
        let scenario = tags.get("scenario").filter(|name| !matches!(*name, "" | "default"));
        let scenario: Option<Arc<str>> = scenario.map(Into::into);
        // What setup and teardown do outside of groups is shown in the total only.
        let group =
            tags.get("group").filter(|path| !matches!(*path, "" | "::setup" | "::teardown"));
        let whole = scenario.clone().map(|name| Scope { scenario: Some(name), group: "".into() });
        let group = group.map(|path| Scope { scenario, group: path.into() });
        let found = [whole, group].map(|scope| scope.and_then(|scope| self.at(scope, at_ns)));
        if self.of_sets.len() >= REMEMBERED_MAX {
            self.of_sets.clear();
        }
        self.of_sets.insert(tags.id, found);
        found
    }

    fn at(&mut self, scope: Scope, first_ns: u64) -> Option<usize> {
        if let Some(at) = self.index.get(&scope) {
            return Some(*at);
        }
        if self.accounts.len() >= SCOPES_MAX {
            self.refused += 1;
            return None;
        }
        let at = self.accounts.len();
        self.index.insert(scope.clone(), at);
        self.accounts.push(ScopeAccount { scope, first_ns, account: Account::default() });
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Registry, Shard, ShardOptions, Sink, TagSets, Totals, builtin};

    #[test]
    fn threads_scopes_are_merged_by_name() {
        let options = ShardOptions { is_full: true, ..ShardOptions::default() };
        let matcher = Registry::new().matcher();
        let mut totals = Totals::default();
        // The second thread comes upon the scopes in another order, and earlier.
        for (thread, groups) in [["::a", "::b"], ["::b", "::a"]].iter().enumerate() {
            let mut sets = TagSets::new(Arc::clone(&matcher));
            let base = Arc::clone(sets.empty());
            let base = sets.with(&base, &[("scenario", "shop")]);
            let mut shard = Shard::new(options);
            for round in 0..2 {
                for (at, group) in groups.iter().enumerate() {
                    let tags = sets.with(&base, &[("group", group)]);
                    let at_ns = 100 - 50 * thread as u64 + 10 * round + at as u64;
                    shard.add(builtin::ITERATIONS, &tags, at_ns, 1.0);
                    shard.check(group, "held", &tags, at_ns, thread == 0);
                }
                totals.merge(shard.take());
            }
        }
        let found: Vec<_> = totals
            .scopes()
            .iter()
            .map(|own| {
                let sum = match own.account.sink(builtin::ITERATIONS) {
                    Some(Sink::Counter(counter)) => counter.sum,
                    _ => 0.0,
                };
                let checks = own.account.checks().by_name();
                (&*own.scope.group, own.first_ns, sum, checks)
            })
            .collect();
        let expected = [
            ("", 50, 8.0, vec![("held", 4, 4)]),
            ("::b", 50, 4.0, vec![("held", 2, 2)]),
            ("::a", 51, 4.0, vec![("held", 2, 2)]),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_flood_of_groups_is_refused_and_counted() {
        let mut sets = TagSets::new(Registry::new().matcher());
        let base = Arc::clone(sets.empty());
        let mut shard = Shard::new(ShardOptions { is_full: true, ..ShardOptions::default() });
        for k in 0..SCOPES_MAX + 7 {
            let tags = sets.with(&base, &[("group", &format!("::{k}"))]);
            shard.add(builtin::ITERATIONS, &tags, 1, 1.0);
        }
        let mut totals = Totals::default();
        totals.merge(shard.take());
        assert_eq!(totals.scopes().refused(), 7);
        assert_eq!(totals.scopes().iter().count(), SCOPES_MAX);
    }
}
