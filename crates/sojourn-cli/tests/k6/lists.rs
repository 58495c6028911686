//! The two lists of scripts that do not do what k6 does.
//!
//! A line is `script: reason`. In `different.txt` a reason may begin with members that are not
//! compared, in brackets: `script: [log, stdout] reason`; all the others are.

use std::collections::BTreeMap;

const MISSING: &str = include_str!("missing.txt");
const DIFFERENT: &str = include_str!("different.txt");

/// Scripts with reasons.
pub(super) struct Lists {
    pub(super) missing: BTreeMap<&'static str, &'static str>,
    pub(super) different: BTreeMap<&'static str, Difference>,
}

/// What differs on purpose.
pub(super) struct Difference {
    /// Beginnings of paths, such as `log` or `metrics.http_reqs`.
    members: Vec<&'static str>,
    pub(super) reason: &'static str,
}

impl Lists {
    pub(super) fn read() -> Self {
        let different = lines(DIFFERENT).map(|(script, text)| {
            let bracket = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
            let (members, reason) = bracket.unwrap_or(("", text));
            let members = members.split(',').map(str::trim).filter(|it| !it.is_empty()).collect();
            (script, Difference { members, reason: reason.trim() })
        });
        Self { missing: lines(MISSING).collect(), different: different.collect() }
    }

    pub(super) fn is_missing(&self, script: &str) -> bool {
        self.missing.contains_key(script)
    }

    /// Whether a script may fail as a whole.
    pub(super) fn has(&self, script: &str) -> bool {
        let is_whole = |it: &Difference| it.members.is_empty();
        self.is_missing(script) || self.different.get(script).is_some_and(is_whole)
    }

    /// Differences outside the members that are not compared. If those show none, there is one: the
    /// line is out of date.
    pub(super) fn relevant(&self, script: &str, differences: &[String]) -> Vec<String> {
        let members = self.different.get(script).map_or(&[][..], |it| &it.members);
        let (known, mut others): (Vec<String>, Vec<String>) = differences
            .iter()
            .cloned()
            .partition(|it| members.iter().any(|member| it.starts_with(member)));
        if !members.is_empty() && known.is_empty() {
            others.push("different.txt: what it names does not differ any more".to_owned());
        }
        others
    }
}

fn lines(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let is_told = |line: &&str| !line.is_empty() && !line.starts_with('#');
    text.lines().filter(is_told).map(|line| {
        let parts = line.split_once(": ");
        parts.unwrap_or_else(|| panic!("`{line}` is not `script: reason`"))
    })
}
