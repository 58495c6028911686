//! The traffic of many clients at once, told client by client.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use super::show::{body, head};
use super::{Shown, Trace, Traced};
use crate::log::{client_name, one_line};
use crate::program::Program;

/// Most bytes of one client's text.
const CLIENT_BYTES_MAX: usize = 4 << 20;
/// Most bytes of all clients that are under way.
const ALL_BYTES_MAX: usize = 256 << 20;

/// Gathers what clients did, and gives each client's text when it has ended. Header fields whose
/// names sound secret are shown as `***` unless they are asked for. What is beyond the bounds of
/// memory is left out, with a word.
#[derive(Debug)]
pub struct Dump {
    program: Arc<Program>,
    shows_secrets: bool,
    open: BTreeMap<(usize, u64), Block>,
    bytes: usize,
}

/// What is known of one client.
#[derive(Debug, Default)]
struct Block {
    text: String,
    /// The number that comes next.
    next: u32,
    requests: u32,
    /// How many things found no room.
    left_out: u64,
}

impl Dump {
    /// Nothing seen yet of clients of this program.
    pub fn new(program: Arc<Program>, shows_secrets: bool) -> Self {
        Self { program, shows_secrets, open: BTreeMap::new(), bytes: 0 }
    }

    /// Takes what a client did; its whole text when that was its end.
    pub fn take(&mut self, traced: &Traced) -> Option<String> {
        let name = self.program.sessions().nth(traced.session).unwrap_or("?").to_owned();
        let key = (traced.session, traced.client);
        let is_full = self.bytes >= ALL_BYTES_MAX;
        let block = self.open.entry(key).or_default();
        let before = block.text.len();
        if before == 0 {
            let client = client_name(traced.client);
            // Writing to a string never fails; the same below.
            writeln!(block.text, "── session {}, client {client}", one_line(&name)).ok();
        }
        if traced.number != block.next {
            let lost = traced.number.wrapping_sub(block.next);
            writeln!(block.text, "           … {lost} things are missing here").ok();
        }
        block.next = traced.number.wrapping_add(1);
        if is_full || block.text.len() >= CLIENT_BYTES_MAX {
            block.left_out += 1;
        } else {
            block.add(traced, &self.program, self.shows_secrets);
        }
        self.bytes += block.text.len() - before;
        if let Trace::Ended(ended) = &traced.what {
            let block = self.open.remove(&key)?;
            self.bytes -= block.text.len();
            let at = seconds(traced.at_ns);
            let why = ended.why(&self.program);
            return Some(block.closed(&format!(
                "{at}  ended: {}\n",
                why.unwrap_or_else(|| "completed".to_owned())
            )));
        }
        None
    }

    /// The texts of clients whose end was not seen.
    pub fn finish(&mut self) -> String {
        self.bytes = 0;
        let open = std::mem::take(&mut self.open);
        open.into_values().map(|block| block.closed("           its end was not seen\n")).collect()
    }
}

impl Block {
    fn add(&mut self, traced: &Traced, program: &Program, shows_secrets: bool) {
        let at = seconds(traced.at_ns);
        let out = &mut self.text;
        match &traced.what {
            Trace::Sent { origin, message } => {
                self.requests += 1;
                writeln!(out, "{at}  request {} to {origin}", self.requests).ok();
                let (top, rest) = split(message);
                head(out, ">", &top, shows_secrets);
                if !rest.bytes.is_empty() {
                    writeln!(out, ">").ok();
                    body(out, ">", &rest);
                }
            }
            Trace::Answered { head: top, body: rest, after_ns } => {
                let after_ms = *after_ns as f64 / 1e6;
                let is_coded = String::from_utf8_lossy(&top.bytes)
                    .lines()
                    .any(|line| line.to_ascii_lowercase().starts_with("content-encoding:"));
                let coded = if is_coded { ", decompressed" } else { "" };
                writeln!(
                    out,
                    "{at}  answer {} after {after_ms:.3} ms, {} bytes{coded}",
                    self.requests, rest.total
                )
                .ok();
                head(out, "<", top, shows_secrets);
                if !rest.bytes.is_empty() {
                    writeln!(out, "<").ok();
                    body(out, "<", rest);
                }
            }
            Trace::Unanswered { why, after_ns } => {
                let after_ms = *after_ns as f64 / 1e6;
                let number = self.requests;
                writeln!(out, "{at}  no answer {number} after {after_ms:.3} ms: {}", one_line(why))
                    .ok();
            }
            Trace::Refused { url, why } => {
                writeln!(out, "{at}  not sent: {}: {}", one_line(url), one_line(why)).ok();
            }
            Trace::Checked { check, is_ok } => {
                let name = program.checks().get(*check).map_or("?", String::as_str);
                let mark = if *is_ok { "✓" } else { "✗" };
                writeln!(out, "{at}  {mark} check {}", one_line(name)).ok();
            }
            Trace::Waits { ns } => {
                writeln!(out, "{at}  waits {} s", *ns as f64 / 1e9).ok();
            }
            Trace::Logged(text) => {
                writeln!(out, "{at}  log: {}", one_line(text)).ok();
            }
            Trace::Ended(_) => {}
        }
    }

    fn closed(mut self, end: &str) -> String {
        if self.left_out > 0 {
            let count = self.left_out;
            writeln!(self.text, "           … cut: {count} further things are not shown").ok();
        }
        self.text.push_str(end);
        self.text.push('\n');
        self.text
    }
}

fn seconds(ns: u64) -> String {
    format!("{:>9.3}", ns as f64 / 1e9)
}

/// A message's head and its body.
fn split(message: &Shown) -> (Shown, Shown) {
    const END: &[u8] = b"\r\n\r\n";
    let bytes = &message.bytes;
    match bytes.windows(END.len()).position(|window| window == END) {
        None => (message.clone(), Shown::default()),
        Some(at) => {
            let behind = at + END.len();
            let rest = message.total - behind as u64;
            (Shown::of(&bytes[..at]), Shown::of_more(&bytes[behind..], rest))
        }
    }
}
