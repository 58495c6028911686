//! What can go wrong with a dashboard.

use axum::{
    http::StatusCode,
    response::{Html, IntoResponse, Response},
};

/// What can go wrong with a dashboard; nothing of it touches the run.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// It cannot listen.
    #[error("the dashboard cannot listen at {0}: {1}")]
    Listen(String, #[source] std::io::Error),
    /// Its thread cannot be made.
    #[error("the dashboard's thread cannot be made: {0}")]
    Thread(#[source] std::io::Error),
    /// The folder of runs cannot be read.
    #[error("cannot read the folder {0}: {1}")]
    Folder(String, #[source] std::io::Error),
    /// No run of this name.
    #[error("no run file {0} in the folder")]
    NoSuchRun(String),
    /// Nothing is going on.
    #[error("no run is going on: choose one of the list")]
    NoRun,
    /// A run file cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// Two runs cannot be compared.
    #[error("{0}")]
    Incomparable(String),
    /// A page could not be made.
    #[error("the page could not be made: {0}")]
    Unrendered(String),
}

impl IntoResponse for WebError {
    fn into_response(self) -> Response {
        let status = match self {
            Self::NoSuchRun(_) | Self::NoRun => StatusCode::NOT_FOUND,
            Self::Incomparable(_) => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        (status, Html(page(&self.to_string()))).into_response()
    }
}

/// A page that says what went wrong; nothing in the words is taken for markup.
fn page(words: &str) -> String {
    let words = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>Sojourn</title></head>\n<body><main><h1>That cannot \
         be shown</h1><p>{words}</p></main></body></html>\n"
    )
}
