//! Where a mock's book comes from, and whether that has changed.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sojourn_plan::{Files, Overrides};

use crate::book::answer::Answer;
use crate::book::{Book, Route};
use crate::latency::{Latency, RunFiles};
use crate::message::{Body, Message};
use crate::queue::Queue;
use crate::read::{content_type_of, read_mock, read_openapi};
use crate::target::test_target;

/// Where a book comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A mock file.
    File {
        /// Which.
        path: PathBuf,
        /// Values for `${NAME}`, and the seed.
        overrides: Overrides,
    },
    /// An OpenAPI description: every operation answers its example.
    OpenApi {
        /// Which.
        path: PathBuf,
        /// How long each answer is held.
        latency: Latency,
        /// Of the latencies.
        seed: u64,
    },
    /// One answer to everything.
    Respond(Respond),
    /// The endpoints of the test target.
    TestTarget {
        /// Of tokens and cookies.
        seed: u64,
    },
}

/// One answer to everything.
#[derive(Clone, Debug)]
pub struct Respond {
    /// The body's file; without one a small JSON text, or what the queue decided.
    pub file: Option<PathBuf>,
    /// Status.
    pub status: u16,
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// How long each answer is held.
    pub latency: Latency,
    /// Serves requests in order instead.
    pub queue: Option<Queue>,
    /// Whether queries may change the answer.
    pub query_overrides: bool,
    /// Of everything random.
    pub seed: u64,
}

/// Names the source, each time it is read; run files of laws in it are found through `runs`.
type SourceMaker<'a> = Box<dyn Fn(&RunFiles) -> Result<Source, String> + 'a>;

/// A source that is read again when its files change.
pub struct Watched<'a> {
    make: SourceMaker<'a>,
    /// Files that the book was made from, as they were.
    seen: Vec<(PathBuf, Stamp)>,
    /// Found changed, but perhaps still being written.
    changing: Option<Vec<Stamp>>,
}

/// When a file was written and how long it is; `None` while it cannot be found.
pub(crate) type Stamp = Option<(SystemTime, u64)>;

impl std::fmt::Debug for Watched<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Watched").field("seen", &self.seen).finish_non_exhaustive()
    }
}

impl<'a> Watched<'a> {
    /// Nothing is read yet.
    pub fn new(source: Source) -> Self {
        Self::made(move |_| Ok(source.clone()))
    }

    /// A source that is itself made from laws, which may name run files: it is made anew at each
    /// reading. Errs in words.
    pub fn made(make: impl Fn(&RunFiles) -> Result<Source, String> + 'a) -> Self {
        Self { make: Box::new(make), seen: Vec::new(), changing: None }
    }

    /// Reads the book. Errs in words, as people read them: everything that is wrong.
    pub fn read(&mut self) -> Result<Book, String> {
        self.changing = None;
        let runs = RunFiles::default();
        let source = (self.make)(&runs);
        self.seen = runs.into_asked();
        let source = source?;
        let folder = match &source {
            Source::File { path, .. } => path.parent().unwrap_or_else(|| Path::new("")),
            _ => Path::new(""),
        };
        let files = Folder {
            folder: folder.to_path_buf(),
            runs: RunFiles::in_folder(folder),
            seen: RefCell::default(),
        };
        let book = files.book(&source);
        self.seen.extend(files.seen.into_inner());
        self.seen.extend(files.runs.into_asked());
        book
    }

    /// Whether a file has changed and then stayed the same from one call to the next: whoever
    /// writes it may need a moment.
    pub fn has_changed(&mut self) -> bool {
        let now: Vec<Stamp> = self.seen.iter().map(|(path, _)| stamp(path)).collect();
        if now.iter().zip(&self.seen).all(|(now, (_, seen))| now == seen) {
            self.changing = None;
            return false;
        }
        let is_settled = self.changing.as_ref() == Some(&now);
        self.changing = Some(now);
        is_settled
    }
}

/// Files relative to the mock file's folder; remembers which were read.
struct Folder {
    folder: PathBuf,
    runs: RunFiles,
    seen: RefCell<Vec<(PathBuf, Stamp)>>,
}

impl Folder {
    fn book(&self, source: &Source) -> Result<Book, String> {
        let text = |path: &Path| {
            self.seen.borrow_mut().push((path.to_path_buf(), stamp(path)));
            std::fs::read_to_string(path)
                .map_err(|error| format!("cannot read {}: {error}", path.display()))
        };
        match source {
            Source::File { path, overrides } => {
                let name = path.display().to_string();
                read_mock(&name, &text(path)?, self, &self.runs, overrides)
                    .map_err(|errors| errors.to_string())
            }
            Source::OpenApi { path, latency, seed } => {
                let name = path.display().to_string();
                let book = read_openapi(&name, &text(path)?, *seed);
                let mut book = book.map_err(|error| error.to_string())?;
                for route in &mut book.routes {
                    route.latency = latency.clone();
                }
                Ok(book)
            }
            Source::Respond(respond) => self.one_answer(respond),
            Source::TestTarget { seed } => Ok(test_target(*seed)),
        }
    }

    fn one_answer(&self, respond: &Respond) -> Result<Book, String> {
        let (content_type, body) = match &respond.file {
            Some(path) => {
                let read = self.read_bytes(path);
                let bytes =
                    read.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
                (content_type_of(path), bytes)
            }
            None => ("application/json", b"{\"status\":\"ok\"}\n".to_vec()),
        };
        let is_typed =
            respond.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let typed = (!is_typed).then_some(("content-type", content_type.as_bytes()));
        let given = respond.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        let message =
            Message::new(respond.status, typed.into_iter().chain(given), Body::Bytes(body.into()));
        let answer = match (&respond.queue, &respond.file) {
            (Some(_), None) => Answer::ticket(),
            _ => Answer::ready(message),
        };
        let route = Route { latency: respond.latency.clone(), ..Route::catch_all(answer) };
        let mut book = Book::new(respond.seed, vec![route]);
        book.queue.clone_from(&respond.queue);
        book.query_overrides = respond.query_overrides;
        Ok(book)
    }
}

impl Files for Folder {
    fn read(&self, path: &Path) -> io::Result<String> {
        let bytes = self.read_bytes(path)?;
        String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    fn read_bytes(&self, path: &Path) -> io::Result<Vec<u8>> {
        let path = self.folder.join(path);
        self.seen.borrow_mut().push((path.clone(), stamp(&path)));
        std::fs::read(path)
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

pub(crate) fn stamp(path: &Path) -> Stamp {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
