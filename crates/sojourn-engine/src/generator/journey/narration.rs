//! Requests and answers in words, for `--debug` and for kept journeys; credentials are replaced.

use sojourn_http::Completion;
use sojourn_ledger::Refusal;

use crate::generator::redirect::is_secret_header;

/// A request's text for the narrator, credentials replaced.
pub(super) fn redacted(message: &[u8]) -> String {
    String::from_utf8_lossy(message)
        .lines()
        .map(|line| match line.split_once(':') {
            Some((name, _)) if is_secret_header(name) => format!("  {name}: ***\n"),
            _ => format!("  {line}\n"),
        })
        .collect()
}

/// What came of a request.
pub(super) fn told(completion: &Completion) -> String {
    const BODY_SHOWN_MAX: usize = 500;
    let took_ms = (completion.ended_ns - completion.began_ns) as f64 / 1e6;
    match &completion.outcome {
        Ok(response) => {
            let shown = &response.body[..response.body.len().min(BODY_SHOWN_MAX)];
            let body = String::from_utf8_lossy(shown);
            format!("<- status {} after {took_ms:.2} ms\n  {body}", response.status)
        }
        Err(failure) => format!("<- {failure} after {took_ms:.2} ms"),
    }
}

/// Why a step failed, for whoever looks at the one journey; bounded, since some words are foreign.
pub(in crate::generator) fn refusal(status: Option<u16>, reason: &str) -> Box<Refusal> {
    const WORDS_MAX: usize = 200;
    let words = &reason[..reason.floor_char_boundary(WORDS_MAX)];
    Box::new(Refusal { status, words: words.into() })
}
