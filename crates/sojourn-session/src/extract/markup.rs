//! XML and HTML as a tree, read as browsers do: whatever is written, there is a tree.
//!
//! In HTML names are in small letters, some elements never have an end tag and some end by what
//! follows them (`<li>a<li>b`), and scripts and styles are text. Nothing is fetched, no entity is
//! defined by a document, so a document can't grow.

use std::borrow::Cow;

/// A document's nodes, in its order. The first is the root.
#[derive(Debug)]
pub(super) struct Markup<'a> {
    pub(super) nodes: Vec<Node<'a>>,
}

#[derive(Debug)]
pub(super) struct Node<'a> {
    pub(super) kind: Kind<'a>,
    pub(super) parent: usize,
    pub(super) children: Vec<usize>,
}

#[derive(Debug)]
pub(super) enum Kind<'a> {
    Root,
    Element { name: Cow<'a, str>, attributes: Vec<(Cow<'a, str>, Cow<'a, str>)> },
    Text(Cow<'a, str>),
}

/// Elements of HTML that have no end tag.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
];

/// Elements of HTML whose content is text.
const TEXT_ONLY: [&str; 4] = ["script", "style", "textarea", "title"];

/// What ends a paragraph of HTML.
const BLOCKS: [&str; 17] = [
    "address",
    "article",
    "blockquote",
    "div",
    "dl",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "header",
    "ol",
    "p",
    "pre",
    "section",
    "table",
    "ul",
];

/// Most nodes of a document; what follows is left out.
const NODES_MAX: usize = 1_000_000;

/// Most elements within elements; further ones stand beside each other.
const DEPTH_MAX: usize = 1_000;

/// Most bytes of a reference, `#x10FFFF;` and some zeros.
const REFERENCE_BYTES_MAX: usize = 16;

impl<'a> Markup<'a> {
    /// Reads a document. It is HTML if its content type or its beginning says so.
    pub(super) fn read(text: &'a str, content_type: Option<&str>) -> Self {
        let root = Node { kind: Kind::Root, parent: 0, children: Vec::new() };
        let mut reader = Reader {
            rest: text,
            is_html: is_html(text, content_type),
            open: vec![0],
            markup: Self { nodes: vec![root] },
        };
        while !reader.rest.is_empty() && reader.markup.nodes.len() < NODES_MAX {
            reader.next();
        }
        reader.markup
    }

    /// All text below a node.
    pub(super) fn text(&self, node: usize) -> String {
        let mut text = String::new();
        let mut waiting = vec![node];
        while let Some(node) = waiting.pop() {
            if let Kind::Text(own) = &self.nodes[node].kind {
                text.push_str(own);
            }
            waiting.extend(self.nodes[node].children.iter().rev());
        }
        text
    }

    /// An element's name.
    pub(super) fn name(&self, node: usize) -> Option<&str> {
        match &self.nodes[node].kind {
            Kind::Element { name, .. } => Some(name),
            _ => None,
        }
    }

    /// An element's attributes.
    pub(super) fn attributes(&self, node: usize) -> &[(Cow<'a, str>, Cow<'a, str>)] {
        match &self.nodes[node].kind {
            Kind::Element { attributes, .. } => attributes,
            _ => &[],
        }
    }
}

fn is_html(text: &str, content_type: Option<&str>) -> bool {
    let start: String = text.trim_start().chars().take(1_000).collect();
    let start = start.to_ascii_lowercase();
    if start.starts_with("<?xml") {
        return false;
    }
    let says_so = content_type.is_some_and(|kind| kind.to_ascii_lowercase().contains("html"));
    says_so || start.starts_with("<!doctype html") || start.contains("<html")
}

struct Reader<'a> {
    rest: &'a str,
    is_html: bool,
    /// Elements that have not ended, the root first.
    open: Vec<usize>,
    markup: Markup<'a>,
}

