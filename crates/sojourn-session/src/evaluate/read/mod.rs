//! From what the prelude gathered to a [`Definition`], with all that is wrong at its place.

mod checks;
mod request;
mod steps;

use sojourn_plan::reading::suggestion;
use sojourn_plan::{PlanError, PlanErrors};

use super::markers::Markers;
use super::misuse::Misused;
use super::places::Places;
use super::raw::{
    MixKind, Raw, RawDeclared, RawMix, RawOptions, RawPhase, RawPlaceholderKind, RawSource,
    RawTarget,
};
use crate::definition::{
    Column, Declared, Definition, Phase, Pick, Place, Placeholder, PlaceholderKind, SIZINGS,
    Session, Source, SourceKind, TestOptions,
};
use crate::mix::Mix;
use crate::target::{Target, Targets};
use crate::text::Text;

/// Reads a definition; errs with all that is wrong, in the order of the script.
pub(super) fn definition(
    raw: Raw,
    markers: Markers,
    places: &Places,
    misused: Misused,
) -> Result<Definition, PlanErrors> {
    let mut reader = Reader {
        markers,
        places,
        placeholder_count: raw.placeholders.len(),
        targets: Targets::default(),
        errors: misused.errors,
        warnings: misused.warnings,
    };
    let definition = reader.definition(raw);
    let Reader { errors, warnings, .. } = reader;
    if !errors.is_empty() {
        return Err(sorted(errors));
    }
    Ok(Definition { warnings: sorted(warnings).0, ..definition })
}

/// In the order of the script, each once.
pub(super) fn sorted(mut all: Vec<PlanError>) -> PlanErrors {
    all.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
    all.dedup();
    PlanErrors(all)
}

struct Reader<'a> {
    markers: Markers,
    places: &'a Places,
    placeholder_count: usize,
    targets: Targets,
    errors: Vec<PlanError>,
    warnings: Vec<PlanError>,
}

/// Most characters of a phase's name.
const NAME_LENGTH_MAX: usize = 32;

