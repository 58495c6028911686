//! Where calls begin.
//!
//! The engine tells a call's place as that of the last thing that was evaluated for it: perhaps a
//! call among its arguments, lines further down. So the call that was meant is looked up in the
//! source: the innermost one of its name around that place.

use std::collections::HashMap;

use oxc_allocator::Allocator;
use oxc_ast::ast::{CallExpression, Expression};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::Parser;
use oxc_span::SourceType;
use url::Url;

/// The calls of the files that were asked for.
pub(super) struct Calls {
    /// Address and text of a script that is no file.
    entry: Option<(String, String)>,
    files: HashMap<String, File>,
}

#[derive(Default)]
struct File {
    /// Where each line begins.
    lines: Vec<usize>,
    text: String,
    calls: Vec<Call>,
}

/// A call of a method.
struct Call {
    name: String,
    /// Of the whole call.
    start: usize,
    end: usize,
    /// Where its name begins.
    at: usize,
}

impl Calls {
    pub(super) fn new(entry: &str, text: Option<&str>) -> Self {
        let entry = text.map(|text| (entry.to_owned(), text.to_owned()));
        Self { entry, files: HashMap::new() }
    }

    /// Line and column at which the name of the innermost call of this name around a place begins;
    /// the place itself where there is none.
    pub(super) fn start(
        &mut self,
        address: &str,
        line: u32,
        column: u32,
        name: &str,
    ) -> (u32, u32) {
        if name.is_empty() {
            return (line, column);
        }
        if !self.files.contains_key(address) {
            let text = match &self.entry {
                Some((known, text)) if known == address => text.clone(),
                _ => read(address).unwrap_or_default(),
            };
            self.files.insert(address.to_owned(), File::parse(text));
        }
        let file = &self.files[address];
        file.start(line, column, name).unwrap_or((line, column))
    }
}

fn read(address: &str) -> Option<String> {
    let path = Url::parse(address).ok()?.to_file_path().ok()?;
    std::fs::read_to_string(path).ok()
}

impl File {
    fn parse(text: String) -> Self {
        let mut calls = Found(Vec::new());
        let allocator = Allocator::default();
        let parsed = Parser::new(&allocator, &text, SourceType::ts()).parse();
        calls.visit_program(&parsed.program);
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { lines: std::iter::once(0).chain(ends).collect(), calls: calls.0, text }
    }

    fn start(&self, line: u32, column: u32, name: &str) -> Option<(u32, u32)> {
        let start = *self.lines.get(line.checked_sub(1)? as usize)?;
        let mut letters = self.text.get(start..)?.char_indices();
        let offset = letters.nth(column.checked_sub(1)? as usize).map_or(0, |(at, _)| at);
        let at = start + offset;
        let around = self.calls.iter().filter(|call| call.name == name);
        let around = around.filter(|call| call.start <= at && at < call.end);
        let call = around.min_by_key(|call| call.end - call.start)?;
        let row = self.lines.partition_point(|line| *line <= call.at);
        let before = self.text.get(self.lines[row - 1]..call.at)?;
        // Files are smaller than 4 GiB: spans are of 32 bits.
        Some((row as u32, before.chars().count() as u32 + 1))
    }
}

struct Found(Vec<Call>);

impl<'a> Visit<'a> for Found {
    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        if let Expression::StaticMemberExpression(callee) = &call.callee {
            let name = &callee.property;
            self.0.push(Call {
                name: name.name.to_string(),
                start: call.span.start as usize,
                end: call.span.end as usize,
                at: name.span.start as usize,
            });
        }
        walk::walk_call_expression(self, call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_call_of_the_name_begins() {
        let text = "a.times(2, (s) => {\n  s.get('/',\n    b.get(x.c()));\n});";
        let mut calls = Calls::new("file:///x.js", Some(text));
        let mut start = |line, column, name: &str| calls.start("file:///x.js", line, column, name);
        assert_eq!(start(3, 13, "times"), (1, 3));
        assert_eq!(start(3, 13, "get"), (3, 7));
        assert_eq!(start(2, 3, "get"), (2, 5));
        assert_eq!(start(3, 13, "put"), (3, 13));
        assert_eq!(start(3, 13, ""), (3, 13));
        assert_eq!(start(99, 1, "get"), (99, 1));
    }
}
