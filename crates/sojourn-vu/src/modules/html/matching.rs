//! CSS selectors: what fits them.

use super::document::{Document, Element, Kind, NodeId};
use super::selector::{Combinator, Comparison, Complex, List, Simple};

/// Whether the element fits one of the selectors.
pub(super) fn fits(document: &Document, id: NodeId, list: &List) -> bool {
    list.iter().any(|complex| fits_complex(document, id, complex))
}

fn fits_complex(document: &Document, id: NodeId, complex: &Complex) -> bool {
    fits_all(document, id, &complex.last) && fits_others(document, id, &complex.others)
}

fn fits_all(document: &Document, id: NodeId, parts: &[Simple]) -> bool {
    let Some(element) = document.element(id) else { return false };
    parts.iter().all(|part| holds(document, id, element, part))
}

/// Whether elements around this one fit the parts on its left.
fn fits_others(document: &Document, id: NodeId, others: &[(Combinator, Vec<Simple>)]) -> bool {
    let Some(((combinator, parts), rest)) = others.split_first() else { return true };
    let there = |id: NodeId| fits_all(document, id, parts) && fits_others(document, id, rest);
    match combinator {
        Combinator::Child => document.parent_element(id).is_some_and(there),
        Combinator::Next => document.before(id).next().is_some_and(there),
        Combinator::Later => document.before(id).any(there),
        Combinator::Descendant => {
            let up = |id: &NodeId| document.parent_element(*id);
            std::iter::successors(up(&id), up).any(there)
        }
    }
}

fn holds(document: &Document, id: NodeId, element: &Element, part: &Simple) -> bool {
    let is_one_of = |names: &[&str]| names.contains(&&*element.name);
    match part {
        Simple::Any => true,
        Simple::Tag(name) => str::eq_ignore_ascii_case(&element.name, name),
        Simple::Id(value) => element.attribute("id") == Some(value),
        Simple::Class(name) => has_word(element.attribute("class").unwrap_or_default(), name),
        Simple::Has(name) => element.attribute(name).is_some(),
        Simple::Attribute { name, comparison, value, ignores_case } => {
            compare(element.attribute(name), *comparison, value, *ignores_case)
        }
        Simple::Not(list) => !fits(document, id, list),
        Simple::Is(list) => fits(document, id, list),
        Simple::HasBelow(list) => document.below(id).any(|below| fits(document, below, list)),
        Simple::Contains(text) => document.text(id).to_lowercase().contains(text),
        Simple::ContainsOwn(text) => own_text(document, id).to_lowercase().contains(text),
        Simple::Nth { a, b, is_from_end, is_of_type } => {
            let place = place(document, id, element, *is_from_end, *is_of_type);
            let distance = place - b;
            if *a == 0 { distance == 0 } else { distance % a == 0 && distance / a >= 0 }
        }
        Simple::OnlyChild { is_of_type } => [true, false]
            .iter()
            .all(|is_from_end| place(document, id, element, *is_from_end, *is_of_type) == 1),
        Simple::Empty => is_empty(document, id),
        Simple::Parent => !is_empty(document, id),
        Simple::Root => document.parent_element(id).is_none(),
        Simple::Input => is_one_of(&["input", "select", "textarea", "button"]),
        Simple::Button => {
            is_one_of(&["button"])
                || is_one_of(&["input"]) && element.attribute("type") == Some("button")
        }
        Simple::Checked => {
            let name = if is_one_of(&["option"]) { "selected" } else { "checked" };
            is_one_of(&["option", "input"]) && element.attribute(name).is_some()
        }
        Simple::Disabled => can_be_disabled(element) && element.attribute("disabled").is_some(),
        Simple::Enabled => can_be_disabled(element) && element.attribute("disabled").is_none(),
    }
}

fn can_be_disabled(element: &Element) -> bool {
    let names = ["button", "fieldset", "input", "optgroup", "option", "select", "textarea"];
    names.contains(&&*element.name)
}

fn has_word(text: &str, word: &str) -> bool {
    text.split_ascii_whitespace().any(|known| known == word)
}

