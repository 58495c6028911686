//! The accounts of scenarios and groups, which only the full summary shows.

use std::collections::HashMap;
use std::sync::Arc;

use super::account::Account;
use super::tag_set::TagSet;

/// So many scenarios and groups have an account of their own.
pub const SCOPES_MAX: usize = 10_000;

/// How many tag sets' scopes a thread remembers before it starts anew.
const REMEMBERED_MAX: usize = 100_000;

/// A scenario, or a group within a scenario or outside of any.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The scenario's name. The nameless one of k6's shortcuts, `default`, is none.
    pub scenario: Option<Arc<str>>,
    /// The group's path; empty for the scenario as a whole.
    pub group: Arc<str>,
}

/// The accounts by scope.
#[derive(Debug, Clone, Default)]
pub struct Scopes {
    accounts: Vec<ScopeAccount>,
    index: HashMap<Scope, usize>,
    /// Those of a tag set, by its number.
    of_sets: HashMap<u64, [Option<usize>; 2]>,
    refused: u64,
}

/// What happened in one scope.
#[derive(Debug, Clone)]
pub struct ScopeAccount {
    /// Which.
    pub scope: Scope,
    /// When its first sample was taken, since 1970.
    pub first_ns: u64,
    /// Its samples. Its checks are told apart by their names alone.
    pub account: Account,
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
        for theirs in other.accounts {
            let Some(at) = self.at(theirs.scope, theirs.first_ns) else { continue };
            let own = &mut self.accounts[at];
            own.first_ns = own.first_ns.min(theirs.first_ns);
            own.account.merge(theirs.account);
        }
        self.refused += other.refused;
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
