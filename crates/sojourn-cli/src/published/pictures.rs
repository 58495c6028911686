//! Every picture that a page shows is there, and every one that is there is shown.

use std::{collections::BTreeSet, path::Path};

use super::blocks::{files_of, page, pages, root};

/// Where they are; `cargo xtask pictures` makes them.
const FOLDER: &str = "docs/pictures";
/// Largest picture, bytes.
const BYTES_MAX: u64 = 150_000;

/// What a page names by Markdown's `](…)` or by HTML's attributes, and ends as pictures do.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let openings = ["](", "src=\"", "srcset=\""];
    let named = openings.into_iter().flat_map(move |opening| text.split(opening).skip(1));
    let named = named.filter_map(|rest| rest.split([')', '"', ' ']).next());
    named.filter(|path| {
        let ending = Path::new(path).extension().and_then(|ending| ending.to_str());
        matches!(ending, Some("png" | "svg" | "jpg" | "webp")) && !path.contains("://")
    })
}

#[test]
fn pictures_are_there_and_shown() {
    let mut shown = BTreeSet::new();
    let mut all_wrong = Vec::new();
    for name in pages() {
        let folder = Path::new(&name).parent().unwrap().to_owned();
        for path in named(&page(&name)) {
            // `..` leads from a folder of the guide to its own.
            let path = root().join(&folder).join(path);
            match path.canonicalize() {
                Ok(path) => drop(shown.insert(path)),
                Err(error) => all_wrong.push(format!("{name} shows {}: {error}", path.display())),
            }
        }
    }
    let there = files_of(FOLDER);
    for file in &there {
        let path = root().join(file).canonicalize().unwrap();
        if !shown.contains(&path) {
            all_wrong.push(format!("no page shows {file}"));
        }
        let bytes = std::fs::metadata(&path).unwrap().len();
        if bytes > BYTES_MAX {
            all_wrong.push(format!("{file} has {bytes} bytes: at most {BYTES_MAX}"));
        }
    }
    assert!(all_wrong.is_empty(), "{}", all_wrong.join("\n"));
    assert!(there.len() >= 5, "{there:?}");
}

#[test]
fn pictures_are_found_in_markdown_and_in_html() {
    let text = "![a](x/a.png) [b](b.md) <source srcset=\"c.png\"><img src=\"d.svg\" alt=\"\"> \
                [e](https://x.example/e.png)";
    assert_eq!(named(text).collect::<Vec<_>>(), ["x/a.png", "d.svg", "c.png"]);
}
