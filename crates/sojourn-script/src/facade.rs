//! What stands between a module and one that it imports where the latter has not got all names as
//! the engine wants them: CommonJS, of which only running it tells the names, and built-in modules
//! that lack one that is asked for. Each importer has a facade of its own, with the names it needs.

use std::fmt::Write as _;

use crate::names::{Asked, Names};

/// Before an address that means the module itself, whoever asks.
pub(crate) const AS_IT_IS: &str = "as-it-is:";

const KEY: &str = "facade:";

/// The name under which the engine knows what `base` gets for `specifier`.
pub(crate) fn key(base: &str, specifier: &str) -> String {
    format!("{KEY}{specifier} of {base}")
}

pub(crate) fn is_facade(address: &str) -> bool {
    address.starts_with(KEY)
}

/// Of the CommonJS module at `address`. What was compiled from ES modules has its default export
/// by that name; of others, all that they export is the default.
pub(crate) fn of_commonjs(address: &str, given: &Names, asked: &Asked) -> String {
    let mut source = format!(
        "import whole from \"{address}\"; \
         const of = Object(whole); \
         const main = \"default\" in of ? of.default : whole; \
         export {{ main as default }};"
    );
    let names = given.iter().chain(&asked.named).chain(&asked.members);
    let names: std::collections::BTreeSet<_> = names.filter(|name| is_exportable(name)).collect();
    for (number, name) in names.into_iter().enumerate() {
        // Writing to a string can't fail.
        write!(source, " const v{number} = of.{name}; export {{ v{number} as {name} }};").ok();
    }
    source
}

/// Of a built-in module: names that it has not got are undefined.
pub(crate) fn of_builtin(name: &str, missing: &[String]) -> String {
    let mut source =
        format!("export * from \"{name}\"; export {{ default }} from \"{name}\"; let nothing;");
    for name in missing.iter().filter(|name| is_exportable(name)) {
        write!(source, " export {{ nothing as {name} }};").ok();
    }
    source
}

/// Plain words; others can be imported only as text, which nobody does.
fn is_exportable(name: &str) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    !["default", "__esModule"].contains(&name)
        && name.chars().all(is_word)
        && name.chars().next().is_some_and(|first| !first.is_numeric())
}
