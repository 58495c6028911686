//! Scenarios and groups as the full summary nests them.

use std::sync::Arc;

use super::collation;
use crate::metrics::{Account, Scopes};

/// A scenario or group with the groups in it.
#[derive(Debug)]
pub(super) struct Branch<'a> {
    pub(super) name: String,
    /// None for a group that has only groups in it.
    pub(super) account: Option<&'a Account>,
    /// In order of first appearance.
    pub(super) groups: Vec<Self>,
}

/// The groups outside of scenarios, in order of first appearance, and the scenarios, by name.
pub(super) fn branches(scopes: &Scopes) -> (Vec<Branch<'_>>, Vec<Branch<'_>>) {
    let mut groups = Vec::new();
    let mut scenarios: Vec<Branch<'_>> = Vec::new();
    for found in scopes.iter() {
        let scope = &found.scope;
        let branch = match &scope.scenario {
            None => branch_at(&mut groups, &scope.group),
            Some(scenario) => {
                let own = child(&mut scenarios, scenario);
                if scope.group.is_empty() {
                    Some(own)
                } else {
                    branch_at(&mut own.groups, &scope.group)
                }
            }
        };
        if let Some(branch) = branch {
            branch.account = Some(&found.account);
        }
    }
    scenarios.sort_by(|a, b| collation::compare(&a.name, &b.name));
    (groups, scenarios)
}

/// The group of a path, made with all that it stands in if need be.
fn branch_at<'a, 'b>(
    groups: &'b mut Vec<Branch<'a>>,
    path: &Arc<str>,
) -> Option<&'b mut Branch<'a>> {
    let mut names = path.split("::").skip(1);
    let mut branch = child(groups, names.next()?);
    for name in names {
        branch = child(&mut branch.groups, name);
    }
    Some(branch)
}

fn child<'a, 'b>(branches: &'b mut Vec<Branch<'a>>, name: &str) -> &'b mut Branch<'a> {
    let at = branches.iter().position(|branch| branch.name == name).unwrap_or_else(|| {
        branches.push(Branch { name: name.to_owned(), account: None, groups: Vec::new() });
        branches.len() - 1
    });
    &mut branches[at]
}
