//! Writing a run file.

use std::{
    fs::File,
    io::{self, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use sojourn_metrics::{Snapshot, Store};

use crate::{
    AmendmentRecord, DuplicateRecord, Identity, IntervalRow, JourneyRecord, JourneyShape,
    KeptRecord, Summary,
    codec::{SeriesTable, pack, write_figures, write_row},
    format::{Header, MAGIC, RecordType},
};

/// Appends to a run file. Each call writes whole records; a crash loses at most the one under way.
///
/// Memory does not grow with the run: it holds the names of the series, one interval's figures and
/// one record. Errors name the file. After one (a full disk) the file ends with its last whole
/// record and the next call tries again.
#[derive(Debug)]
pub struct RunWriter {
    output: Output,
    start_monotonic_ns: u64,
    series: SeriesTable,
    /// The interval under way, merged over its sources; emptied for the next.
    window: Store,
    /// Where the last interval ended, since the start, nanoseconds.
    ended_ns: u64,
    content: Vec<u8>,
}

impl RunWriter {
    /// Creates the file (an existing one is replaced) and writes the identity.
    pub fn create(path: &Path, identity: &Identity) -> io::Result<Self> {
        let mut output = Output::create(path)?;
        output.stage_bytes(MAGIC);
        output.stage_json(RecordType::Identity, identity)?;
        output.write_staged()?;
        Ok(Self {
            output,
            start_monotonic_ns: identity.start_monotonic_ns,
            series: SeriesTable::default(),
            window: Store::new(),
            ended_ns: 0,
            content: Vec::new(),
        })
    }

    /// Appends one second: the snapshots of every source that fall into it, merged. It begins no
    /// earlier than the last one ended: what comes late is of the second in which it came, so that
    /// no time counts twice.
    pub fn interval(&mut self, snapshots: &[Snapshot]) -> io::Result<()> {
        let starts = snapshots.iter().map(|snapshot| snapshot.start_ns);
        let ends = snapshots.iter().map(|snapshot| snapshot.end_ns);
        let (Some(start), Some(end)) = (starts.min(), ends.max()) else {
            return Ok(());
        };
        self.window.reset();
        for snapshot in snapshots {
            // A lost snapshot voids the run through the coordinator's own store, which says the
            // same; here what did arrive is kept.
            drop(self.window.apply(snapshot));
        }
        let start_ns = start.saturating_sub(self.start_monotonic_ns).max(self.ended_ns);
        let end_ns = end.saturating_sub(self.start_monotonic_ns).max(start_ns);
        self.append(|writer| writer.stage_window(start_ns, end_ns))?;
        self.ended_ns = end_ns;
        Ok(())
    }

    /// Appends everything so far, so that readers need not add up the seconds (each minute, and at
    /// each phase's end). `store` must hold exactly the snapshots handed to [`Self::interval`]
    /// before: readers add only later intervals to it.
    pub fn checkpoint(&mut self, store: &Store) -> io::Result<()> {
        self.append(|writer| writer.stage_checkpoint(store))
    }

    /// Appends a kept journey.
    pub fn journey(&mut self, record: &JourneyRecord) -> io::Result<()> {
        self.append(|writer| writer.output.stage_json(RecordType::Journey, record))
    }

    /// Appends a duplicate for a journey appended before.
    pub fn duplicate(&mut self, record: &DuplicateRecord) -> io::Result<()> {
        self.append(|writer| writer.output.stage_json(RecordType::Duplicate, record))
    }

    /// Appends how many journeys were kept and were not.
    pub fn kept(&mut self, record: &KeptRecord) -> io::Result<()> {
        self.append(|writer| writer.output.stage_json(RecordType::Kept, record))
    }

    /// Appends the outline of a journey that the identity does not have: it came into being since.
    pub fn shape(&mut self, shape: &JourneyShape) -> io::Result<()> {
        self.append(|writer| writer.output.stage_json(RecordType::Shape, shape))
    }

    /// Appends a change of rate.
    pub fn amendment(&mut self, record: &AmendmentRecord) -> io::Result<()> {
        self.append(|writer| writer.output.stage_json(RecordType::Amendment, record))
    }

    /// Appends the summary and closes the file, synced to disk.
    pub fn finish(mut self, store: &Store, summary: &Summary) -> io::Result<()> {
        self.append(|writer| {
            writer.stage_checkpoint(store)?;
            writer.output.stage_json(RecordType::Summary, summary)
        })?;
        self.output.sync()
    }

    /// Writes the records that `stage` makes, all or none.
    fn append(&mut self, stage: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<()> {
        self.output.staged.clear();
        stage(self)?;
        self.output.write_staged()?;
        self.series.keep_named();
        Ok(())
    }

    fn stage_window(&mut self, start_ns: u64, end_ns: u64) -> io::Result<()> {
        self.series.add(&self.window);
        self.stage_new_names()?;
        let figures = self.series.numbered(&self.window);
        let rows: Vec<_> = figures
            .iter()
            .filter_map(|&(number, figure)| Some((number, IntervalRow::of(figure)?)))
            .collect();
        self.content.clear();
        write_row(start_ns, end_ns, &rows, &mut self.content);
        self.output.stage(RecordType::Row, &self.content)?;
        self.content.clear();
        write_figures(&figures, &mut self.content);
        self.output.stage_packed(RecordType::Delta, &self.content)
    }

    fn stage_checkpoint(&mut self, store: &Store) -> io::Result<()> {
        self.series.add(store);
        self.stage_new_names()?;
        self.content.clear();
        write_figures(&self.series.numbered(store), &mut self.content);
        self.output.stage_packed(RecordType::Checkpoint, &self.content)
    }

    fn stage_new_names(&mut self) -> io::Result<()> {
        match self.series.name_new() {
            Some(names) => self.output.stage(RecordType::Series, &names),
            None => Ok(()),
        }
    }
}

/// The file, and the records of the call under way.
#[derive(Debug)]
struct Output {
    path: PathBuf,
    file: File,
    /// Bytes that stand in the file for good.
    length: u64,
    staged: Vec<u8>,
    /// A failed write may have left half a record behind `length`.
    torn: bool,
}

impl Output {
    fn create(path: &Path) -> io::Result<Self> {
        let named = |source| name_error(path, &source);
        Ok(Self {
            path: path.to_owned(),
            file: File::create(path).map_err(named)?,
            length: 0,
            staged: Vec::new(),
            torn: false,
        })
    }

    fn stage_bytes(&mut self, bytes: &[u8]) {
        self.staged.extend(bytes);
    }

    fn stage(&mut self, kind: RecordType, payload: &[u8]) -> io::Result<()> {
        let Some(header) = Header::of(kind, payload) else {
            return Err(self.too_long(kind));
        };
        self.staged.extend(header.to_bytes());
        self.staged.extend(payload);
        Ok(())
    }

    fn stage_packed(&mut self, kind: RecordType, content: &[u8]) -> io::Result<()> {
        let mut payload = Vec::new();
        pack(content, &mut payload).ok_or_else(|| self.too_long(kind))?;
        self.stage(kind, &payload)
    }

    fn stage_json(&mut self, kind: RecordType, content: &impl serde::Serialize) -> io::Result<()> {
        let payload = serde_json::to_vec(content)
            .map_err(|error| name_error(&self.path, &io::Error::from(error)))?;
        self.stage(kind, &payload)
    }

    /// Writes what was staged, in one go.
    fn write_staged(&mut self) -> io::Result<()> {
        self.try_write().map_err(|source| name_error(&self.path, &source))
    }

    fn try_write(&mut self) -> io::Result<()> {
        if self.torn {
            self.file.set_len(self.length)?;
            self.file.seek(SeekFrom::Start(self.length))?;
        }
        self.torn = true;
        self.file.write_all(&self.staged)?;
        self.torn = false;
        self.length += self.staged.len() as u64;
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_all().map_err(|source| name_error(&self.path, &source))
    }

    fn too_long(&self, kind: RecordType) -> io::Error {
        let reason = format!("a record of type {kind:?} is longer than a run file may hold");
        name_error(&self.path, &io::Error::new(io::ErrorKind::InvalidData, reason))
    }
}

fn name_error(path: &Path, source: &io::Error) -> io::Error {
    let path = path.display();
    io::Error::new(source.kind(), format!("cannot write {path}: {source}"))
}

#[cfg(test)]
mod tests {
    use sojourn_metrics::{Kind, Recorder, SeriesKey, SeriesPhase};

    use super::*;
    use crate::RunFile;

    #[test]
    fn a_write_that_failed_half_way_leaves_no_trace() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.sojourn");
        let mut writer =
            RunWriter::create(&path, &Identity { run_id: "a".to_owned(), ..Identity::default() })
                .unwrap();
        let mut recorder = Recorder::new(0);
        let mut store = Store::new();
        for second in 0..3 {
            let key = SeriesKey::new(&format!("metric {second}"), &[], SeriesPhase::Any);
            let series = recorder.series(Kind::Trend, key);
            recorder.record(series, second);
            let snapshot = recorder.take(second + 1, None);
            if second == 1 {
                // What a full disk leaves behind: half a record, and names that were staged.
                writer.window.reset();
                writer.window.apply(&snapshot).unwrap();
                writer.stage_window(0, 1).unwrap();
                let half = writer.output.staged[..20].to_vec();
                writer.output.file.write_all(&half).unwrap();
                writer.output.torn = true;
                continue;
            }
            store.apply(&snapshot).unwrap_or_default();
            writer.interval(&[snapshot]).unwrap();
        }
        drop(writer);
        let run = RunFile::open(&path).unwrap();
        assert_eq!(run.cut_off, None);
        assert_eq!(run.intervals.len(), 2);
        assert_eq!(run.store, store);
    }

    /// A source that was cut off for three seconds tells of them when it is heard again.
    #[test]
    fn what_comes_late_makes_no_second_longer() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.sojourn");
        let identity = Identity { start_monotonic_ns: 1_000, ..Identity::default() };
        let mut writer = RunWriter::create(&path, &identity).unwrap();
        let mut sources = [Recorder::new(0), Recorder::new(1)];
        let key = SeriesKey::new("started", &[], SeriesPhase::Any);
        let series = sources.each_mut().map(|source| {
            source.start_at(1_000);
            source.series(Kind::Counter, key.clone())
        });
        let mut of = |source: usize, end_ns: u64| {
            sources[source].add(series[source], 1);
            sources[source].take(end_ns, None)
        };
        let seconds = [
            vec![of(0, 2_003), of(1, 2_000)],
            vec![of(0, 3_000)],
            vec![of(0, 4_000)],
            vec![of(0, 5_000), of(1, 3_000), of(1, 5_001)],
            // The last words of one, of a time that has been told of.
            vec![of(1, 5_001)],
        ];
        for second in &seconds {
            writer.interval(second).unwrap();
        }
        drop(writer);
        let run = RunFile::open(&path).unwrap();
        let spans: Vec<_> = run.intervals.iter().map(|it| (it.start_ns, it.end_ns)).collect();
        let whole = [(0, 1_003), (1_003, 2_000), (2_000, 3_000), (3_000, 4_001), (4_001, 4_001)];
        assert_eq!(spans, whole);
        assert_eq!(run.store.sum("started", &[], SeriesPhase::Any), 8);
    }

    #[test]
    fn a_journey_that_came_into_being_is_one_of_the_runs() {
        let dir = tempfile::tempdir().unwrap();
        let shape = |name: &str| JourneyShape { name: name.to_owned(), ..JourneyShape::default() };
        let open = |file: &str, later: &str| {
            let path = dir.path().join(file);
            let identity = Identity { journeys: vec![shape("first")], ..Identity::default() };
            let mut writer = RunWriter::create(&path, &identity).unwrap();
            writer.shape(&shape(later)).unwrap();
            drop(writer);
            RunFile::open(&path).unwrap()
        };
        let names = |run: &RunFile| -> Vec<String> {
            run.identity.journeys.iter().map(|journey| journey.name.clone()).collect()
        };
        let (a, b) = (open("a.sojourn", "second"), open("b.sojourn", "third"));
        assert_eq!(names(&a), ["first", "second"]);
        let merged = RunFile::merge(vec![a, b]);
        assert_eq!(
            merged.map(|run| names(&run)),
            Ok(["first", "second", "third"].map(String::from).to_vec())
        );
    }
}
