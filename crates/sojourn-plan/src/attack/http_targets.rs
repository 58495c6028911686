//! Targets as HTTP request heads:
//!
//! ```text
//! # @name create
//! POST http://127.0.0.1:8080/payments
//! Content-Type: application/json
//! @payment.json
//!
//! GET http://127.0.0.1:8080/health
//! ```
//!
//! A blank line, the end, or a body ends a target; a further method line ends one that has no
//! headers. Where the original format would take a method line for a header, and so lose a target,
//! this is an error.

use std::io::BufRead;

use super::{
    reader::TargetReader,
    target::{Target, TargetError, Wrong, header_of},
};

/// The next target; `None` at the end.
pub(super) fn next<R: BufRead>(
    reader: &mut TargetReader<'_, R>,
) -> Result<Option<Target>, TargetError> {
    let mut name = None;
    let first = loop {
        match reader.lines.take()? {
            None => return Ok(None),
            Some(line) if line.is_empty() => {}
            Some(line) if line.starts_with('#') => name = name_in(&line).or(name),
            Some(line) => break line,
        }
    };
    let mut target = request_line(&first, reader).map_err(|wrong| reader.lines.wrong(wrong))?;
    target.name = name;
    if let Some(line) = reader.lines.take()? {
        let is_complete = line.is_empty() || is_method_line(&line);
        if !line.is_empty() {
            reader.lines.put_back(line);
        }
        if is_complete {
            return Ok(Some(target));
        }
    }
    rest(reader, &mut target)?;
    Ok(Some(target))
}

/// Headers and body, up to a blank line, a body or the end.
fn rest<R: BufRead>(
    reader: &mut TargetReader<'_, R>,
    target: &mut Target,
) -> Result<(), TargetError> {
    while let Some(line) = reader.lines.take()? {
        if line.is_empty() {
            break;
        }
        if line.starts_with('#') {
            continue;
        }
        if let Some(path) = line.strip_prefix('@') {
            target.body = reader.body(path).map_err(|wrong| reader.lines.wrong(wrong))?;
            break;
        }
        let header = header_of(&line).filter(|(key, _)| !key.contains(char::is_whitespace));
        target.headers.push(header.ok_or_else(|| reader.lines.wrong(bad_header(&line)))?);
    }
    Ok(())
}

fn request_line<R: BufRead>(line: &str, reader: &TargetReader<'_, R>) -> Result<Target, Wrong> {
    let (method, url) =
        line.split_once(' ').ok_or_else(|| (format!("bad target: {line}"), form()))?;
    if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Err((format!("bad method: {method}"), form()));
    }
    Target::new(method, url.trim(), &reader.defaults)
}

fn form() -> Option<String> {
    Some("a target begins with METHOD URL, such as `GET http://127.0.0.1:8080/`".to_owned())
}

fn bad_header(line: &str) -> Wrong {
    let hint = if is_method_line(line) {
        "a further target needs a blank line before it"
    } else {
        "write `Key: Value`"
    };
    (format!("bad header: {line}"), Some(hint.to_owned()))
}

/// Whether a line begins like a target's first.
fn is_method_line(line: &str) -> bool {
    let letters = line.bytes().take_while(u8::is_ascii_uppercase).count();
    letters > 0 && line[letters..].starts_with(char::is_whitespace)
}

/// `# @name NAME`.
fn name_in(comment: &str) -> Option<String> {
    let name = comment.trim_start_matches('#').trim_start().strip_prefix("@name ")?.trim();
    (!name.is_empty()).then(|| name.to_owned())
}
