//! Merged series: the only place where percentiles exist.

use std::collections::{BTreeMap, HashMap};

use crate::{
    Figure, Histogram, Kind, SeriesId, SeriesKey, SeriesPhase, Snapshot, names,
    recorder::{MOST_FOLDS, MOST_SERIES},
};

/// All series of a run, merged over sources and time.
#[derive(Clone, Debug, Default)]
pub struct Store {
    index: BTreeMap<SeriesKey, usize>,
    figures: Vec<Figure>,
    sources: HashMap<u32, Source>,
}

/// What is known of a source of snapshots.
#[derive(Clone, Debug, Default)]
struct Source {
    next_sequence: u64,
    /// Where its series are, by its own ids.
    places: Vec<Option<usize>>,
}

impl Store {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a snapshot. Errs when its number is not the next one of its source: a snapshot was
    /// lost, the run is void. Sources may come in any order. What can be added is added all the
    /// same, so that the rest of a void run can still be looked at; only a snapshot that came
    /// before is not added again. Also errs when the snapshot contradicts itself or the store: a
    /// series that was never named, or is of another kind.
    pub fn apply(&mut self, snapshot: &Snapshot) -> Result<(), String> {
        let name = snapshot.source;
        let sequence = snapshot.sequence;
        let source = self.sources.entry(name).or_default();
        let expected = source.next_sequence;
        if sequence < expected {
            return Err(format!("snapshot {sequence} of source {name} came again"));
        }
        source.next_sequence = sequence.saturating_add(1);
        let mut problem = (sequence > expected).then(|| {
            format!("snapshot {expected} of source {name} was lost: the next one is {sequence}")
        });
        for (id, kind, key) in &snapshot.new_series {
            if let Err(refusal) = self.name_series(name, *id, *kind, key) {
                problem.get_or_insert(refusal);
            }
        }
        let places = self.sources.get(&name).map(|source| &source.places);
        for (id, value) in &snapshot.values {
            let place = places.and_then(|places| places.get(id.0 as usize).copied().flatten());
            let added = place.is_some_and(|place| self.figures[place].apply(name, value));
            if !added {
                problem.get_or_insert_with(|| {
                    format!(
                        "source {name} wrote to its series {}, which is unknown or of another kind",
                        id.0
                    )
                });
            }
        }
        problem.map_or(Ok(()), Err)
    }

    /// Adds another store's series (another generator's, another run's). The other's sources count
    /// as further ones, even where they bear the same numbers. A series of another kind under the
    /// same name is left out.
    pub fn merge(&mut self, other: &Self) {
        for (key, figure) in other.figures() {
            self.figure_mut(key, figure.kind()).merge(figure);
        }
    }

    /// Adds what the same sources wrote in a later stretch of time, such as a delta of the run
    /// file. A series of another kind under the same name is left out.
    pub fn append(&mut self, later: &Self) {
        for (key, figure) in later.figures() {
            self.append_figure(key, figure);
        }
    }

    /// Adds a later stretch of one series; false when the name has another kind here.
    pub fn append_figure(&mut self, key: &SeriesKey, later: &Figure) -> bool {
        self.figure_mut(key, later.kind()).append(later)
    }

    /// Takes a [`Figure`]'s encoding from the front of `bytes` and adds it as a later stretch of
    /// one series. `None`, and nothing is added, when it is none or of another kind than the
    /// name's.
    pub fn append_encoded(&mut self, key: &SeriesKey, kind: Kind, bytes: &mut &[u8]) -> Option<()> {
        self.figure_mut(key, kind).append_encoded(bytes)
    }

    /// Empties every series and keeps their names, their pages and where each source stands: the
    /// window for the next interval.
    pub fn reset(&mut self) {
        self.figures.iter_mut().for_each(Figure::clear);
    }

    /// A counter's sum; 0 when there is no such series.
    pub fn counter(&self, key: &SeriesKey) -> u64 {
        match self.figure(key) {
            Some(Figure::Counter(n)) => *n,
            _ => 0,
        }
    }

    /// A gauge's (last, min, max), values of several sources added.
    pub fn gauge(&self, key: &SeriesKey) -> Option<(f64, f64, f64)> {
        match self.figure(key) {
            Some(Figure::Gauge(levels)) => levels.total(),
            _ => None,
        }
    }

    /// A rate's (yes, no).
    pub fn rate(&self, key: &SeriesKey) -> (u64, u64) {
        match self.figure(key) {
            Some(Figure::Rate { yes, no }) => (*yes, *no),
            _ => (0, 0),
        }
    }

    /// A trend's distribution.
    pub fn trend(&self, key: &SeriesKey) -> Option<&Histogram> {
        match self.figure(key) {
            Some(Figure::Trend(histogram)) => Some(histogram),
            _ => None,
        }
    }