impl Reader<'_> {
    fn definition(&mut self, raw: Raw) -> Definition {
        self.targets(raw.targets);
        for warning in raw.warnings {
            let place = self.places.get(warning.at);
            self.warnings.push(place.error(warning.message, warning.hint));
        }
        let names: Vec<&str> = raw.sessions.iter().map(|session| session.name.as_str()).collect();
        if names.is_empty() {
            let hint = "definition.session(\"name\", function (session) { … })";
            self.error(&self.places.whole(), "no session is declared", Some(hint));
        }
        let general = general_shares(raw.mix.as_ref(), &names);
        let mix = self.mix(raw.mix, &names);
        let phases = self.phases(raw.phases, &names, (&mix, &general));
        let placeholders = raw.placeholders.into_iter();
        let placeholders = placeholders
            .map(|raw| Placeholder { place: self.places.get(raw.at), kind: kind_of(raw.kind) })
            .collect();
        let session_places: Vec<_> = raw.sessions.iter().map(|s| self.places.get(s.at)).collect();
        let sessions = raw.sessions.into_iter();
        let sessions =
            sessions.map(|raw| Session { steps: self.steps(raw.steps), name: raw.name }).collect();
        let picks = raw.picks.iter();
        let definition = Definition {
            targets: self.targets.clone(),
            phases,
            options: self.options(raw.options),
            sessions,
            placeholders,
            generators: raw.generators,
            sources: raw.sources.into_iter().map(|raw| self.source(raw)).collect(),
            picks: picks.map(|raw| Pick { source: raw.source, session: raw.session }).collect(),
            channels: raw.channels.into_iter().filter_map(|raw| self.declared(raw)).collect(),
            stages: raw.stages.into_iter().filter_map(|raw| self.declared(raw)).collect(),
            modules: Vec::new(),
            warnings: Vec::new(),
        };
        self.check(&definition, &session_places);
        definition
    }

    fn error(&mut self, place: &Place, message: impl Into<String>, hint: Option<&str>) {
        self.errors.push(place.error(message, hint.map(str::to_owned)));
    }

    fn warn(&mut self, place: &Place, message: impl Into<String>, hint: Option<String>) {
        self.warnings.push(place.error(message, hint));
    }

    /// Text with its placeholders.
    fn text(&mut self, marked: &str, place: &Place) -> Text {
        self.markers.parse(marked, self.placeholder_count).unwrap_or_else(|_| {
            let message = "text was cut out of a value that is known only while a client runs, or \
                           the value was changed";
            let hint = "such a value can only be joined to text, or be given to a step as it is";
            self.error(place, message, Some(hint));
            Text::default()
        })
    }

    fn targets(&mut self, raw: Vec<RawTarget>) {
        if raw.is_empty() {
            let hint = "definition.setTarget(\"http://host:port\")";
            self.error(&self.places.whole(), "no target is set", Some(hint));
        }
        let mut targets = Vec::new();
        for target in raw {
            match Target::parse(&target.url) {
                Ok(target) => targets.push(target),
                Err(error) => {
                    let hint = "a target is a host or an http or https URL";
                    self.error(&self.places.get(target.at), error.to_string(), Some(hint));
                }
            }
        }
        self.targets = Targets::new(targets);
    }

    fn mix(&mut self, raw: Option<RawMix>, names: &[&str]) -> Mix {
        let equal = vec![1.0; names.len().max(1)];
        let made = match raw {
            None => Mix::of_weights(&equal),
            Some(raw) => {
                let place = self.places.get(raw.at);
                let base = raw.kind.base(names.len());
                return self.shares(raw.kind, &raw.shares, (names, base), &place);
            }
        };
        made.unwrap_or_else(|_| fallback())
    }

    fn shares(
        &mut self,
        kind: MixKind,
        given: &[(String, f64)],
        (names, mut shares): (&[&str], Vec<f64>),
        place: &Place,
    ) -> Mix {
        for (name, share) in given {
            match names.iter().position(|known| known == name) {
                Some(at) => shares[at] = *share,
                None => {
                    let hint = suggestion(name, names.iter().copied());
                    self.error(place, format!("there is no session `{name}`"), hint.as_deref());
                    return fallback();
                }
            }
        }
        let made = match kind {
            MixKind::Weights => Mix::of_weights(&shares),
            MixKind::Probabilities => Mix::of_probabilities(&shares),
        };
        made.unwrap_or_else(|error| {
            let is_reported = names.is_empty();
            if !is_reported {
                self.error(place, error.to_string(), None);
            }
            fallback()
        })
    }

    /// The phases; `general` are the shares that a phase's own weights are laid over.
    fn phases(
        &mut self,
        raw: Vec<RawPhase>,
        names: &[&str],
        (mix, general): (&Mix, &[f64]),
    ) -> Vec<Phase> {
        if raw.is_empty() {
            let hint = "definition.setArrivalPhases([{ duration: 60, rate: 1 }])";
            self.error(&self.places.whole(), "no arrival phase is set", Some(hint));
        }
        let mut phases = Vec::new();
        for phase in raw {
            let place = self.places.get(phase.at);
            let name_length = phase.name.as_ref().map_or(0, |name| name.chars().count());
            if name_length > NAME_LENGTH_MAX {
                let message = format!("the name of an arrival phase has {name_length} characters");
                self.error(&place, message, Some("at most 32 are shown"));
            }
            let mix = match &phase.weights {
                Some(weights) => {
                    self.shares(MixKind::Weights, weights, (names, general.to_vec()), &place)
                }
                None => mix.clone(),
            };
            phases.push(Phase {
                duration_s: phase.duration,
                rate_per_s: phase.rate,
                clients_max: phase.clients_max,
                name: phase.name,
                mix,
            });
        }
        phases
    }

    fn options(&mut self, raw: Option<RawOptions>) -> TestOptions {
        let Some(raw) = raw else { return TestOptions::default() };
        if let Some(sizing) = raw.sizing.as_deref().filter(|sizing| !SIZINGS.contains(sizing)) {
            let hint = suggestion(sizing, SIZINGS);
            let place = self.places.get(raw.at);
            self.error(&place, format!("there is no sizing `{sizing}`"), hint.as_deref());
        }
        TestOptions {
            sizing: raw.sizing,
            region: raw.region,
            engine: raw.engine,
            exclude_tags: raw.exclude_tags,
            cookies: raw.cookies,
        }
    }

    fn declared(&self, raw: RawDeclared) -> Option<Declared> {
        // The prelude has written it.
        let written = serde_json::from_str(&raw.json).ok()?;
        Some(Declared { name: raw.name, written, place: self.places.get(raw.at) })
    }

    fn source(&self, raw: RawSource) -> Source {
        match raw {
            RawSource::Raw { path, at } => {
                Source { path, kind: SourceKind::Raw, place: self.places.get(at) }
            }
            RawSource::Structured { path, delimiter, has_header, fields, at } => {
                let is_tabbed = path.ends_with(".tsv") || path.ends_with(".tab");
                let usual = if is_tabbed { b'\t' } else { b',' };
                let delimiter = delimiter.and_then(|text| text.bytes().next()).unwrap_or(usual);
                let kind = SourceKind::Structured { delimiter, has_header, fields };
                Source { path, kind, place: self.places.get(at) }
            }
        }
    }
}

/// The shares that a script gives all phases; of a session that does not exist elsewhere an error.
fn general_shares(raw: Option<&RawMix>, names: &[&str]) -> Vec<f64> {
    let Some(raw) = raw else { return MixKind::Weights.base(names.len()) };
    let mut shares = raw.kind.base(names.len());
    for (name, share) in &raw.shares {
        if let Some(at) = names.iter().position(|known| known == name) {
            shares[at] = *share;
        }
    }
    shares
}

/// Stands for a mix that can't be made, which is reported.
fn fallback() -> Mix {
    Mix::single()
}

fn kind_of(raw: RawPlaceholderKind) -> PlaceholderKind {
    match raw {
        RawPlaceholderKind::Variable { name } => PlaceholderKind::Variable(name),
        RawPlaceholderKind::Generated { generator } => PlaceholderKind::Generated(generator),
        RawPlaceholderKind::Cell { pick, column, name } => {
            let column = match (column, name) {
                (Some(index), _) => Column::Index(index),
                (None, name) => Column::Name(name.unwrap_or_default()),
            };
            PlaceholderKind::Cell { pick, column }
        }
        RawPlaceholderKind::Status => PlaceholderKind::Status,
    }
}