fn compare(found: Option<&str>, comparison: Comparison, value: &str, ignores_case: bool) -> bool {
    let Some(found) = found else { return comparison == Comparison::IsNot };
    if ignores_case {
        let (found, value) = (found.to_lowercase(), value.to_lowercase());
        return compare(Some(&found), comparison, &value, false);
    }
    match comparison {
        Comparison::Is => found == value,
        Comparison::IsNot => found != value,
        Comparison::HasWord => has_word(found, value),
        Comparison::IsOrBeginsWithDash => {
            let rest = found.strip_prefix(value);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        }
        Comparison::Begins => !value.is_empty() && found.starts_with(value),
        Comparison::Ends => !value.is_empty() && found.ends_with(value),
        Comparison::Contains => !value.is_empty() && found.contains(value),
    }
}

/// The element's place among its siblings, from 1.
fn place(
    document: &Document,
    id: NodeId,
    element: &Element,
    is_from_end: bool,
    is_of_type: bool,
) -> i64 {
    let counts = |other: &NodeId| {
        !is_of_type || document.element(*other).is_some_and(|other| other.name == element.name)
    };
    let parent = document.parent(id).unwrap_or(id);
    let siblings = document.elements(parent).filter(counts);
    let is_other = |other: &NodeId| *other != id;
    let before = if is_from_end {
        siblings.rev().take_while(is_other).count()
    } else {
        siblings.take_while(is_other).count()
    };
    before as i64 + 1
}

fn is_empty(document: &Document, id: NodeId) -> bool {
    let counts = |id: &NodeId| matches!(document.node(*id).kind, Kind::Element(_) | Kind::Text(_));
    !document.node(id).children.iter().any(counts)
}

fn own_text(document: &Document, id: NodeId) -> String {
    let text = |child: &NodeId| match &document.node(*child).kind {
        Kind::Text(text) => Some(text.as_str()),
        _ => None,
    };
    document.node(id).children.iter().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::super::document::ROOT;
    use super::super::parse::parse;
    use super::super::selector;
    use super::*;

    fn ids(page: &str, selector: &str) -> String {
        let document = parse(page);
        let list = selector::parse(selector).expect("a selector");
        let found = document.below(ROOT).filter(|id| fits(&document, *id, &list));
        let names = found.filter_map(|id| document.element(id)?.attribute("id"));
        names.collect::<Vec<_>>().join("")
    }

    #[test]
    fn selectors_find_what_they_mean() {
        let page = "<div id=a class='x y'><p id=b lang=en-gb>one</p><p id=c>Two<i id=d></i></p>\
                    </div>\
                    <ul id=e><li id=f>1<li id=g data-k='v w'>2<li id=h>3</ul>\
                    <input id=i disabled><input id=j type=checkbox checked><a id=k href='/z.pdf'>";
        let cases = [
            ("p", "bc"),
            ("#a", "a"),
            (".y.x", "a"),
            ("div p", "bc"),
            ("div > i", ""),
            ("div>p>i", "d"),
            ("p + p", "c"),
            ("li ~ li", "gh"),
            ("p, #e", "bce"),
            ("[data-k]", "g"),
            ("[data-k~=w]", "g"),
            ("[lang|=en]", "b"),
            ("[href$='.pdf']", "k"),
            ("[href^=\"/\"]", "k"),
            ("[href*=z]", "k"),
            ("li[data-k!='v w']", "fh"),
            ("li:first-child", "f"),
            ("li:last-child", "h"),
            ("li:nth-child(2n+1)", "fh"),
            ("li:nth-child(even)", "g"),
            ("li:nth-last-child(1)", "h"),
            ("li:nth-child(-n+2)", "fg"),
            ("i:only-child", "d"),
            ("i:empty", "d"),
            ("p:not(#b)", "c"),
            ("div:has(i)", "a"),
            ("p:contains('two')", "c"),
            (":input:enabled", "j"),
            (":disabled", "i"),
            (":checked", "j"),
            ("p:is(#b, #c) i", "d"),
            ("INPUT", "ij"),
            ("div :nth-of-type(2)", "c"),
        ];
        for (selector, expected) in cases {
            assert_eq!(ids(page, selector), expected, "{selector}");
        }
    }

    #[test]
    fn what_is_no_selector_is_said() {
        for wrong in
            ["", "p >", "a,,b", "[x", "p:what", ":not(", "..a", "a:nth-child(x)", "'", "a)"]
        {
            assert!(selector::parse(wrong).is_err(), "{wrong}");
        }
        assert!(selector::parse(&":not(".repeat(10_000)).is_err());
    }
}