    /// Every series, ordered by key.
    pub fn series(&self) -> impl Iterator<Item = (&SeriesKey, Kind)> {
        self.figures().map(|(key, figure)| (key, figure.kind()))
    }

    /// Every series with its content, ordered by key.
    pub fn figures(&self) -> impl Iterator<Item = (&SeriesKey, &Figure)> {
        let with_figure = |(key, &place): (_, &usize)| (key, &self.figures[place]);
        self.index.iter().map(with_figure)
    }

    /// A series' content.
    pub fn figure(&self, key: &SeriesKey) -> Option<&Figure> {
        self.index.get(key).map(|&place| &self.figures[place])
    }

    /// The series of a metric in a phase that bear all these tags (and maybe others), by key.
    ///
    /// Poisoned journeys are apart: their series are left out unless the tags name their journey
    /// (see [`names::poisoned`]).
    pub fn select<'a>(
        &'a self,
        metric: &'a str,
        tags: &'a [(&'a str, &'a str)],
        phase: SeriesPhase,
    ) -> impl Iterator<Item = (&'a SeriesKey, &'a Figure)> {
        let first = SeriesKey::new(metric, &[], SeriesPhase::WarmUp);
        let names_journey = tags.iter().any(|&(name, _)| name == names::JOURNEY);
        self.index
            .range(first..)
            .take_while(move |(key, _)| key.metric == metric)
            .filter(move |(key, _)| names_journey || !is_of_poisoned(key))
            .filter(move |(key, _)| {
                key.phase == phase && tags.iter().all(|&(name, value)| key.tag(name) == Some(value))
            })
            .map(|(key, &place)| (key, &self.figures[place]))
    }

    /// The poisoned journeys that a metric has series of, by their own names; of one journey, or of
    /// all.
    pub fn poisoned<'a>(
        &'a self,
        metric: &'a str,
        of: Option<&'a str>,
        phase: SeriesPhase,
    ) -> impl Iterator<Item = (&'a SeriesKey, &'a Figure)> {
        let first = SeriesKey::new(metric, &[], SeriesPhase::WarmUp);
        self.index
            .range(first..)
            .take_while(move |(key, _)| key.metric == metric)
            .filter(move |(key, _)| {
                let journey = key.tag(names::JOURNEY).and_then(names::poison_of);
                key.phase == phase && journey.is_some_and(|it| of.is_none_or(|of| of == it))
            })
            .map(|(key, &place)| (key, &self.figures[place]))
    }

    /// The sum of the counters that [`Self::select`] finds.
    pub fn sum(&self, metric: &str, tags: &[(&str, &str)], phase: SeriesPhase) -> u64 {
        self.select(metric, tags, phase)
            .map(|(_, figure)| match figure {
                Figure::Counter(n) => *n,
                _ => 0,
            })
            .fold(0, u64::saturating_add)
    }

    /// The merged distribution of the trends that [`Self::select`] finds.
    pub fn merged(&self, metric: &str, tags: &[(&str, &str)], phase: SeriesPhase) -> Histogram {
        let mut merged = Histogram::new();
        for (_, figure) in self.select(metric, tags, phase) {
            if let Figure::Trend(histogram) = figure {
                merged.merge(histogram);
            }
        }
        merged
    }

    fn name_series(
        &mut self,
        source: u32,
        id: SeriesId,
        kind: Kind,
        key: &SeriesKey,
    ) -> Result<(), String> {
        let number = id.0 as usize;
        // A recorder's bound, so that a foreign number cannot ask for memory.
        if number > MOST_SERIES + MOST_FOLDS + 4 {
            return Err(format!("source {source} names more series than it may"));
        }
        if self.figure_mut(key, kind).kind() != kind {
            return Err(format!("source {source} has another kind of series named {key}"));
        }
        let place = self.index.get(key).copied();
        let places = &mut self.sources.entry(source).or_default().places;
        if places.len() <= number {
            places.resize(number + 1, None);
        }
        places[number] = place;
        Ok(())
    }

    fn figure_mut(&mut self, key: &SeriesKey, kind: Kind) -> &mut Figure {
        let place = match self.index.get(key) {
            Some(&place) => place,
            None => {
                self.figures.push(Figure::empty(kind));
                self.index.insert(key.clone(), self.figures.len() - 1);
                self.figures.len() - 1
            }
        };
        &mut self.figures[place]
    }
}

fn is_of_poisoned(key: &SeriesKey) -> bool {
    key.tag(names::JOURNEY).is_some_and(|journey| names::poison_of(journey).is_some())
}

/// Two stores are equal when every series is; empty series do not count, nor where sources stand.
impl PartialEq for Store {
    fn eq(&self, other: &Self) -> bool {
        let filled = |(_, figure): &(&SeriesKey, &Figure)| !figure.is_empty();
        self.figures().filter(filled).eq(other.figures().filter(filled))
    }
}

#[cfg(test)]
mod tests;
