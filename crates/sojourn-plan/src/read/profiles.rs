//! Open loads: intensity over time.

use sojourn_pace::{Profile, Segment};

use super::Reader;
use super::fields::Fields;
use super::load_shapes;
use super::loads::Phases;
use super::node::Node;
use super::units::{show_ns, show_rate};

/// A profile with its length and its description.
pub(super) struct ShapedProfile {
    pub(super) profile: Profile,
    pub(super) total_ns: u64,
    pub(super) declared: String,
}

impl Reader<'_> {
    /// The profile of an entry's `rate`, `stages`, `spike`, `sine` or `random`.
    pub(super) fn profile(
        &mut self,
        form: &str,
        node: &Node,
        fields: &Fields<'_>,
        phases: Phases,
        limit: Option<u64>,
        is_poisson: bool,
    ) -> Option<ShapedProfile> {
        if form == "stages" {
            return self.rate_stages(node, fields);
        }
        if form == "rate" {
            let rate = self.rate_above_zero(node)?;
            let total_ns = match (phases.total_ns(), limit) {
                (Some(total_ns), _) => total_ns,
                // Evenly paced, the last of `limit` arrivals falls before limit / rate.
                (None, Some(limit)) if !is_poisson => (limit as f64 / rate * 1e9).ceil() as u64,
                _ => return self.without_steady(node, limit.is_some()),
            };
            return Some(ShapedProfile {
                profile: Profile { segments: vec![constant(rate, total_ns)] },
                total_ns,
                declared: format!("{} for {}", show_rate(rate), show_ns(total_ns)),
            });
        }
        let Some(total_ns) = phases.total_ns() else {
            return self.without_steady(node, false);
        };
        match form {
            "spike" => self.spike(node, total_ns),
            "sine" => {
                let (segment, declared) = self.sine(node, total_ns)?;
                Some(single(segment, total_ns, declared))
            }
            _ => {
                let (segment, declared) = self.random(node, total_ns)?;
                Some(single(segment, total_ns, declared))
            }
        }
    }

    fn without_steady<T>(&mut self, node: &Node, counted: bool) -> Option<T> {
        let message = match counted {
            true => "Poisson arrivals of a fixed count end at no fixed time",
            false => "how long?",
        };
        let hint = match counted {
            true => "say the longest time: `steady: 60s`",
            false => "say how long to measure: `steady: 30s`",
        };
        self.problems.at(node, message, Some(hint.to_owned()));
        None
    }

    /// Stretches one after the other. A pause keeps the rate from which the next one starts.
    fn rate_stages(&mut self, node: &Node, fields: &Fields<'_>) -> Option<ShapedProfile> {
        let mut rate = match fields.get("from") {
            Some(node) => self.problems.rate(node)?,
            None => 0.0,
        };
        let mut segments = Vec::new();
        let mut declared = Vec::new();
        let mut total_ns: u64 = 0;
        let mut is_whole = true;
        for item in self.problems.list(node)? {
            match self.rate_stage(item, &mut rate) {
                Some((segment, duration_ns, text)) => {
                    total_ns = total_ns.saturating_add(duration_ns);
                    segments.extend(segment);
                    declared.push(text);
                }
                None => is_whole = false,
            }
        }
        if is_whole && segments.iter().all(is_silent) {
            let hint = Some("`stages: [{ to: 200/s, over: 30s }]`".to_owned());
            self.problems.at(node, "stages without any arrival", hint);
            return None;
        }
        is_whole.then(|| ShapedProfile {
            profile: Profile { segments },
            total_ns,
            declared: declared.join(", then "),
        })
    }

    fn rate_stage(
        &mut self,
        node: &Node,
        rate: &mut f64,
    ) -> Option<(Option<Segment>, u64, String)> {
        let fields = Fields::of(node, &load_shapes::RATE_STAGE, &mut self.problems)?;
        let kinds = fields.given(&["to", "rate", "sine", "random", "pause"]);
        let [(kind, value)] = kinds.as_slice() else {
            if kinds.is_empty() && fields.has_unknown {
                return None;
            }
            let hint = "a stage is `{ to: 200/s, over: 30s }`, `{ rate: 50/s, for: 1m }`, \
                        `{ pause: 10s }`, or `sine` or `random` with `for`";
            let message = "a stage says one of `to`, `rate`, `sine`, `random`, `pause`";
            self.problems.at(node, message, Some(hint.to_owned()));
            return None;
        };
        let length_name = match kind.name.as_str() {
            "to" => "over",
            "pause" => "pause",
            _ => "for",
        };
        for (other, _) in fields.given(&["over", "for"]) {
            if other.name != length_name {
                let message = format!("`{}` does not go with `{}`", other.name, kind.name);
                let hint = match length_name {
                    "pause" => None,
                    name => Some(format!("write `{name}`")),
                };
                self.problems.at_byte(other.range.start, message, hint);
            }
        }
        let Some(length) = fields.get(length_name) else {
            let message = format!("`{}` without `{length_name}`", kind.name);
            let hint = Some(format!("say how long: `{length_name}: 30s`"));
            self.problems.at(node, message, hint);
            return None;
        };
        let duration_ns = self.problems.duration(length)?;
        let shown = show_ns(duration_ns);
        let (segment, declared) = match kind.name.as_str() {
            "to" => {
                let from = std::mem::replace(rate, self.problems.rate(value)?);
                let text = format!("{} to {} over {shown}", show_rate(from), show_rate(*rate));
                (linear(from, *rate, duration_ns), text)
            }
            "rate" => {
                *rate = self.problems.rate(value)?;
                let text = format!("{} for {shown}", show_rate(*rate));
                (constant(*rate, duration_ns), text)
            }
            "pause" => (constant(0.0, duration_ns), format!("pause {shown}")),
            "sine" => self.sine(value, duration_ns)?,
            _ => self.random(value, duration_ns)?,
        };
        Some(((duration_ns > 0).then_some(segment), duration_ns, declared))
    }

    fn spike(&mut self, node: &Node, total_ns: u64) -> Option<ShapedProfile> {
        let fields = Fields::of(node, &load_shapes::SPIKE, &mut self.problems)?;
        let mut rate = |name| fields.get(name).and_then(|node| self.problems.rate(node));
        let (base, peak) = (rate("base"), rate("peak"));
        let mut duration = |name| fields.get(name).and_then(|node| self.problems.duration(node));
        let (at_ns, for_ns) = (duration("at"), duration("for"));
        let (base, peak, at_ns, for_ns) = (base?, peak?, at_ns?, for_ns?);
        let end_ns = at_ns.saturating_add(for_ns);
        if end_ns > total_ns {
            let message =
                format!("the spike ends at {}, the load at {}", show_ns(end_ns), show_ns(total_ns));
            self.problems.at(node, message, None);
            return None;
        }
        let segments =
            [constant(base, at_ns), constant(peak, for_ns), constant(base, total_ns - end_ns)];
        let segments: Vec<Segment> = segments
            .into_iter()
            .filter(|segment| !matches!(segment, Segment::Linear { duration_ns: 0, .. }))
            .collect();
        if segments.iter().all(is_silent) {
            self.problems.at(node, "a spike without any arrival", None);
            return None;
        }
        let declared = format!(
            "{} with {} from {} for {}, {} in all",
            show_rate(base),
            show_rate(peak),
            show_ns(at_ns),
            show_ns(for_ns),
            show_ns(total_ns)
        );
        Some(ShapedProfile { profile: Profile { segments }, total_ns, declared })
    }

    fn sine(&mut self, node: &Node, duration_ns: u64) -> Option<(Segment, String)> {
        let fields = Fields::of(node, &load_shapes::SINE, &mut self.problems)?;
        let mean = fields.get("mean").and_then(|node| self.rate_above_zero(node));
        let amplitude = fields.get("amplitude").and_then(|node| self.problems.rate(node));
        let period = fields.get("period").and_then(|node| self.problems.duration_above_zero(node));
        let phase = match fields.get("phase") {
            Some(node) => self.problems.fraction(node)?,
            None => 0.0,
        };
        let (mean_per_s, amplitude_per_s, period_ns) = (mean?, amplitude?, period?);
        let declared = format!(
            "{} ± {} every {} for {}",
            show_rate(mean_per_s),
            show_rate(amplitude_per_s),
            show_ns(period_ns),
            show_ns(duration_ns)
        );
        let segment = Segment::Sine { mean_per_s, amplitude_per_s, period_ns, phase, duration_ns };
        Some((segment, declared))
    }

    fn random(&mut self, node: &Node, duration_ns: u64) -> Option<(Segment, String)> {
        let fields = Fields::of(node, &load_shapes::RANDOM, &mut self.problems)?;
        let min = fields.get("min").and_then(|node| self.problems.rate(node));
        let max = fields.get("max").and_then(|node| self.rate_above_zero(node));
        let every = fields.get("every").and_then(|node| self.problems.duration_above_zero(node));
        let (min_per_s, max_per_s, every_ns) = (min?, max?, every?);
        if min_per_s > max_per_s {
            let message = "`min` is above `max`";
            self.problems.at(fields.get("min").unwrap_or(node), message, None);
            return None;
        }
        let declared = format!(
            "{} to {}, drawn every {}, for {}",
            show_rate(min_per_s),
            show_rate(max_per_s),
            show_ns(every_ns),
            show_ns(duration_ns)
        );
        let segment = Segment::RandomSteps { min_per_s, max_per_s, every_ns, duration_ns };
        Some((segment, declared))
    }
}

fn single(segment: Segment, total_ns: u64, declared: String) -> ShapedProfile {
    ShapedProfile { profile: Profile { segments: vec![segment] }, total_ns, declared }
}

fn constant(rate: f64, duration_ns: u64) -> Segment {
    linear(rate, rate, duration_ns)
}

fn linear(from_per_s: f64, to_per_s: f64, duration_ns: u64) -> Segment {
    Segment::Linear { from_per_s, to_per_s, duration_ns }
}

/// Whether a segment has no arrivals.
fn is_silent(segment: &Segment) -> bool {
    match segment {
        Segment::Linear { from_per_s, to_per_s, duration_ns } => {
            *duration_ns == 0 || (*from_per_s == 0.0 && *to_per_s == 0.0)
        }
        Segment::Sine { .. } | Segment::RandomSteps { .. } => false,
    }
}
