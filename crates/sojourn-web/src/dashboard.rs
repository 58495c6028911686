//! A dashboard's life: a thread with a server, from start to end.

use std::{
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    sync::{Arc, Mutex},
    thread::JoinHandle,
    time::Duration,
};

use serde::Serialize;
use sojourn_live::frame::Frame;
use tokio::sync::{broadcast, oneshot};

use crate::{
    WebError,
    doors::Doors,
    guard::Guard,
    history::History,
    lines::points,
    runs::Runs,
    server::{Shown, locked, router},
};

/// Frames that one who looks may be behind before some are left out for them.
const FRAMES_BEHIND_MAX: usize = 16;
/// How long the last frames may take to whoever looks.
const GOODBYE: Duration = Duration::from_millis(500);

/// What a dashboard shows.
#[derive(Clone, Debug)]
pub struct WebSettings {
    /// Where it listens, such as `127.0.0.1:8089`; port 0 is any free one.
    pub address: String,
    /// Whether a run goes on that it is told of.
    pub is_live: bool,
    /// The run file of the run that goes on, if any does.
    pub run_file: Option<PathBuf>,
    /// The folder whose runs are listed.
    pub folder: PathBuf,
}

/// What is sent each second.
#[derive(Debug, Serialize)]
struct Message<'a> {
    frame: &'a Frame,
    /// The instant of `values`, seconds from the run's start.
    at_s: f64,
    /// A value for each line of the history, in its order.
    values: Vec<Option<f64>>,
}

/// A dashboard. Dropping it ends its server.
#[derive(Debug)]
pub struct Dashboard {
    shown: Arc<Shown>,
    address: SocketAddr,
    guard: Guard,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Dashboard {
    /// Starts its server. Errs when it cannot listen.
    pub fn start(settings: WebSettings) -> Result<Self, WebError> {
        let WebSettings { address, is_live, run_file, folder } = settings;
        let listen = |error| WebError::Listen(address.clone(), error);
        let listener = TcpListener::bind(&address).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let shown = Arc::new(Shown {
            history: Mutex::new(History::default()),
            latest: Mutex::default(),
            runs: Runs::new(folder, run_file),
            report: Mutex::default(),
            frames: Mutex::new(is_live.then(|| broadcast::Sender::new(FRAMES_BEHIND_MAX))),
        });
        let guard = Guard::of(address);
        let app = router(Arc::clone(&shown), guard.clone());
        let (end, ended) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(1)
            .build()
            .map_err(WebError::Thread)?;
        let body = move || {
            runtime.block_on(serve(listener, app, ended));
            // Whatever page is being made: nobody waits for it.
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new().name("dashboard".to_owned()).spawn(body);
        let thread = Some(thread.map_err(WebError::Thread)?);
        Ok(Self { shown, address, guard, end: Some(end), thread })
    }

    /// The link to it, with its token where it has one. Where it listens at every address, by this
    /// machine's name.
    pub fn link(&self) -> String {
        let at = match self.address.ip().is_unspecified() {
            true => format!("{}:{}", host_name(), self.address.port()),
            false => self.address.to_string(),
        };
        format!("http://{at}/{}", self.guard.query())
    }

    /// Shows a second of the run.
    pub fn show(&self, frame: &Frame) {
        let at_s = frame.elapsed_ns as f64 / 1e9;
        let points = points(frame);
        let values = match points.is_empty() {
            true => Vec::new(),
            false => locked(&self.shown.history).push(at_s, &points),
        };
        // What cannot be written as JSON cannot be shown; frames have nothing of the kind.
        let Ok(json) = serde_json::to_string(&Message { frame, at_s, values }) else { return };
        let json: Arc<str> = json.into();
        *locked(&self.shown.latest) = Some(Arc::clone(&json));
        if let Some(frames) = &*locked(&self.shown.frames) {
            // Nobody needs to look.
            let _unseen = frames.send(json);
        }
    }

    /// Begins with another run, which leaves this file: what is shown of the last one ends.
    pub fn begin(&self, run_file: Option<PathBuf>) {
        self.shown.runs.go_on_with(run_file);
        *locked(&self.shown.latest) = None;
        *locked(&self.shown.history) = History::default();
    }

    /// Serves until the process ends.
    pub fn wait(mut self) {
        if let Some(thread) = self.thread.take() {
            // It ends with the process.
            let _ignored = thread.join();
        }
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        // Streams end when nothing more can come.
        *locked(&self.shown.frames) = None;
        if let Some(end) = self.end.take() {
            let _ignored = end.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ignored = thread.join();
        }
    }
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

async fn serve(listener: TcpListener, app: axum::Router, ended: oneshot::Receiver<()>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let (over, is_over) = oneshot::channel::<()>();
    let graceful = async {
        // Either way it is over.
        let _ignored = is_over.await;
    };
    let server = axum::serve(Doors::new(listener), app).with_graceful_shutdown(graceful);
    let until = async {
        let _ignored = ended.await;
        let _ignored = over.send(());
        tokio::time::sleep(GOODBYE).await;
    };
    tokio::select! {
        _served = server => {}
        () = until => {}
    }
}