impl<'a> Reader<'a> {
    /// Reads the next tag, text or whatever stands there.
    fn next(&mut self) {
        if let Some(rest) = self.rest.strip_prefix("<!--") {
            self.rest = behind(rest, "-->");
        } else if let Some(rest) = self.rest.strip_prefix("<![CDATA[") {
            let end = rest.find("]]>").unwrap_or(rest.len());
            self.add(Kind::Text(Cow::Borrowed(&rest[..end])));
            self.rest = rest.get(end + "]]>".len()..).unwrap_or_default();
        } else if self.rest.starts_with("<!") || self.rest.starts_with("<?") {
            let end = self.rest.find('>').unwrap_or(self.rest.len());
            let has_more = self.rest[..end].contains('[');
            self.rest = behind(self.rest, if has_more { "]>" } else { ">" });
        } else if self.rest.starts_with("</") && starts_name(&self.rest[2..]) {
            let (name, rest) = split_name(&self.rest[2..]);
            self.rest = behind(rest, ">");
            self.end(&self.named(name));
        } else if self.rest.starts_with('<') && starts_name(&self.rest[1..]) {
            self.start();
        } else {
            let first = self.rest.chars().next().map_or(1, char::len_utf8);
            let more = &self.rest[first..];
            let end = first + more.find('<').unwrap_or(more.len());
            let text = decoded(&self.rest[..end]);
            self.add(Kind::Text(text));
            self.rest = &self.rest[end..];
        }
    }

    fn start(&mut self) {
        let (name, rest) = split_name(&self.rest[1..]);
        let name = self.named(name);
        let (attributes, is_empty, rest) = self.attributes(rest);
        self.rest = rest;
        while self.is_html && self.top().is_some_and(|top| ends(&name, top)) {
            self.open.pop();
        }
        let is_void = self.is_html && VOID.contains(&&*name);
        let is_text = self.is_html && TEXT_ONLY.contains(&&*name);
        let ending = format!("</{name}");
        let node = self.add(Kind::Element { name, attributes });
        if is_void || is_empty {
            return;
        }
        if self.open.len() < DEPTH_MAX {
            self.open.push(node);
        }
        if is_text {
            let end = find_ignoring_case(self.rest, &ending).unwrap_or(self.rest.len());
            self.add(Kind::Text(Cow::Borrowed(&self.rest[..end])));
            self.rest = &self.rest[end..];
        }
    }

    /// Attributes up to the tag's end, whether it is `/>`, and what follows.
    #[allow(clippy::type_complexity, reason = "used once")]
    fn attributes(&self, mut rest: &'a str) -> (Vec<(Cow<'a, str>, Cow<'a, str>)>, bool, &'a str) {
        let mut attributes = Vec::new();
        loop {
            rest = rest.trim_start();
            if let Some(behind) = rest.strip_prefix('>') {
                return (attributes, false, behind);
            }
            if let Some(behind) = rest.strip_prefix("/>") {
                return (attributes, true, behind);
            }
            let Some(first) = rest.chars().next() else { return (attributes, false, rest) };
            if matches!(first, '/' | '=' | '"' | '\'' | '<') {
                rest = &rest[1..];
                continue;
            }
            let (name, behind_name) = split_name(rest);
            let (value, behind_value) = match behind_name.trim_start().strip_prefix('=') {
                Some(value) => attribute_value(value.trim_start()),
                None => ("", behind_name),
            };
            attributes.push((self.named(name), decoded(value)));
            rest = behind_value;
        }
    }

    fn end(&mut self, name: &str) {
        let found = self.open.iter().rposition(|&node| self.markup.name(node) == Some(name));
        if let Some(at) = found {
            self.open.truncate(at);
        }
    }

    fn add(&mut self, kind: Kind<'a>) -> usize {
        // The root is never closed.
        let parent = self.open.last().copied().unwrap_or(0);
        let node = self.markup.nodes.len();
        self.markup.nodes.push(Node { kind, parent, children: Vec::new() });
        self.markup.nodes[parent].children.push(node);
        node
    }

    fn top(&self) -> Option<&str> {
        self.open.last().and_then(|&node| self.markup.name(node))
    }

