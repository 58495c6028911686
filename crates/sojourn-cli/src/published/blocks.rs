//! The fenced blocks of the README and the guide.

use std::path::{Path, PathBuf};

/// A fenced block of a page.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    /// The page, from the root.
    pub(super) page: String,
    /// The line of its fence, from 1.
    pub(super) line: usize,
    /// What stands behind the fence; empty where nothing does.
    pub(super) language: String,
    pub(super) text: String,
}

impl Block {
    /// Where it is, as messages say it.
    pub(super) fn place(&self) -> String {
        format!("{}:{}", self.page, self.line)
    }
}

/// The project's folder.
pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text of a page, by its path from the root.
pub(super) fn page(name: &str) -> String {
    let path = root().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The README and every page of the guide, by their paths from the root.
pub(super) fn pages() -> Vec<String> {
    let mut pages = files_of("docs");
    pages.retain(|path| path.ends_with(".md"));
    pages.push("README.md".to_owned());
    pages.sort();
    pages
}

/// Every file below a folder, by its path from the root.
pub(super) fn files_of(folder: &str) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{folder}/{}", entry.file_name().into_string().unwrap());
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files
}

/// The blocks of all pages.
pub(super) fn all() -> Vec<Block> {
    pages().iter().flat_map(|name| blocks(name, &page(name))).collect()
}

/// The blocks of a page.
pub(super) fn blocks(name: &str, text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    // The block under way, and the fence that ends it.
    let mut open: Option<(Block, &str)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let fence = fence(line.trim_start());
        open = match (open, fence) {
            (None, None) => None,
            (None, Some((fence, language))) => {
                let (page, language) = (name.to_owned(), language.to_owned());
                Some((Block { page, line: number, language, text: String::new() }, fence))
            }
            (Some((block, begun)), Some((fence, ""))) if fence.starts_with(begun) => {
                blocks.push(block);
                None
            }
            (Some((mut block, begun)), _) => {
                block.text.push_str(line);
                block.text.push('\n');
                Some((block, begun))
            }
        };
    }
    assert!(open.is_none(), "{name}: a block without an end: {open:?}");
    blocks
}

/// A line that is a fence: its signs, and what stands behind them.
fn fence(line: &str) -> Option<(&str, &str)> {
    let sign = line.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let behind = line.trim_start_matches(sign);
    let signs = &line[..line.len() - behind.len()];
    // Signs within a line are code in the text.
    (signs.len() >= 3 && !behind.contains('`')).then(|| (signs, behind.trim()))
}

#[test]
fn blocks_have_their_language_and_their_lines() {
    let text = "a ```b```\n```yaml\nx: 1\n\n```\n~~~~ js\n```\n~~~\n~~~~\n  ```\n  y\n  ```\n";
    let found: Vec<_> = blocks("p.md", text)
        .into_iter()
        .map(|block| (block.place(), block.language, block.text))
        .collect();
    let expected =
        [("p.md:2", "yaml", "x: 1\n\n"), ("p.md:6", "js", "```\n~~~\n"), ("p.md:10", "", "  y\n")];
    let expected = expected
        .map(|(place, language, text)| (place.to_owned(), language.to_owned(), text.to_owned()));
    assert_eq!(found, expected);
}
