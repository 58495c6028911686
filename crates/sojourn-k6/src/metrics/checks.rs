//! Groups and checks by name, in order of first appearance.

use std::collections::HashMap;
use std::sync::Arc;

use hashbrown::HashTable;
use serde::{Deserialize, Serialize};

use super::hash::hash;

/// So many groups, and so many checks, are told apart.
pub const NAMES_MAX: usize = 100_000;

/// How often each check held, by the group that it stands in.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(into = "Listed", from = "Listed")]
pub struct Checks {
    groups: Vec<Group>,
    checks: Vec<Check>,
    /// Of `groups` by path and of `checks` by group and name; a group's numbers are even.
    index: HashTable<u32>,
    refused: u64,
}

/// A group that a script entered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// `::outer::inner`; empty for the script itself.
    pub path: Arc<str>,
    /// When it was first entered, since 1970.
    pub first_ns: u64,
}

/// A check of one group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The group's path.
    pub group: Arc<str>,
    /// Its name.
    pub name: Box<str>,
    /// How often it held.
    pub passes: u64,
    /// How often it did not.
    pub fails: u64,
    /// When it was first made, since 1970.
    pub first_ns: u64,
}

/// The same without the means of finding anything in it.
#[derive(Serialize, Deserialize)]
struct Listed {
    groups: Vec<Group>,
    checks: Vec<Check>,
    refused: u64,
}

impl From<Checks> for Listed {
    fn from(checks: Checks) -> Self {
        let Checks { groups, checks, refused, .. } = checks;
        Self { groups, checks, refused }
    }
}

impl From<Listed> for Checks {
    fn from(listed: Listed) -> Self {
        let mut checks = Self::default();
        checks.take_in(&listed.groups, &listed.checks, listed.refused);
        checks
    }
}

impl Checks {
    /// A group was entered.
    pub fn group(&mut self, path: &str, at_ns: u64) {
        self.group_at(path, at_ns);
    }

    /// A check was made so often with these ends.
    pub fn add(&mut self, group: &str, name: &str, at_ns: u64, passes: u64, fails: u64) {
        let Some(group) = self.group_at(group, at_ns) else {
            self.refused += passes + fails;
            return;
        };
        let path = Arc::clone(&self.groups[group].path);
        let hashed = hash_check(&path, name);
        let (groups, checks) = (&self.groups, &mut self.checks);
        let is_it = |number: &u32| match place(*number) {
            Place::Group(_) => false,
            Place::Check(at) => *checks[at].name == *name && Arc::ptr_eq(&checks[at].group, &path),
        };
        let at = match self.index.find(hashed, is_it) {
            Some(number) => *number as usize / 2,
            None if checks.len() >= NAMES_MAX => {
                self.refused += passes + fails;
                return;
            }
            None => {
                let at = checks.len();
                let name = name.into();
                checks.push(Check { group: path, name, passes: 0, fails: 0, first_ns: at_ns });
                let rehash = |number: &u32| hash_of(groups, checks, *number);
                self.index.insert_unique(hashed, at as u32 * 2 + 1, rehash);
                at
            }
        };
        let check = &mut checks[at];
        check.passes += passes;
        check.fails += fails;
        check.first_ns = check.first_ns.min(at_ns);
    }

    /// What `other` has seen as well.
    pub fn merge(&mut self, other: Self) {
        self.take_in(&other.groups, &other.checks, other.refused);
    }

    fn take_in(&mut self, groups: &[Group], checks: &[Check], refused: u64) {
        for group in groups {
            self.group(&group.path, group.first_ns);
        }
        for check in checks {
            self.add(&check.group, &check.name, check.first_ns, check.passes, check.fails);
        }
        self.refused += refused;
    }

    /// All groups by their first instants, those without checks included.
    pub fn groups(&self) -> Vec<&Group> {
        let mut groups: Vec<_> = self.groups.iter().collect();
        groups.sort_by_key(|group| group.first_ns);
        groups
    }

    /// All checks by their first instants.
    pub fn checks(&self) -> Vec<&Check> {
        let mut checks: Vec<_> = self.checks.iter().collect();
        checks.sort_by_key(|check| check.first_ns);
        checks
    }

    /// Name, passes and fails of the checks of all groups together, by their first instants.
    pub fn by_name(&self) -> Vec<(&str, u64, u64)> {
        let mut named: Vec<(&str, u64, u64)> = Vec::new();
        let mut index = HashMap::new();
        for check in self.checks() {
            let at = *index.entry(&*check.name).or_insert_with(|| {
                named.push((&check.name, 0, 0));
                named.len() - 1
            });
            named[at].1 += check.passes;
            named[at].2 += check.fails;
        }
        named
    }

    /// How many checks beyond [`NAMES_MAX`] names were not accounted for by name.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// The group's place; none when there are too many.
    fn group_at(&mut self, path: &str, at_ns: u64) -> Option<usize> {
        let hashed = hash(path.as_bytes());
        let (groups, checks) = (&mut self.groups, &self.checks);
        let is_it = |number: &u32| match place(*number) {
            Place::Group(at) => *groups[at].path == *path,
            Place::Check(_) => false,
        };
        if let Some(number) = self.index.find(hashed, is_it) {
            let at = *number as usize / 2;
            groups[at].first_ns = groups[at].first_ns.min(at_ns);
            return Some(at);
        }
        if groups.len() >= NAMES_MAX {
            return None;
        }
        let at = groups.len();
        groups.push(Group { path: path.into(), first_ns: at_ns });
        let rehash = |number: &u32| hash_of(groups, checks, *number);
        self.index.insert_unique(hashed, at as u32 * 2, rehash);
        Some(at)
    }
}

enum Place {
    Group(usize),
    Check(usize),
}

fn place(number: u32) -> Place {
    let at = number as usize / 2;
    if number.is_multiple_of(2) { Place::Group(at) } else { Place::Check(at) }
}

fn hash_of(groups: &[Group], checks: &[Check], number: u32) -> u64 {
    match place(number) {
        Place::Group(at) => hash(groups[at].path.as_bytes()),
        Place::Check(at) => hash_check(&checks[at].group, &checks[at].name),
    }
}

fn hash_check(group: &str, name: &str) -> u64 {
    hash(group.as_bytes()).rotate_left(1) ^ hash(name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_checks_stand_in_order_of_time() {
        let mut one = Checks::default();
        one.add("::g", "late", 30, 1, 0);
        one.add("", "late", 40, 0, 1);
        let mut two = Checks::default();
        two.group("::empty", 5);
        two.add("::g", "early", 10, 2, 1);
        two.add("::g", "late", 35, 1, 1);
        for (mut a, b) in [(one.clone(), two.clone()), (two, one)] {
            a.merge(b);
            let groups: Vec<_> = a.groups().iter().map(|g| &*g.path).collect();
            assert_eq!(groups, ["::empty", "::g", ""]);
            let checks = a.checks();
            let checks: Vec<_> =
                checks.iter().map(|c| (&*c.group, &*c.name, c.passes, c.fails)).collect();
            let expected = [("::g", "early", 2, 1), ("::g", "late", 2, 1), ("", "late", 0, 1)];
            assert_eq!(checks, expected);
        }
    }

    #[test]
    fn a_flood_of_names_is_refused_and_counted() {
        let mut checks = Checks::default();
        for k in 0..NAMES_MAX + 5 {
            checks.add("", &format!("check {k}"), 0, 1, 0);
        }
        assert_eq!((checks.checks().len(), checks.refused()), (NAMES_MAX, 5));
    }
}
