//! Closed loads: users over time.

use crate::{Model, Think, Until, UserStage};

use super::Reader;
use super::fields::{Fields, given_or};
use super::load_shapes;
use super::loads::{Phases, Shaped};
use super::node::{Content, Node};
use super::units::show_ns;

/// Most users of an entry: each has its place in memory.
const USERS_MAX: u64 = 10_000_000;

impl Reader<'_> {
    /// A closed load.
    pub(super) fn closed(
        &mut self,
        entry: &Node,
        users: &Node,
        fields: &Fields<'_>,
        phases: Phases,
    ) -> Option<Shaped> {
        let think = given_or(fields.get("think"), Think::None, |node| self.think(node));
        let until = given_or(fields.get("until"), Until::Journey, |node| {
            let place = self.problems.choice(node, &["journey", "root"])?;
            Some([Until::Journey, Until::Root][place])
        });
        let iterations = given_or(fields.get("iterations"), None, |node| {
            self.problems.count(node, 1, u64::MAX).map(Some)
        });
        let is_limited = !matches!(iterations, Some(None));
        let (stages, total_ns, declared) = match users.content {
            Content::Map(_) => self.user_stages(users)?,
            _ => {
                let count = self.user_count(users, 1)?;
                let Some(total_ns) = phases.total_ns() else {
                    let message = match is_limited {
                        true => "iterations take as long as the system lets them",
                        false => "how long?",
                    };
                    let hint = match is_limited {
                        true => "say the longest time: `steady: 10m`",
                        false => "say how long to measure: `steady: 30s`",
                    };
                    self.problems.at(entry, message, Some(hint.to_owned()));
                    return None;
                };
                let at_once = UserStage { to: count, over_ns: 0 };
                let hold = UserStage { to: count, over_ns: total_ns };
                let shown = format!("{count} users for {}", show_ns(total_ns));
                (vec![at_once, hold], total_ns, shown)
            }
        };
        let (think, until, iterations) = (think?, until?, iterations?);
        let declared = match iterations {
            Some(iterations) => format!("{declared}, at most {iterations} journeys"),
            None => declared,
        };
        Some(Shaped {
            total_ns,
            declared,
            model: Model::Closed { stages, think, until, iterations },
        })
    }

    fn user_stages(&mut self, node: &Node) -> Option<(Vec<UserStage>, u64, String)> {
        let fields = Fields::of(node, &load_shapes::USERS, &mut self.problems)?;
        let mut users = match fields.get("from") {
            Some(node) => self.user_count(node, 0)?,
            None => 0,
        };
        let mut stages = Vec::new();
        if users > 0 {
            stages.push(UserStage { to: users, over_ns: 0 });
        }
        let mut declared = Vec::new();
        let mut is_whole = true;
        let list = fields.get("stages")?;
        for item in self.problems.list(list)? {
            match self.user_stage(item, &mut users) {
                Some((some, text)) => {
                    stages.extend(some);
                    declared.push(text);
                }
                None => is_whole = false,
            }
        }
        if is_whole && stages.iter().all(|stage| stage.to == 0) {
            let hint = Some("`users: { stages: [{ to: 50, over: 30s }] }`".to_owned());
            self.problems.at(node, "a load of no users", hint);
            return None;
        }
        let total_ns = stages.iter().fold(0_u64, |sum, stage| sum.saturating_add(stage.over_ns));
        is_whole.then(|| (stages, total_ns, declared.join(", then ")))
    }

    /// One stretch. After a pause the users from before it are back at once.
    fn user_stage(&mut self, node: &Node, users: &mut u32) -> Option<(Vec<UserStage>, String)> {
        let fields = Fields::of(node, &load_shapes::USER_STAGE, &mut self.problems)?;
        let kinds = fields.given(&["to", "users", "pause"]);
        let [(kind, value)] = kinds.as_slice() else {
            if kinds.is_empty() && fields.has_unknown {
                return None;
            }
            let message = "a stage says one of `to`, `users`, `pause`";
            let hint = "a stage is `{ to: 50, over: 30s }`, `{ users: 50, for: 1m }` or \
                        `{ pause: 10s }`";
            self.problems.at(node, message, Some(hint.to_owned()));
            return None;
        };
        let length_name = match kind.name.as_str() {
            "to" => "over",
            "users" => "for",
            _ => "pause",
        };
        let Some(length) = fields.get(length_name) else {
            let message = format!("`{}` without `{length_name}`", kind.name);
            let hint = Some(format!("say how long: `{length_name}: 30s`"));
            self.problems.at(node, message, hint);
            return None;
        };
        for (other, _) in fields.given(&["over", "for"]) {
            if other.name != length_name {
                let message = format!("`{}` does not go with `{}`", other.name, kind.name);
                self.problems.at_byte(other.range.start, message, None);
            }
        }
        let over_ns = self.problems.duration(length)?;
        let shown = show_ns(over_ns);
        match kind.name.as_str() {
            "pause" => {
                let stages = vec![
                    UserStage { to: 0, over_ns: 0 },
                    UserStage { to: 0, over_ns },
                    UserStage { to: *users, over_ns: 0 },
                ];
                Some((stages, format!("pause {shown}")))
            }
            "users" => {
                *users = self.user_count(value, 0)?;
                let at_once = UserStage { to: *users, over_ns: 0 };
                let hold = UserStage { to: *users, over_ns };
                Some((vec![at_once, hold], format!("{users} users for {shown}")))
            }
            _ => {
                let from = *users;
                *users = self.user_count(value, 0)?;
                let ramp = UserStage { to: *users, over_ns };
                Some((vec![ramp], format!("{from} to {users} users over {shown}")))
            }
        }
    }

    fn user_count(&mut self, node: &Node, least: u64) -> Option<u32> {
        let count = self.problems.count(node, least, USERS_MAX)?;
        u32::try_from(count).ok()
    }

    fn think(&mut self, node: &Node) -> Option<Think> {
        if !matches!(node.content, Content::Map(_)) {
            return Some(match self.problems.duration(node)? {
                0 => Think::None,
                ns => Think::Fixed(ns),
            });
        }
        let fields = Fields::of(node, &load_shapes::THINK, &mut self.problems)?;
        let mut duration = |name| match fields.get(name) {
            Some(node) => self.problems.duration(node).map(Some),
            None => Some(None),
        };
        match (duration("min")?, duration("max")?, duration("exponential")?) {
            (Some(min), Some(max), None) if min <= max => Some(Think::Uniform(min, max)),
            (None, None, Some(0)) => Some(Think::None),
            (None, None, Some(mean)) => Some(Think::Exponential(mean)),
            _ => {
                let hint = "write `1s`, `{ min: 1s, max: 3s }` or `{ exponential: 1s }`";
                self.problems.at(node, "not a think time", Some(hint.to_owned()));
                None
            }
        }
    }
}
