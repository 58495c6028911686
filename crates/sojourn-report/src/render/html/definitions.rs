//! `docs/definitions.md` as HTML, so that the report carries what its figures mean.
//!
//! Only the Markdown that the file uses: headings, paragraphs, `code` and **strong**. A heading's
//! anchor is `def-` and its text in the form that code forges link to.

/// The definitions' source.
pub(super) const SOURCE: &str = include_str!("../../../../../docs/definitions.md");

/// The whole text as HTML. The first heading is left out: the report has its own.
pub(super) fn html() -> String {
    let mut out = String::new();
    for block in SOURCE.split("\n\n").map(str::trim) {
        if let Some(title) = block.strip_prefix("### ") {
            out.push_str(&format!("<h4 id=\"def-{}\">{}</h4>\n", slug(title), inline(title)));
        } else if let Some(title) = block.strip_prefix("## ") {
            out.push_str(&format!("<h3>{}</h3>\n", inline(title)));
        } else if !block.is_empty() && !block.starts_with("# ") {
            out.push_str(&format!("<p>{}</p>\n", inline(block)));
        }
    }
    out
}

/// A heading's anchor: lower case, spaces as hyphens, other punctuation dropped.
pub(super) fn slug(title: &str) -> String {
    title
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' | '-' => Some('-'),
            c if c.is_alphanumeric() || c == '_' => Some(c),
            _ => None,
        })
        .collect()
}

/// `code` and **strong** within escaped text.
fn inline(text: &str) -> String {
    let escaped =
        text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\n', " ");
    let code = alternate(&escaped, "`", ["<code>", "</code>"]);
    alternate(&code, "**", ["<strong>", "</strong>"])
}

/// Replaces every odd mark by the first tag and every even one by the second.
fn alternate(text: &str, mark: &str, tags: [&str; 2]) -> String {
    let mut out = String::new();
    for (index, part) in text.split(mark).enumerate() {
        if index > 0 {
            out.push_str(tags[(index - 1) % 2]);
        }
        out.push_str(part);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles() -> Vec<&'static str> {
        SOURCE.lines().filter_map(|line| line.strip_prefix("### ")).collect()
    }

    #[test]
    fn every_definition_has_an_anchor_of_its_own() {
        let mut slugs: Vec<String> = titles().into_iter().map(slug).collect();
        let all = slugs.len();
        assert!(all > 40);
        slugs.sort();
        slugs.dedup();
        assert_eq!(slugs.len(), all);
        for slug in slugs {
            assert!(html().contains(&format!("id=\"def-{slug}\"")), "{slug}");
        }
    }

    #[test]
    fn only_the_markdown_that_is_understood_is_used() {
        for line in SOURCE.lines() {
            for unknown in ["- ", "* ", "| ", "```", "#### ", "1. ", "!["] {
                assert!(!line.starts_with(unknown), "{line}");
            }
        }
        assert_eq!(SOURCE.matches('`').count() % 2, 0);
        assert_eq!(SOURCE.matches("**").count() % 2, 0);
    }

    #[test]
    fn text_is_escaped_and_marked() {
        assert_eq!(inline("a `b < c` **d**"), "a <code>b &lt; c</code> <strong>d</strong>");
        assert_eq!(slug("Per second (RPS)"), "per-second-rps");
    }
}
