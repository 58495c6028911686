//! From a tree back to text, in the form of Go's standard library, which scripts know.

use std::fmt::Write as _;

use super::document::{Document, Kind, NodeId};

/// Elements without content or end.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "keygen", "link", "meta", "param",
    "source", "track",
];

/// Elements whose text is not escaped.
const RAW: [&str; 8] =
    ["iframe", "noembed", "noframes", "noscript", "plaintext", "script", "style", "xmp"];

/// What is still to be written.
enum Step<'d> {
    Node(NodeId),
    End(&'d str),
}

/// The text of what is below a node.
pub(super) fn inner(document: &Document, id: NodeId) -> String {
    render(document, document.node(id).children.iter().rev().map(|id| Step::Node(*id)).collect())
}

/// The text of a node itself.
pub(super) fn outer(document: &Document, id: NodeId) -> String {
    render(document, vec![Step::Node(id)])
}

fn render<'d>(document: &'d Document, mut steps: Vec<Step<'d>>) -> String {
    let mut out = String::new();
    // Writing to a string can't fail.
    while let Some(step) = steps.pop() {
        let id = match step {
            Step::Node(id) => id,
            Step::End(name) => {
                write!(out, "</{name}>").ok();
                continue;
            }
        };
        let node = document.node(id);
        match &node.kind {
            Kind::Document => {}
            Kind::Doctype(name) => _ = write!(out, "<!DOCTYPE {name}>"),
            Kind::Comment(text) => _ = write!(out, "<!--{text}-->"),
            Kind::Text(text) if is_raw(document, id) => out.push_str(text),
            Kind::Text(text) => escape(text, &mut out),
            Kind::Element(element) => {
                write!(out, "<{}", element.name).ok();
                for (name, value) in &element.attributes {
                    write!(out, " {name}=\"").ok();
                    escape(value, &mut out);
                    out.push('"');
                }
                if VOID.contains(&&*element.name) {
                    out.push_str("/>");
                    continue;
                }
                out.push('>');
                steps.push(Step::End(&element.name));
            }
        }
        steps.extend(node.children.iter().rev().map(|child| Step::Node(*child)));
    }
    out
}

fn is_raw(document: &Document, id: NodeId) -> bool {
    let parent = document.parent(id).and_then(|parent| document.element(parent));
    parent.is_some_and(|parent| RAW.contains(&&*parent.name))
}

fn escape(text: &str, out: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '\'' => out.push_str("&#39;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&#34;"),
            '\r' => out.push_str("&#13;"),
            _ => out.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::ROOT;
    use super::super::parse::parse;
    use super::*;

    #[test]
    fn pages_come_back() {
        let page = "<!DOCTYPE html><html><head><script>a < b</script></head>\
                    <body><p class=\"x\">1 &lt; 2<br/>&#34;q&#34;</p><!--c--></body></html>";
        assert_eq!(inner(&parse(page), ROOT), page);
    }

    #[test]
    fn what_is_misplaced_is_moved() {
        let page = "<table><p>x<tr><td>y</table><b>1<i>2</b>3</i><template><u>t</u></template>";
        let told = "<html><head></head><body><p>x</p><table><tbody><tr><td>y</td></tr></tbody>\
                    </table><b>1<i>2</i></b><i>3<template><u>t</u></template></i></body></html>";
        assert_eq!(inner(&parse(page), ROOT), told);
        let deep = "<div>".repeat(50_000);
        assert!(inner(&parse(&deep), ROOT).len() > deep.len());
    }
}
