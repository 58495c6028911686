//! Other forms of sessions: journey files, as far as journeys can do what sessions do, and what
//! stands between k6 scripts and sessions.

#[cfg(feature = "evaluate")]
mod from_k6;
mod steps;
mod texts;
mod yaml;

use std::collections::{BTreeMap, BTreeSet};

use sojourn_plan::PlanError;

use crate::data::Data;
use crate::definition::{Definition, Phase};
#[cfg(feature = "evaluate")]
pub use from_k6::{Obstacles, k6_obstacles};
use steps::{Walk, plain_name};
use texts::Values;
use yaml::Yaml;

/// A journey file made of a definition.
#[derive(Clone, Debug)]
pub struct JourneyFile {
    /// The file, remarks at its head.
    pub text: String,
    /// What a journey can't do, or does otherwise, each at its place in the script.
    pub remarks: Vec<PlanError>,
}

/// Makes a journey file: every session a journey, every request a step, every arrival phase an
/// entry of its load. `name` is the run's. `None` where no request can be written.
pub fn journey_file(name: &str, definition: &Definition, data: &Data) -> Option<JourneyFile> {
    let mut sources = BTreeMap::new();
    let mut remarks = Vec::new();
    // By session: its journey's name, if it has one.
    let mut names: Vec<Option<String>> = Vec::new();
    let mut journeys = Vec::new();
    for session in &definition.sessions {
        let mut walk = Walk::new(Values {
            definition,
            data,
            extracted: BTreeSet::new(),
            inlined: BTreeMap::new(),
            lost: BTreeSet::new(),
            sources: &mut sources,
        });
        walk.steps(&session.steps);
        let steps: Vec<Yaml> = walk.steps.iter().map(steps::JourneyStep::yaml).collect();
        remarks.extend(walk.remarks.into_iter().map(|(place, text)| place.error(text, None)));
        if steps.is_empty() {
            names.push(None);
            continue;
        }
        let name = unique(plain_name(&session.name, "session"), &names);
        journeys.push((name.clone(), Yaml::map(vec![("steps", Yaml::List(steps))])));
        names.push(Some(name));
    }
    let load = load(definition, &names);
    if journeys.is_empty() || load.is_empty() {
        return None;
    }
    let mut entries = vec![("name", Yaml::text(name))];
    let targets = definition.targets.all();
    if let [only] = targets {
        entries.push(("target", Yaml::text(&only.origin)));
    }
    let hosts = targets.iter().map(|target| Yaml::text(&target.host)).collect();
    entries.push(("allow_hosts", Yaml::List(hosts)));
    if !sources.is_empty() {
        let csv =
            |(name, path): (String, String)| (name, Yaml::map(vec![("csv", Yaml::text(path))]));
        entries.push(("data", Yaml::Map(sources.into_iter().map(csv).collect())));
    }
    entries.push(("journeys", Yaml::Map(journeys)));
    entries.push(("load", Yaml::List(load)));
    remarks.dedup();
    let text = format!("{}{}", head(&remarks), Yaml::map(entries).document());
    Some(JourneyFile { text, remarks })
}

/// Remarks as comments.
fn head(remarks: &[PlanError]) -> String {
    if remarks.is_empty() {
        return String::new();
    }
    let mut out = "# What the session script does and this file does not:\n".to_owned();
    for PlanError { line, message, .. } in remarks {
        let message = crate::log::one_line(message);
        match line {
            0 => out.push_str(&format!("# {message}\n")),
            line => out.push_str(&format!("# line {line}: {message}\n")),
        }
    }
    out.push('\n');
    out
}

fn unique(name: String, known: &[Option<String>]) -> String {
    let is_free = |name: &String| !known.contains(&Some(name.clone()));
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.clone()).chain(numbered).find(is_free).unwrap_or(name)
}

/// An entry for each phase that launches anybody: entries run beside each other, so each waits for
/// its turn by a pause.
fn load(definition: &Definition, names: &[Option<String>]) -> Vec<Yaml> {
    let mut load = Vec::new();
    let mut from_s = 0.0;
    for phase in &definition.phases {
        let weights: Vec<(String, Yaml)> = names
            .iter()
            .enumerate()
            .filter_map(|(session, name)| Some((name.clone()?, phase.mix.share(session))))
            .filter(|(_, share)| *share > 0.0)
            .map(|(name, share)| (name, Yaml::plain((share * 1e6).round() / 1e6)))
            .collect();
        if phase.rate_per_s > 0.0 && phase.duration_s > 0.0 && !weights.is_empty() {
            load.push(entry(phase, from_s, weights));
        }
        from_s += phase.duration_s;
    }
    load
}

fn entry(phase: &Phase, from_s: f64, weights: Vec<(String, Yaml)>) -> Yaml {
    let rate = Yaml::plain(format!("{}/s", phase.rate_per_s));
    let length = Yaml::plain(duration(phase.duration_s));
    let mut entries = vec![("journeys", Yaml::Map(weights)), ("arrivals", Yaml::text("poisson"))];
    if from_s > 0.0 {
        let pause = Yaml::map(vec![("pause", Yaml::plain(duration(from_s)))]);
        let stretch = Yaml::map(vec![("rate", rate), ("for", length)]);
        entries.push(("stages", Yaml::List(vec![pause, stretch])));
    } else {
        entries.extend([("rate", rate), ("steady", length)]);
    }
    if let Some(most) = phase.clients_max {
        entries.push(("count", Yaml::plain(most)));
    }
    Yaml::map(entries)
}

/// `60s`, `1500ms`.
fn duration(seconds: f64) -> String {
    if seconds.fract() == 0.0 {
        format!("{seconds}s")
    } else {
        format!("{}ms", (seconds * 1_000.0).round().max(1.0))
    }
}
