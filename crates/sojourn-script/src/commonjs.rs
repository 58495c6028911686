//! CommonJS modules, as ES modules that export what they put into `module.exports`.

/// Wraps the source. All that is added stands on the first line, so that lines stay what they are.
///
/// The module is strict, as every ES module is; what only sloppy code may do fails there.
pub(crate) fn wrap(source: &str) -> String {
    // A `#!` line is legal only at the very beginning.
    let source = if source.starts_with("#!") { format!("//{source}") } else { source.to_owned() };
    format!(
        "{HEAD}{source}\n}}).call(module.exports, module, module.exports, \
         (name) => globalThis.require(name, import.meta.url)); export default module.exports;"
    )
}

/// What stands before the source, on its first line.
const HEAD: &str = "const module = { exports: {} }; (function (module, exports, require) { ";

/// The column, from 1, that a column of a wrapped source's first line was before.
pub(crate) fn first_column(column: u32) -> u32 {
    // A short text.
    column.saturating_sub(HEAD.len() as u32).max(1)
}