    fn named(&self, name: &'a str) -> Cow<'a, str> {
        if self.is_html && name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(name.to_ascii_lowercase())
        } else {
            Cow::Borrowed(name)
        }
    }
}

/// Whether a start tag of HTML ends the element that is open.
fn ends(start: &str, open: &str) -> bool {
    match open {
        "li" => start == "li",
        "p" => BLOCKS.contains(&start),
        "td" | "th" => matches!(start, "td" | "th" | "tr" | "tbody" | "tfoot"),
        "tr" => matches!(start, "tr" | "tbody" | "tfoot"),
        "option" => matches!(start, "option" | "optgroup"),
        "dt" | "dd" => matches!(start, "dt" | "dd"),
        _ => false,
    }
}

fn starts_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == ':')
}

/// A name and what follows it. A name is never empty where its first character is no sign of a tag.
fn split_name(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| c.is_whitespace() || matches!(c, '=' | '>' | '/' | '<'));
    text.split_at(end.unwrap_or(text.len()))
}

fn attribute_value(text: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote) {
            return inner.split_once(quote).unwrap_or((inner, ""));
        }
    }
    let end = text.find(|c: char| c.is_whitespace() || c == '>');
    text.split_at(end.unwrap_or(text.len()))
}

fn behind<'a>(text: &'a str, end: &str) -> &'a str {
    text.split_once(end).map_or("", |(_, rest)| rest)
}

fn find_ignoring_case(text: &str, wanted: &str) -> Option<usize> {
    let wanted = wanted.as_bytes();
    text.as_bytes().windows(wanted.len()).position(|part| part.eq_ignore_ascii_case(wanted))
}

/// Text with its references resolved: numbers, and the few names that XML has (and `&nbsp;`). Any
/// other stays as it is.
fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let end = rest.bytes().take(REFERENCE_BYTES_MAX).position(|byte| byte == b';');
        match end.and_then(|end| Some((named(&rest[..end])?, end))) {
            Some((letter, end)) => {
                out.push(letter);
                rest = &rest[end + 1..];
            }
            None => out.push('&'),
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn named(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some('\u{a0}'),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree in brackets.
    fn shown(text: &str) -> String {
        fn show(markup: &Markup<'_>, node: usize, out: &mut String) {
            match &markup.nodes[node].kind {
                Kind::Text(text) => out.push_str(text),
                _ => {
                    out.push_str(markup.name(node).unwrap_or_default());
                    for (name, value) in markup.attributes(node) {
                        out.push_str(&format!(" {name}={value}"));
                    }
                    out.push('(');
                    for &child in &markup.nodes[node].children {
                        show(markup, child, out);
                    }
                    out.push(')');
                }
            }
        }
        let mut out = String::new();
        show(&Markup::read(text, None), 0, &mut out);
        out
    }

    #[test]
    fn xml_is_read_as_it_is() {
        let text = "<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY x 'y'>]>\
                    <A b='1 &lt; 2'>5 % <![CDATA[<&>]]><!-- no --><c/>&#x41;&#66;&x;</A>";
        assert_eq!(shown(text), "(A b=1 < 2(5 % <&>c()AB&x;))");
    }

    #[test]
    fn html_is_tolerated() {
        let text = "<!doctype html><HTML><ul><li class=x>a<li>b</ul><br>1 < 2<p>c<div>d</div>\
                    <script>if (a < b) '<p>'</SCRIPT>\
                    <a href=\"/x?a=1&amp;b=2\" disabled>l</a></i></html>";
        assert_eq!(
            shown(text),
            "(html(ul(li class=x(a)li(b))br()1 < 2p(c)div(d)script(if (a < b) '<p>')\
             a href=/x?a=1&b=2 disabled=(l)))"
        );
        for text in [
            "<",
            "</",
            "<a",
            "<a b",
            "<a b=",
            "<a b='",
            "<!",
            "<!--",
            "é<é",
            "&",
            "<a></b></a></a>",
            "<a =/>",
        ] {
            shown(text);
        }
    }
}
