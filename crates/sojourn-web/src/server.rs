//! What is served where.

use std::{
    convert::Infallible,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::{HeaderName, StatusCode, header},
    middleware,
    response::{
        Html, IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
    routing::get,
};
use futures_util::stream;
use serde::Deserialize;
use sojourn_clock::now_ns;
use tokio::sync::broadcast::{Receiver, Sender, error::RecvError};

use crate::{
    WebError,
    guard::{Guard, guard},
    history::History,
    runs::{self, RunList, Runs},
};

/// What the dashboard's own page may do: nothing from elsewhere.
const OWN_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
                          img-src 'self' data:; connect-src 'self'; frame-src 'self'; \
                          base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// What a report may do, which has everything inlined.
const REPORT_POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src \
                             'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; \
                             frame-ancestors 'self'";
/// A report so far is made again only after this many times what it took: the machine makes load.
const REPORT_REST: u64 = 20;

/// What the server shows.
#[derive(Debug)]
pub(crate) struct Shown {
    /// Lines so far.
    pub(crate) history: Mutex<History>,
    /// The latest frame, as it is sent.
    pub(crate) latest: Mutex<Option<Arc<str>>>,
    /// Runs, the one that goes on among them.
    pub(crate) runs: Runs,
    /// The report so far.
    pub(crate) report: Mutex<Option<MadeReport>>,
    /// Whoever looks.
    pub(crate) frames: Mutex<Option<Sender<Arc<str>>>>,
}

/// A report so far, and until when it is good enough.
#[derive(Clone, Debug)]
pub(crate) struct MadeReport {
    /// The run file that it is of.
    file: PathBuf,
    html: Arc<str>,
    until_ns: u64,
}

/// All addresses.
pub(crate) fn router(shown: Arc<Shown>, who: Guard) -> Router {
    let own = Router::new()
        .route("/", get(|| async { Html(include_str!("../assets/dashboard.html")) }))
        .route("/dashboard.js", get(|| script(include_str!("../assets/dashboard.js"))))
        .route("/graph.js", get(|| script(include_str!("../assets/graph.js"))))
        .route("/charts.js", get(|| script(include_str!("../assets/charts.js"))))
        .route("/runs.js", get(|| script(include_str!("../assets/runs.js"))))
        .route("/words.js", get(|| script(sojourn_report::render::WORDS_SCRIPT)))
        .route("/uplot.js", get(|| script(include_str!("../assets/uplot.js"))))
        .route("/uplot.css", get(|| style(include_str!("../assets/uplot.css"))))
        .route("/report.css", get(|| style(sojourn_report::render::STYLE)))
        .route("/dashboard.css", get(|| style(include_str!("../assets/dashboard.css"))))
        .route("/history", get(history))
        .route("/live", get(live))
        .route("/runs", get(list))
        .layer(middleware::map_response(|response| headed(OWN_POLICY, response)));
    let reports = Router::new()
        .route("/report", get(report))
        .route("/runs/{file}", get(run_report))
        .route("/compare", get(compare))
        .layer(middleware::map_response(|response| headed(REPORT_POLICY, response)));
    own.merge(reports).layer(middleware::from_fn_with_state(who, guard)).with_state(shown)
}

async fn headed(policy: &'static str, response: Response) -> impl IntoResponse {
    let headers: [(HeaderName, &str); 4] = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, response)
}

async fn script(text: &'static str) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], text)
}

async fn style(text: &'static str) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], text)
}

async fn history(State(shown): State<Arc<Shown>>) -> Result<impl IntoResponse, WebError> {
    // The run does not wait while it is written as JSON.
    let history = locked(&shown.history).clone();
    let json = aside(move || {
        serde_json::to_string(&history).map_err(|error| WebError::Unrendered(error.to_string()))
    });
    Ok(([(header::CONTENT_TYPE, "application/json")], json.await?))
}

/// Frames from now on, the latest one at once. Whoever is too slow for them misses some.
async fn live(State(shown): State<Arc<Shown>>) -> Response {
    let Some(receiver) = locked(&shown.frames).as_ref().map(Sender::subscribe) else {
        // Which tells browsers not to ask again.
        return StatusCode::NO_CONTENT.into_response();
    };
    let first = locked(&shown.latest).clone();
    let frames = stream::unfold((first, receiver), next);
    Sse::new(frames).keep_alive(KeepAlive::default()).into_response()
}

type Awaited = (Option<Arc<str>>, Receiver<Arc<str>>);

async fn next((first, mut receiver): Awaited) -> Option<(Result<Event, Infallible>, Awaited)> {
    let frame = match first {
        Some(frame) => frame,
        None => loop {
            match receiver.recv().await {
                Ok(frame) => break frame,
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        },
    };
    Some((Ok(Event::default().data(&*frame)), (None, receiver)))
}

async fn list(State(shown): State<Arc<Shown>>) -> Result<Json<RunList>, WebError> {
    aside(move || shown.runs.list()).await.map(Json)
}

async fn run_report(
    State(shown): State<Arc<Shown>>,
    Path(file): Path<String>,
) -> Result<Html<String>, WebError> {
    aside(move || shown.runs.report(&file)).await.map(Html)
}

/// Which two runs.
#[derive(Debug, Deserialize)]
struct Pair {
    before: String,
    after: String,
}

async fn compare(
    State(shown): State<Arc<Shown>>,
    Query(Pair { before, after }): Query<Pair>,
) -> Result<Html<String>, WebError> {
    aside(move || shown.runs.compare(&before, &after)).await.map(Html)
}

/// The report of the run that goes on, so far.
async fn report(State(shown): State<Arc<Shown>>) -> Result<Html<String>, WebError> {
    aside(move || shown.report_so_far()).await.map(|html| Html(html.to_string()))
}

impl Shown {
    fn report_so_far(&self) -> Result<Arc<str>, WebError> {
        let file = self.runs.going().ok_or(WebError::NoRun)?;
        let begun_ns = now_ns();
        if let Some(made) = locked(&self.report).clone()
            && made.file == file
            && begun_ns < made.until_ns
        {
            return Ok(made.html);
        }
        let html: Arc<str> = runs::report(&file)?.into();
        let now = now_ns();
        let until_ns = now + (now - begun_ns) * REPORT_REST;
        *locked(&self.report) = Some(MadeReport { file, html: Arc::clone(&html), until_ns });
        Ok(html)
    }
}

/// Does what takes a while on the thread for that, one thing at a time.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WebError> + Send + 'static,
) -> Result<T, WebError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(WebError::Unrendered(error.to_string())))
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
