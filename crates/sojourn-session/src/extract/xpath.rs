//! A subset of XPath 1.0: paths of names, `*`, `.`, `..`, `@name`, `@*`, `text()` behind `/` and
//! `//`; predicates with a position, `last()`, or conditions on paths joined by `and` and `or`;
//! `string(…)` and `count(…)` around the whole.

use super::markup::{Kind, Markup};

mod parse;

/// A path, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct XPath {
    path: Path,
    is_count: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Path {
    is_absolute: bool,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    /// Behind `//`: of any node below, too.
    is_deep: bool,
    test: Test,
    predicates: Vec<Predicate>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Itself,
    Parent,
    Name(String),
    AnyElement,
    Text,
    Attribute(String),
    AnyAttribute,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Predicate {
    /// From 1.
    Position(usize),
    Last,
    Condition(Condition),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Condition {
    Exists(Path),
    Equals { path: Path, value: String, is_negated: bool },
    Contains(Path, String),
    StartsWith(Path, String),
    Not(Box<Self>),
    All(Vec<Self>),
    Any(Vec<Self>),
}

/// A node, or an attribute of it (its place from 1). Ordered as the document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    node: usize,
    attribute: usize,
}

impl XPath {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        parse::parse(text)
    }

    /// The text of the first node, or how many there are.
    pub(super) fn find(&self, markup: &Markup<'_>) -> Option<String> {
        let items = self.path.select(markup, Item { node: 0, attribute: 0 });
        if self.is_count {
            return Some(items.len().to_string());
        }
        items.first().map(|&item| text_of(markup, item))
    }
}

impl Path {
    fn select(&self, markup: &Markup<'_>, from: Item) -> Vec<Item> {
        let start = if self.is_absolute { Item { node: 0, attribute: 0 } } else { from };
        let mut items = vec![start];
        for step in &self.steps {
            if step.is_deep {
                items = below(markup, &items);
            }
            let mut found = Vec::new();
            for &item in &items {
                let mut candidates = step.candidates(markup, item);
                for predicate in &step.predicates {
                    candidates = predicate.filter(markup, candidates);
                }
                found.extend(candidates);
            }
            found.sort_unstable();
            found.dedup();
            items = found;
        }
        items
    }
}

impl Step {
    fn candidates(&self, markup: &Markup<'_>, from: Item) -> Vec<Item> {
        let Item { node, attribute } = from;
        let is_attribute = attribute > 0;
        let children = || {
            let all: &[usize] = if is_attribute { &[] } else { &markup.nodes[node].children };
            all.iter().map(|&node| Item { node, attribute: 0 })
        };
        let attributes = || {
            let all = if is_attribute { &[] } else { markup.attributes(node) };
            all.iter().enumerate().map(|(at, (name, _))| (Item { node, attribute: at + 1 }, name))
        };
        match &self.test {
            Test::Itself => vec![from],
            Test::Parent if is_attribute => vec![Item { node, attribute: 0 }],
            Test::Parent if node == 0 => Vec::new(),
            Test::Parent => vec![Item { node: markup.nodes[node].parent, attribute: 0 }],
            Test::Name(name) => {
                children().filter(|item| markup.name(item.node) == Some(name.as_str())).collect()
            }
            Test::AnyElement => {
                children().filter(|item| markup.name(item.node).is_some()).collect()
            }
            Test::Text => children()
                .filter(|item| matches!(markup.nodes[item.node].kind, Kind::Text(_)))
                .collect(),
            Test::Attribute(name) => {
                attributes().filter(|(_, known)| *known == name).map(|(item, _)| item).collect()
            }
            Test::AnyAttribute => attributes().map(|(item, _)| item).collect(),
        }
    }
}

impl Predicate {
    fn filter(&self, markup: &Markup<'_>, items: Vec<Item>) -> Vec<Item> {
        match self {
            Self::Position(place) => items.get(place - 1).copied().into_iter().collect(),
            Self::Last => items.last().copied().into_iter().collect(),
            Self::Condition(condition) => {
                items.into_iter().filter(|&item| condition.holds(markup, item)).collect()
            }
        }
    }
}

