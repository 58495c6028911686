//! A page as a tree: nodes in one list, known by their place in it.

/// A node's place.
pub(super) type NodeId = u32;

/// The document itself.
pub(super) const ROOT: NodeId = 0;

/// What a node is.
#[derive(Debug)]
pub(super) enum Kind {
    Document,
    Doctype(String),
    Text(String),
    Comment(String),
    Element(Element),
}

/// A tag.
#[derive(Debug)]
pub(super) struct Element {
    /// Of HTML in lower case.
    pub(super) name: Box<str>,
    pub(super) namespace: Box<str>,
    /// (name, value) in the order of the source.
    pub(super) attributes: Vec<(Box<str>, Box<str>)>,
}

impl Element {
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        attributes.find(|(known, _)| **known == *name).map(|(_, value)| &**value)
    }
}

/// One node.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) parent: Option<NodeId>,
    pub(super) children: Vec<NodeId>,
}

/// See the module's page.
#[derive(Debug)]
pub(super) struct Document {
    nodes: Vec<Node>,
}

impl Document {
    pub(super) fn empty() -> Self {
        let root = Node { kind: Kind::Document, parent: None, children: Vec::new() };
        Self { nodes: vec![root] }
    }

    /// A node of its own, without a parent.
    pub(super) fn add(&mut self, kind: Kind) -> NodeId {
        self.nodes.push(Node { kind, parent: None, children: Vec::new() });
        (self.nodes.len() - 1) as NodeId
    }

    /// The node, or the document where there is none such.
    pub(super) fn node(&self, id: NodeId) -> &Node {
        self.nodes.get(id as usize).unwrap_or(&self.nodes[0])
    }

    pub(super) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        let at = if (id as usize) < self.nodes.len() { id as usize } else { 0 };
        &mut self.nodes[at]
    }

    pub(super) fn element(&self, id: NodeId) -> Option<&Element> {
        match &self.node(id).kind {
            Kind::Element(element) => Some(element),
            _ => None,
        }
    }

    pub(super) fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).parent
    }

    /// The parent, if it is an element.
    pub(super) fn parent_element(&self, id: NodeId) -> Option<NodeId> {
        self.parent(id).filter(|parent| self.element(*parent).is_some())
    }

    /// The children that are elements.
    pub(super) fn elements(&self, id: NodeId) -> impl DoubleEndedIterator<Item = NodeId> {
        let children = self.node(id).children.iter().copied();
        children.filter(|child| self.element(*child).is_some())
    }

    /// Elements before this one that have the same parent, nearest first.
    pub(super) fn before(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        let parent = self.parent(id);
        let siblings = parent.map(|parent| &*self.node(parent).children).unwrap_or_default();
        let at = siblings.iter().position(|known| *known == id).unwrap_or(0);
        let elements = siblings[..at].iter().rev().copied();
        elements.filter(|sibling| self.element(*sibling).is_some())
    }

    /// Everything below a node, in the order of the source.
    pub(super) fn below(&self, id: NodeId) -> Below<'_> {
        let stack = self.node(id).children.iter().rev().copied().collect();
        Below { document: self, stack }
    }

    /// All text below a node, or its own.
    pub(super) fn text(&self, id: NodeId) -> String {
        let own = |id| match &self.node(id).kind {
            Kind::Text(text) => Some(text.as_str()),
            _ => None,
        };
        own(id).into_iter().chain(self.below(id).filter_map(own)).collect()
    }
}

/// Goes through the nodes below one, without recursion: pages nest as deep as they like.
pub(super) struct Below<'d> {
    document: &'d Document,
    stack: Vec<NodeId>,
}

impl Iterator for Below<'_> {
    type Item = NodeId;

    fn next(&mut self) -> Option<NodeId> {
        let next = self.stack.pop()?;
        self.stack.extend(self.document.node(next).children.iter().rev());
        Some(next)
    }
}
