//! Scripts whose users are in several processes: the same test and the same figures as in one, and
//! nothing left behind.

mod ends;
mod figures;
mod load;
mod refusals;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use sojourn_testkit::{
    Output, Program, Reply, Request, Responder, Running, Server, TempDir, response, sojourn,
    temp_dir,
};

use crate::common::until;
use crate::generators::children;

/// Every path that was asked for, in order of arrival.
#[derive(Clone, Default)]
pub(crate) struct Book(Arc<Mutex<Vec<String>>>);

impl Responder for Book {
    fn respond(&mut self, request: &Request<'_>) -> Reply {
        self.0.lock().unwrap().push(request.path.to_owned());
        Reply::now(response(200, "text/plain", b"ok"))
    }
}

impl Book {
    pub(crate) fn paths(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn clear(&self) {
        self.0.lock().unwrap().clear();
    }

    pub(crate) fn count(&self, path: &str) -> usize {
        self.0.lock().unwrap().iter().filter(|asked| *asked == path).count()
    }
}

/// A script beside its target.
pub(crate) struct Desk {
    pub(crate) book: Book,
    _server: Server,
    pub(crate) folder: TempDir,
}

impl Desk {
    /// `BASE` in the script is the target's URL.
    pub(crate) fn new(script: &str) -> Self {
        let book = Book::default();
        let server = Server::start(book.clone()).unwrap();
        let folder = temp_dir().unwrap();
        let script = script.replace("BASE", &server.url(""));
        std::fs::write(folder.path().join("test.js"), script).unwrap();
        Self { book, _server: server, folder }
    }

    fn program(&self, flags: &[&str]) -> Program {
        let words = ["k6", "run", "test.js", "--quiet", "--summary-export", "summary.json"];
        let program = sojourn(words.iter().chain(flags)).in_dir(self.folder.path());
        program.timeout(Duration::from_secs(120))
    }

    fn run(&self, flags: &[&str]) -> Output {
        self.program(flags).run().unwrap()
    }

    /// A run that goes on, once the target has been asked some times.
    fn start(&self, flags: &[&str], processes: usize) -> (Running, Vec<u32>) {
        let running = self.program(flags).start().unwrap();
        until("the load has begun", || self.book.paths().len() > 30);
        let children = children(running.pid());
        assert_eq!(children.len(), processes);
        (running, children)
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    /// A figure of a metric in the summary of the last run; 0 where it has no samples.
    fn figure(&self, metric: &str, name: &str) -> f64 {
        let summary: Value = serde_json::from_str(&self.file("summary.json")).unwrap();
        summary["metrics"][metric][name].as_f64().unwrap_or(0.0)
    }

    fn count(&self, metric: &str) -> usize {
        self.figure(metric, "count") as usize
    }
}
