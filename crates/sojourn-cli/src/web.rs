//! A run's dashboard in a browser: `--web`.

use std::{path::Path, sync::Arc};

use sojourn_live::frame::Frame;
use sojourn_web::{Dashboard, WebError, WebSettings};

use crate::{errors::UsageError, framed::FrameSink};

/// Where a dashboard listens unless it is told otherwise: on this machine alone.
pub(crate) const ADDRESS: &str = "127.0.0.1:8089";
/// Where runs lie unless they are told otherwise.
pub(crate) const FOLDER: &str = "reports";

/// A dashboard of the run that leaves this file; its list has the runs of the file's folder. The
/// usual address may be another run's: then any free port is taken. Says where it is: a screen
/// that has the terminal meanwhile will be gone.
pub(crate) fn open(address: &str, run_file: Option<&Path>) -> Result<WebSink, UsageError> {
    open_at(address, address == ADDRESS, run_file)
}

/// The same where `is_usual` says whether nobody has asked for this very address.
pub(crate) fn open_at(
    address: &str,
    is_usual: bool,
    run_file: Option<&Path>,
) -> Result<WebSink, UsageError> {
    let folder = match run_file.map(|file| file.parent().unwrap_or(file)) {
        None => Path::new(FOLDER),
        Some(here) if here.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
    };
    let settings = |address: &str| WebSettings {
        address: address.to_owned(),
        is_live: true,
        run_file: run_file.map(Path::to_owned),
        folder: folder.to_owned(),
    };
    let started = match Dashboard::start(settings(address)) {
        Err(WebError::Listen(..)) if is_usual => Dashboard::start(settings("127.0.0.1:0")),
        started => started,
    };
    let web = started.map(|dashboard| WebSink(Arc::new(dashboard))).map_err(refused)?;
    eprintln!("dashboard {}", web.link());
    Ok(web)
}

/// What to do about a dashboard that cannot be had.
pub(crate) fn refused(error: WebError) -> UsageError {
    UsageError::new(error.to_string(), "name another address, such as 127.0.0.1:0 for a free port")
}

/// Shows frames to browsers. Clones show the same dashboard, which ends with the last of them.
#[derive(Clone, Debug)]
pub(crate) struct WebSink(Arc<Dashboard>);

impl WebSink {
    /// The link to it.
    pub(crate) fn link(&self) -> String {
        self.0.link()
    }

    /// Begins with another run, which leaves this file.
    pub(crate) fn begin(&self, run_file: &Path) {
        self.0.begin(Some(run_file.to_owned()));
    }
}

impl FrameSink for WebSink {
    fn show(&mut self, frame: &Arc<Frame>) {
        self.0.show(frame);
    }

    fn end(&mut self) -> Vec<String> {
        Vec::new()
    }
}
