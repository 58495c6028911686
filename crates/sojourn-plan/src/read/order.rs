//! How stages stand to each other: predecessors, cycles, likeness.

use crate::{Selector, Stage, StageKind, StageSource};

use super::node::Node;
use super::problems::Problems;

/// Whether a stage is polled.
pub(super) fn is_poll(stage: &Stage) -> bool {
    matches!(stage.source, StageSource::Poll(_))
}

/// Sets the predecessors that no one named: the nearest required stage declared before, as one that
/// need not happen is a poor start of a hop. A failure's hop starts nowhere in particular: it
/// counts from the step, as does that of a stage which must never be seen.
pub(super) fn set_predecessors(stages: &mut [Stage], explicit: &[bool]) {
    for place in 0..stages.len() {
        let is_end = matches!(stages[place].kind, StageKind::Failure | StageKind::Never);
        if explicit.get(place).copied().unwrap_or(false) || is_end {
            continue;
        }
        stages[place].after =
            stages[..place].iter().rposition(|stage| stage.kind == StageKind::Required);
    }
}

/// Reports stages that come after themselves.
pub(super) fn check_cycles(stages: &[Stage], nodes: &[&Node], problems: &mut Problems<'_>) {
    let mut settled = vec![false; stages.len()];
    for start in 0..stages.len() {
        let mut path: Vec<usize> = Vec::new();
        let mut at = Some(start);
        while let Some(place) = at.filter(|&place| place < stages.len() && !settled[place]) {
            if let Some(first) = path.iter().position(|&seen| seen == place) {
                let mut names: Vec<&str> =
                    path[first..].iter().map(|&place| stages[place].name.as_str()).collect();
                names.push(&stages[place].name);
                names.reverse();
                problems.at(
                    nodes[place],
                    format!("stages that wait for each other: {}", names.join(" → ")),
                    Some("`after` names the stage that a hop starts from".to_owned()),
                );
                break;
            }
            path.push(place);
            at = stages[place].after;
        }
        for place in path {
            settled[place] = true;
        }
    }
}

/// Reports two stages that take the same events.
pub(super) fn check_distinct(stages: &[Stage], nodes: &[&Node], problems: &mut Problems<'_>) {
    let mut seen: Vec<(&Stage, Likeness)> = Vec::new();
    for (stage, node) in stages.iter().zip(nodes) {
        let Some(likeness) = Likeness::of(stage) else {
            continue;
        };
        let twin = seen.iter().find(|(_, other)| *other == likeness);
        if let Some((other, _)) = twin {
            problems.at(
                node,
                format!("nothing distinguishes stage `{}` from stage `{}`", stage.name, other.name),
                Some(
                    "give them different `match`, or `shared: true` to count one event for both"
                        .to_owned(),
                ),
            );
        }
        seen.push((stage, likeness));
    }
}

/// What decides whether an event is a stage's.
#[derive(PartialEq)]
struct Likeness {
    channel: usize,
    matches: Vec<String>,
    key: String,
}

impl Likeness {
    /// Of a stage that keeps its events to itself.
    fn of(stage: &Stage) -> Option<Self> {
        match &stage.source {
            StageSource::Event { channel, matches, key, key_format, .. } if !stage.shared => {
                let mut texts: Vec<String> = matches
                    .iter()
                    .map(|check| format!("{} {:?}", selector_text(&check.selector), check.test))
                    .collect();
                texts.sort();
                texts.dedup();
                Some(Self {
                    channel: *channel,
                    matches: texts,
                    key: format!("{}|{key_format}", selector_text(key)),
                })
            }
            _ => None,
        }
    }
}

fn selector_text(selector: &Selector) -> String {
    match selector {
        // The two spellings of a path are one path.
        Selector::Body(path) => match &path.plain {
            Some(steps) => format!("{steps:?}"),
            None => path.text.clone(),
        },
        Selector::Regex(regex) => format!("regex:{regex}"),
        other => format!("{other:?}"),
    }
}
