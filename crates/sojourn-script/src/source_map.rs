//! The way back from positions in translated sources.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use url::Url;

/// From (line, column) of what runs to what was written. Lines and columns count from zero.
#[derive(Debug)]
pub(crate) struct SourceMap {
    tokens: Vec<Token>,
    /// Addresses of what was written; none: it is the module itself.
    sources: Vec<Arc<str>>,
}

/// A place in what runs, and where it is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Token {
    line: u32,
    column: u32,
    written: (u32, u32),
    source: Option<u32>,
}

/// Largest map that is read.
const BYTES_MAX: usize = 64 << 20;

impl SourceMap {
    /// Of a module that was translated as a whole: (line, column, line and column in the source).
    pub(crate) fn new(tokens: Vec<(u32, u32, u32, u32)>) -> Self {
        let token =
            |(line, column, row, at)| Token { line, column, written: (row, at), source: None };
        Self::sorted(tokens.into_iter().map(token).collect(), Vec::new())
    }

    fn sorted(mut tokens: Vec<Token>, sources: Vec<Arc<str>>) -> Self {
        tokens.sort_unstable();
        Self { tokens, sources }
    }

    /// Of a map as other tools write it, JSON; paths of sources begin at `base`.
    pub(crate) fn parse(json: &str, base: &Url) -> Result<Self, String> {
        if json.len() > BYTES_MAX {
            return Err(format!("it is larger than {} MiB", BYTES_MAX >> 20));
        }
        let map = oxc_sourcemap::SourceMap::from_json_string(json)
            .map_err(|error| format!("it is no source map: {error}"))?;
        let root = map.get_source_root().filter(|root| !root.is_empty());
        let address = |source: &str| -> Arc<str> {
            let path = match root {
                Some(root) if Url::parse(source).is_err() => {
                    format!("{}/{source}", root.trim_end_matches('/'))
                }
                _ => source.to_owned(),
            };
            base.join(&path).map_or(path, String::from).into()
        };
        let sources: Vec<_> = map.get_sources().map(address).collect();
        let tokens = map.get_tokens().filter_map(|token| {
            // What is of no source says where the one before ends: nothing that can throw.
            let source = token.get_source_id()?;
            let (line, column) = (token.get_dst_line(), token.get_dst_col());
            let written = (token.get_src_line(), token.get_src_col());
            Some(Token { line, column, written, source: Some(source) })
        });
        Ok(Self::sorted(tokens.collect(), sources))
    }

    /// The source's position of the last token at or before this one, on its line, and the source's
    /// address where that is another than the module's.
    pub(crate) fn source(&self, line: u32, column: u32) -> Option<(Option<&str>, u32, u32)> {
        let is_before = |token: &Token| (token.line, token.column) <= (line, column);
        let after = self.tokens.partition_point(is_before);
        let token = self.tokens.get(after.checked_sub(1)?).filter(|token| token.line == line)?;
        let source = token.source.and_then(|source| self.sources.get(source as usize));
        Some((source.map(|source| &**source), token.written.0, token.written.1))
    }
}

/// What the text's last line says of its source map: an address.
pub(crate) fn named(text: &str) -> Option<&str> {
    let last = text.trim_end().rsplit('\n').next()?.trim_start();
    let named = last.strip_prefix("//# sourceMappingURL=");
    named.or_else(|| last.strip_prefix("//@ sourceMappingURL=")).filter(|named| !named.is_empty())
}

/// The content of `data:application/json;base64,…`; `None` if it is none.
pub(crate) fn inline(address: &str) -> Option<Result<String, String>> {
    let (kind, data) = address.strip_prefix("data:")?.split_once(',')?;
    if !kind.ends_with(";base64") {
        return Some(Err("only base64 is read of an inline map".to_owned()));
    }
    let bytes = STANDARD.decode(data).map_err(|error| format!("it is no base64: {error}"));
    Some(bytes.and_then(|bytes| String::from_utf8(bytes).map_err(|_| "it is no text".to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_before_counts() {
        let map = SourceMap::new(vec![(1, 4, 7, 2), (0, 0, 5, 1), (1, 9, 8, 0)]);
        assert_eq!(map.source(0, 80), Some((None, 5, 1)));
        assert_eq!(map.source(1, 4), Some((None, 7, 2)));
        assert_eq!(map.source(1, 8), Some((None, 7, 2)));
        assert_eq!(map.source(1, 9), Some((None, 8, 0)));
        assert_eq!(map.source(1, 3), None);
        assert_eq!(map.source(2, 0), None);
    }

    #[test]
    fn maps_of_other_tools() {
        let base = Url::parse("file:///dist/b.js").expect("an address");
        let json = |sources: &str| {
            format!(r#"{{"version":3,"sources":[{sources}],"names":[],"mappings":"AAUI,MACA"}}"#)
        };
        let map = SourceMap::parse(&json(r#""../src/a.ts""#), &base).expect("a map");
        assert_eq!(map.source(0, 2), Some((Some("file:///src/a.ts"), 10, 4)));
        assert_eq!(map.source(0, 9), Some((Some("file:///src/a.ts"), 11, 4)));
        let map = SourceMap::parse(&json(r#""webpack://app/./src/a.ts""#), &base).expect("a map");
        assert!(map.source(0, 0).is_some_and(|(source, ..)| source.is_some()));
        assert!(SourceMap::parse("{", &base).is_err());
        assert!(SourceMap::parse(&json(""), &base).is_err());
        assert_eq!(named("a();\n//# sourceMappingURL=b.map\n"), Some("b.map"));
        assert_eq!(named("//# sourceMappingURL=b.map\na();"), None);
        assert_eq!(inline("b.map"), None);
        assert_eq!(inline("data:application/json;base64,e30="), Some(Ok("{}".to_owned())));
    }
}
