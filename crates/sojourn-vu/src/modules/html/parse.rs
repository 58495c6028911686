//! From a page's text to its tree, by the rules of HTML.

use std::borrow::Cow;
use std::cell::RefCell;

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::{Attribute, LocalName, Namespace, ParseOpts, QualName, parse_document};

use super::document::{Document, Element, Kind, NodeId, ROOT};

/// The tree of this page. Every text is some page.
pub(super) fn parse(text: &str) -> Document {
    let sink = Sink { document: RefCell::new(Document::empty()) };
    parse_document(sink, ParseOpts::default()).one(text)
}

/// Builds the tree as the parser says.
struct Sink {
    document: RefCell<Document>,
}

/// A tag's name, as the parser asks for it.
#[derive(Debug)]
struct Name(LocalName, Namespace);

impl ElemName for Name {
    fn ns(&self) -> &Namespace {
        &self.1
    }

    fn local_name(&self) -> &LocalName {
        &self.0
    }
}

impl Sink {
    /// Puts a child at a place among its parent's children; text joins the text before it.
    fn insert(&self, parent: NodeId, at: usize, child: NodeOrText<NodeId>) {
        let mut document = self.document.borrow_mut();
        let id = match child {
            NodeOrText::AppendNode(id) => id,
            NodeOrText::AppendText(text) => {
                let before = at.checked_sub(1).and_then(|at| {
                    document.node(parent).children.get(at).copied()
                });
                if let Some(before) = before
                    && let Kind::Text(known) = &mut document.node_mut(before).kind
                {
                    known.push_str(&text);
                    return;
                }
                document.add(Kind::Text(text.to_string()))
            }
        };
        detach(&mut document, id);
        document.node_mut(id).parent = Some(parent);
        let children = &mut document.node_mut(parent).children;
        children.insert(at.min(children.len()), id);
    }
}

fn detach(document: &mut Document, id: NodeId) {
    if let Some(parent) = document.node_mut(id).parent.take() {
        document.node_mut(parent).children.retain(|child| *child != id);
    }
}

fn pairs(attributes: Vec<Attribute>) -> Vec<(Box<str>, Box<str>)> {
    let pair = |attribute: Attribute| {
        let name = match attribute.name.prefix {
            Some(prefix) => format!("{prefix}:{}", attribute.name.local).into(),
            None => Box::from(&*attribute.name.local),
        };
        (name, Box::from(&*attribute.value))
    };
    attributes.into_iter().map(pair).collect()
}

impl TreeSink for Sink {
    type Handle = NodeId;
    type Output = Document;
    type ElemName<'a> = Name;

    fn finish(self) -> Document {
        self.document.into_inner()
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        ROOT
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Name {
        let document = self.document.borrow();
        let (name, namespace) = document
            .element(*target)
            .map(|element| (&*element.name, &*element.namespace))
            .unwrap_or_default();
        Name(LocalName::from(name), Namespace::from(namespace))
    }

    fn create_element(
        &self,
        name: QualName,
        attributes: Vec<Attribute>,
        _: ElementFlags,
    ) -> NodeId {
        let element = Element {
            name: Box::from(&*name.local),
            namespace: Box::from(&*name.ns),
            attributes: pairs(attributes),
        };
        self.document.borrow_mut().add(Kind::Element(element))
    }

    fn create_comment(&self, text: StrTendril) -> NodeId {
        self.document.borrow_mut().add(Kind::Comment(text.to_string()))
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> NodeId {
        self.document.borrow_mut().add(Kind::Comment(format!("?{target} {data}")))
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        let at = self.document.borrow().node(*parent).children.len();
        self.insert(*parent, at, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &NodeId,
        previous: &NodeId,
        child: NodeOrText<NodeId>,
    ) {
        let has_parent = self.document.borrow().parent(*element).is_some();
        if has_parent {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, name: StrTendril, _: StrTendril, _: StrTendril) {
        let id = self.document.borrow_mut().add(Kind::Doctype(name.to_string()));
        self.append(&ROOT, NodeOrText::AppendNode(id));
    }

    /// What is in a template is simply below it.
    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        *target
    }

    fn same_node(&self, one: &NodeId, other: &NodeId) -> bool {
        one == other
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &NodeId, child: NodeOrText<NodeId>) {
        if let NodeOrText::AppendNode(id) = &child {
            detach(&mut self.document.borrow_mut(), *id);
        }
        let document = self.document.borrow();
        let Some(parent) = document.parent(*sibling) else { return };
        let children = &document.node(parent).children;
        let at = children.iter().position(|known| known == sibling).unwrap_or(children.len());
        drop(document);
        self.insert(parent, at, child);
    }

    fn add_attrs_if_missing(&self, target: &NodeId, attributes: Vec<Attribute>) {
        let mut document = self.document.borrow_mut();
        let Kind::Element(element) = &mut document.node_mut(*target).kind else { return };
        for (name, value) in pairs(attributes) {
            if element.attribute(&name).is_none() {
                element.attributes.push((name, value));
            }
        }
    }

    fn remove_from_parent(&self, target: &NodeId) {
        detach(&mut self.document.borrow_mut(), *target);
    }

    fn reparent_children(&self, node: &NodeId, parent: &NodeId) {
        let children = std::mem::take(&mut self.document.borrow_mut().node_mut(*node).children);
        for child in children {
            self.document.borrow_mut().node_mut(child).parent = None;
            self.append(parent, NodeOrText::AppendNode(child));
        }
    }
}