impl Condition {
    fn holds(&self, markup: &Markup<'_>, item: Item) -> bool {
        let first = |path: &Path| {
            let found = path.select(markup, item);
            found.first().map_or_else(String::new, |&item| text_of(markup, item))
        };
        match self {
            Self::Exists(path) => !path.select(markup, item).is_empty(),
            Self::Equals { path, value, is_negated } => {
                let found = path.select(markup, item);
                found.into_iter().any(|item| (text_of(markup, item) == *value) != *is_negated)
            }
            Self::Contains(path, part) => first(path).contains(part.as_str()),
            Self::StartsWith(path, part) => first(path).starts_with(part.as_str()),
            Self::Not(inner) => !inner.holds(markup, item),
            Self::All(inner) => inner.iter().all(|condition| condition.holds(markup, item)),
            Self::Any(inner) => inner.iter().any(|condition| condition.holds(markup, item)),
        }
    }
}

/// The nodes and all that is below them, each once, in the document's order.
fn below(markup: &Markup<'_>, items: &[Item]) -> Vec<Item> {
    let mut waiting: Vec<_> =
        items.iter().rev().filter(|item| item.attribute == 0).map(|item| item.node).collect();
    let mut is_seen = vec![false; if waiting.len() > 1 { markup.nodes.len() } else { 0 }];
    let mut found = Vec::new();
    while let Some(node) = waiting.pop() {
        let is_known = is_seen.get_mut(node).is_some_and(|seen| std::mem::replace(seen, true));
        if !is_known {
            found.push(Item { node, attribute: 0 });
            waiting.extend(markup.nodes[node].children.iter().rev());
        }
    }
    found
}

fn text_of(markup: &Markup<'_>, item: Item) -> String {
    match item.attribute.checked_sub(1) {
        Some(place) => markup.attributes(item.node)[place].1.to_string(),
        None => markup.text(item.node),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_text() {
        let text = "<set kind='tea'>\
                    <item id='1'><name>cup</name><price cur='GBP'>4.50</price></item>\
                    <item id='2'><name>100 %</name><price cur='GBP'>2.75</price></item>\
                    <box><item id='3'><name>pot</name></item></box></set>";
        let markup = Markup::read(text, None);
        for (path, expected) in [
            ("/set/item/name", Some("cup")),
            ("//item[2]/name", Some("100 %")),
            ("//item[@id='3']/name/text()", Some("pot")),
            ("//item[name='pot']/@id", Some("3")),
            ("/set/@kind", Some("tea")),
            ("//price[@cur=\"GBP\" and .='2.75']/../@id", Some("2")),
            ("//item[last()]/@id", Some("2")),
            ("/set/box//name", Some("pot")),
            ("//box/*/name", Some("pot")),
            ("count(//item)", Some("3")),
            ("string(//item[3])", None),
            ("//item[contains(name,'%')]/@id", Some("2")),
            ("//item[starts-with(name, 'p') or @id=9]/@id", Some("3")),
            ("//item[not(price)]/@id", Some("3")),
            ("//item[@id!='1']/@id", Some("2")),
            ("//item[price][2]/@*", Some("2")),
            ("set/item[1]", Some("cup4.50")),
            (".", Some("cup4.50100 %2.75pot")),
            ("/nothing", None),
            ("/..", None),
        ] {
            assert_eq!(XPath::parse(path).unwrap().find(&markup).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn what_is_no_path_says_why() {
        for (path, expected) in [
            ("", "a step is missing"),
            ("/a/", "a step is missing"),
            ("/a[", "a step is missing"),
            ("/a[0]", "positions count from 1"),
            ("/a[1", "`]` is missing"),
            ("/a[@b='c]", "`'` is missing"),
            ("/a/following::b", "is not known"),
            ("//a | //b", "`|"),
            ("/a[position()<3]", "is not known"),
            ("count(//a", "`)` is missing"),
        ] {
            let error = XPath::parse(path).unwrap_err();
            assert!(error.contains(expected), "{path}: {error}");
        }
        assert!(XPath::parse(&format!("a{}", "[b".repeat(1_000))).is_err());
        assert!(XPath::parse(&format!("a[{}", "not(".repeat(1_000))).is_err());
    }
}
