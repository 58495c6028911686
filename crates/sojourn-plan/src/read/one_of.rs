//! Alternatives: `one_of` names stages of which a journey reaches one.

use crate::{Stage, StageKind};

use super::Reader;
use super::node::Node;

impl Reader<'_> {
    /// Makes the named stages alternatives to each other.
    pub(super) fn alternatives(&mut self, one_of: &[&Node], names: &[&str], stages: &mut [Stage]) {
        // A journey has at most 32 stages, which is checked elsewhere.
        for (group, list) in (0..=u8::MAX).zip(one_of) {
            let items = self.problems.list(list).unwrap_or_default();
            if items.len() < 2 {
                let hint = "such as `one_of: [completed, refunded]`";
                let message = "alternatives are two stages or more";
                self.problems.at(list, message, Some(hint.to_owned()));
            }
            for item in items {
                let Some(place) = self.problems.lookup(item, "stage", names) else {
                    continue;
                };
                let Some(stage) = stages.get_mut(place) else {
                    continue;
                };
                if stage.kind == StageKind::Required {
                    stage.kind = StageKind::Branch(group);
                    continue;
                }
                let (what, hint) = match stage.kind {
                    StageKind::Branch(_) => ("an alternative already", "name it once"),
                    _ => ("`optional`, `never` or `failure`", "an alternative is none of these"),
                };
                let message = format!("stage `{}` is {what}", stage.name);
                self.problems.at(item, message, Some(hint.to_owned()));
            }
        }
    }
}
