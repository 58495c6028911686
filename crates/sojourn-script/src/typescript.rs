//! Reading sources: what kind of module they are, and TypeScript to JavaScript.

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_codegen::{Codegen, CodegenOptions};
use oxc_parser::{Parser, ParserReturn};
use oxc_semantic::SemanticBuilder;
use oxc_span::SourceType;
use oxc_transformer::{TransformOptions, Transformer};

use crate::depth::{Depth, too_deep};
use crate::names::Reading;
use crate::source_map::SourceMap;

/// A source, ready to be compiled.
#[derive(Debug)]
pub(crate) struct Translated {
    pub(crate) code: String,
    pub(crate) map: Option<SourceMap>,
    /// What kind it is, and its names.
    pub(crate) reading: Reading,
}

/// Stack for reading a source: what reads it calls itself for each level of its tree, and fibers
/// have little. Taken from the system as far as it is used.
const STACK_BYTES: usize = 256 << 20;
/// Levels that such a stack has room for: 10 KB each, twice what was measured.
const DEPTH: Depth = Depth { brackets_max: 5_000, run_max: 25_000 };

/// Makes JavaScript of the text of a module. TypeScript loses its types, by its address's ending or
/// where `text` is no JavaScript. Types are not checked. The error says line, column and what is
/// wrong.
pub(crate) fn translate(address: &str, text: &str) -> Result<Translated, String> {
    with_stack(text, || read(address, text))
}

/// Calls what reads a text, with the stack that this takes, unless it is nested too deep.
pub(crate) fn with_stack<T: Send>(
    text: &str,
    read: impl FnOnce() -> Result<T, String> + Send,
) -> Result<T, String> {
    if let Some((line, column)) = too_deep(text, DEPTH) {
        return Err(format!("line {line}, column {column}: nested too deep"));
    }
    let no_memory = |error: std::io::Error| format!("no memory to read it: {error}");
    std::thread::scope(|scope| {
        let reader = std::thread::Builder::new().stack_size(STACK_BYTES);
        let thread = reader.spawn_scoped(scope, read).map_err(no_memory)?;
        thread.join().unwrap_or_else(|_| Err("it could not be read: this is a defect".to_owned()))
    })
}

fn read(address: &str, text: &str) -> Result<Translated, String> {
    let allocator = Allocator::default();
    if !is_typescript(address) {
        let parsed = Parser::new(&allocator, text, SourceType::unambiguous()).parse();
        if parsed.diagnostics.is_empty() {
            return Ok(Translated { code: text.to_owned(), map: None, reading: reading(&parsed) });
        }
        // What only a script may contain (`with`, octal numbers) is left to the engine to refuse,
        // what only TypeScript has is translated.
        let typed = Parser::new(&allocator, text, SourceType::ts()).parse();
        if !typed.diagnostics.is_empty() {
            let is_commonjs = !is_module(&parsed) && !parsed.panicked;
            let reading = Reading { is_commonjs, ..Reading::default() };
            return Ok(Translated { code: text.to_owned(), map: None, reading });
        }
    }
    strip(&allocator, address, text)
}

pub(crate) fn is_typescript(address: &str) -> bool {
    [".ts", ".mts", ".cts"].iter().any(|ending| address.ends_with(ending))
}

/// Whether it can only be a module: it imports, exports, or awaits outside any function.
fn is_module(parsed: &ParserReturn<'_>) -> bool {
    parsed.program.source_type.is_module()
}

fn reading(parsed: &ParserReturn<'_>) -> Reading {
    Reading::new(&parsed.program, &parsed.module_record, !is_module(parsed))
}

fn strip(allocator: &Allocator, address: &str, text: &str) -> Result<Translated, String> {
    let parsed = Parser::new(allocator, text, SourceType::ts()).parse();
    if let Some(first) = parsed.diagnostics.iter().next() {
        return Err(diagnostic(first, text));
    }
    let is_commonjs = !is_module(&parsed);
    let mut program = parsed.program;
    let semantic = SemanticBuilder::new().with_excess_capacity(2.0).with_enum_eval(true);
    let scoping = semantic.build(&program).semantic.into_scoping();
    let options = TransformOptions::default();
    let path = Path::new(address);
    let transformed =
        Transformer::new(allocator, path, &options).build_with_scoping(scoping, &mut program);
    if let Some(first) = transformed.diagnostics.iter().next() {
        return Err(diagnostic(first, text));
    }
    let options =
        CodegenOptions { source_map_path: Some(path.to_owned()), ..CodegenOptions::default() };
    let written = Codegen::new().with_options(options).build(&program);
    let map = written.map.map(|map| {
        let position = |token: oxc_sourcemap::Token| {
            (token.get_dst_line(), token.get_dst_col(), token.get_src_line(), token.get_src_col())
        };
        SourceMap::new(map.get_tokens().map(position).collect())
    });
    // Imports of types are gone only now.
    let again = Parser::new(allocator, &written.code, SourceType::unambiguous()).parse();
    let reading = Reading { is_commonjs, ..reading(&again) };
    Ok(Translated { code: written.code.clone(), map, reading })
}

pub(crate) fn diagnostic(error: &oxc_diagnostics::OxcDiagnostic, text: &str) -> String {
    let offset = error.labels.first().map(|label| label.offset() as usize);
    match offset.and_then(|offset| text.get(..offset)) {
        Some(before) => {
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
            format!("line {line}, column {column}: {}", error.message)
        }
        None => error.message.to_string(),
    }
}
