//! The runs of a folder: what each came to, and its report.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use serde::Serialize;
use sojourn_record::RunFile;
use sojourn_report::{ReportModel, RunLine, compare::Comparison, render};

use crate::WebError;

/// Most runs listed, the latest first.
const RUNS_MAX: usize = 200;
/// Changes up to this are not called a difference, as with `sojourn compare`.
const TOLERANCE: f64 = 0.05;
/// How run files' names end.
const ENDING: &str = ".sojourn";

/// The runs of a folder.
#[derive(Debug)]
pub(crate) struct Runs {
    folder: PathBuf,
    /// The run that goes on: it is not listed, since reading it costs and its figures change.
    going: Mutex<Option<PathBuf>>,
    /// Lines that were read before, by file name, with the file's state at that time.
    known: Mutex<HashMap<String, (State, ListedRun)>>,
}

/// A file's length and when it was written to.
type State = (u64, Option<SystemTime>);

/// A run in the list.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ListedRun {
    /// The file's name within the folder.
    file: String,
    /// The plan's name.
    name: String,
    /// When it began, in words.
    start: String,
    /// Seconds since the epoch, to sort by.
    start_unix_s: f64,
    #[serde(flatten)]
    line: RunLine,
}

/// The list.
#[derive(Debug, Serialize)]
pub(crate) struct RunList {
    /// The folder, as it was given.
    folder: String,
    /// The latest first.
    runs: Vec<ListedRun>,
    /// Older runs that are not listed.
    runs_beyond: usize,
    /// Files that could not be read, and why.
    unreadable: Vec<String>,
}

impl Runs {
    pub(crate) fn new(folder: PathBuf, going: Option<PathBuf>) -> Self {
        Self { folder, going: Mutex::new(going), known: Mutex::default() }
    }

    /// The file of the run that goes on.
    pub(crate) fn going(&self) -> Option<PathBuf> {
        self.going.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Another run goes on, which leaves this file.
    pub(crate) fn go_on_with(&self, run_file: Option<PathBuf>) {
        *self.going.lock().unwrap_or_else(PoisonError::into_inner) = run_file;
    }

    /// Lists them; a file that has not changed is not read again.
    pub(crate) fn list(&self) -> Result<RunList, WebError> {
        let mut files = self.files()?;
        files.sort_by_key(|(_, (_, written))| std::cmp::Reverse(*written));
        let runs_beyond = files.len().saturating_sub(RUNS_MAX);
        files.truncate(RUNS_MAX);
        let (mut runs, mut unreadable) = (Vec::new(), Vec::new());
        for (file, state) in &files {
            let known = self.known().get(file).filter(|(then, _)| then == state).cloned();
            let listed = match known {
                Some((_, listed)) => Ok(listed),
                None => self.read(file),
            };
            match listed {
                Ok(listed) => {
                    self.known().insert(file.clone(), (*state, listed.clone()));
                    runs.push(listed);
                }
                Err(error) => unreadable.push(error.to_string()),
            }
        }
        self.known().retain(|file, _| files.iter().any(|(name, _)| name == file));
        runs.sort_by(|a, b| b.start_unix_s.total_cmp(&a.start_unix_s));
        let folder = self.folder.display().to_string();
        Ok(RunList { folder, runs, runs_beyond, unreadable })
    }

    /// A run's report, as a page.
    pub(crate) fn report(&self, file: &str) -> Result<String, WebError> {
        report(&self.path(file)?)
    }

    /// Two runs side by side, as a page.
    pub(crate) fn compare(&self, before: &str, after: &str) -> Result<String, WebError> {
        let open = |file| self.path(file).and_then(|path| open(&path));
        let (before, after) = (open(before)?, open(after)?);
        let comparison = Comparison::of(&before, &after, TOLERANCE)
            .map_err(|error| WebError::Incomparable(error.to_string()))?;
        comparison.html().map_err(|error| WebError::Unrendered(error.to_string()))
    }

    fn read(&self, file: &str) -> Result<ListedRun, WebError> {
        let run = open(&self.folder.join(file))?;
        let model = ReportModel::from_run(&run);
        Ok(ListedRun {
            file: file.to_owned(),
            name: model.identity.name.clone(),
            start: model.identity.start.clone(),
            start_unix_s: model.identity.start_unix_ns as f64 / 1e9,
            line: RunLine::new(&run, &model, None),
        })
    }

    /// Where a run of the list is. Nothing but a plain name of a run file in the folder is taken.
    fn path(&self, file: &str) -> Result<PathBuf, WebError> {
        let is_plain = Path::new(file).file_name().is_some_and(|name| name == file);
        let path = self.folder.join(file);
        if is_plain && file.ends_with(ENDING) && path.is_file() {
            Ok(path)
        } else {
            Err(WebError::NoSuchRun(file.to_owned()))
        }
    }

    fn files(&self) -> Result<Vec<(String, State)>, WebError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            // Before the first run there is no folder.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => {
                return Err(WebError::Folder(self.folder.display().to_string(), error));
            }
        };
        let going = self.going();
        let files = entries.flatten().filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let about = entry.metadata().ok()?;
            let is_going = going.as_ref().is_some_and(|going| *going == entry.path());
            let is_run = about.is_file() && name.ends_with(ENDING) && !is_going;
            is_run.then(|| (name, (about.len(), about.modified().ok())))
        });
        Ok(files.collect())
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, (State, ListedRun)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The report of a run file, finished or not, as a page.
pub(crate) fn report(path: &Path) -> Result<String, WebError> {
    let model = ReportModel::from_run(&open(path)?);
    render::html(&model).map_err(|error| WebError::Unrendered(error.to_string()))
}

fn open(path: &Path) -> Result<RunFile, WebError> {
    RunFile::open(path).map_err(|error| WebError::Unreadable(error.to_string()))
}
