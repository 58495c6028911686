//! Groups within groups with their checks, as the legacy text and the data for scripts have them.

use md5::{Digest, Md5};

use crate::metrics::{Check, Checks};

/// A group; the outermost has no name.
#[derive(Debug, Default)]
pub(super) struct GroupNode<'a> {
    pub(super) name: String,
    pub(super) path: String,
    /// In order of first appearance, as checks are.
    pub(super) groups: Vec<Self>,
    pub(super) checks: Vec<&'a Check>,
}

impl<'a> GroupNode<'a> {
    /// The outermost group.
    pub(super) fn root(checks: &'a Checks) -> Self {
        let mut root = Self::default();
        for group in checks.groups() {
            root.descend(&group.path);
        }
        for check in checks.checks() {
            root.descend(&check.group).checks.push(check);
        }
        root
    }

    /// The hexadecimal MD5 of the path.
    pub(super) fn id(&self) -> String {
        id(&self.path)
    }

    /// The group of a path, made with all that it stands in if need be.
    fn descend(&mut self, path: &str) -> &mut Self {
        let mut node = self;
        for name in path.split("::").skip(1) {
            let at = node.groups.iter().position(|group| group.name == name);
            let at = at.unwrap_or_else(|| {
                let path = format!("{}::{name}", node.path);
                node.groups.push(Self { name: name.to_owned(), path, ..Self::default() });
                node.groups.len() - 1
            });
            node = &mut node.groups[at];
        }
        node
    }
}

/// The path of a check.
pub(super) fn check_path(check: &Check) -> String {
    format!("{}::{}", check.group, check.name)
}

/// The hexadecimal MD5 of a path.
pub(super) fn id(path: &str) -> String {
    let digest = Md5::digest(path.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
