//! A schema, from its JSON to a table that data can be read by.

use std::collections::HashMap;

use serde_json::Value;

/// A schema with everything that it names.
#[derive(Clone, Debug)]
pub struct Schema {
    /// Nodes name each other by index, so that a schema may contain itself.
    pub(crate) nodes: Vec<Node>,
    pub(crate) root: usize,
    /// Full names of named types, by their places.
    pub(crate) names: HashMap<usize, String>,
    /// What fields are that data leave out: by the record's place and the field's number.
    pub(crate) defaults: HashMap<(usize, usize), Value>,
}

/// What stands in one place.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Null,
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    Text,
    Record {
        name: String,
        fields: Vec<(String, usize)>,
    },
    Enum(Vec<String>),
    Array(usize),
    Map(usize),
    Union(Vec<usize>),
    Fixed(usize),
    /// Bytes, or a fixed number of them, that are a number with so many decimals.
    Decimal {
        scale: u32,
        size: Option<usize>,
    },
    /// Sixteen bytes.
    Uuid,
    /// Months, days and milliseconds in twelve bytes.
    Duration,
}

const PRIMITIVES: [(&str, Node); 8] = [
    ("null", Node::Null),
    ("boolean", Node::Boolean),
    ("int", Node::Int),
    ("long", Node::Long),
    ("float", Node::Float),
    ("double", Node::Double),
    ("bytes", Node::Bytes),
    ("string", Node::Text),
];

impl Schema {
    /// Reads a schema's JSON. Errs in words that say where in the schema.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::parse_all(&[text])
    }

    /// Reads several schemas, each of which may name what earlier ones define; the last one is that
    /// of the data.
    pub fn parse_all<T: AsRef<str>>(texts: &[T]) -> Result<Self, String> {
        let nodes: Vec<Node> = PRIMITIVES.iter().map(|(_, node)| node.clone()).collect();
        let mut parser = Parser { nodes, names: HashMap::new(), defaults: HashMap::new() };
        let mut root = None;
        for text in texts {
            let text = text.as_ref();
            // The registry and some files have a bare name instead of a JSON text.
            let json = serde_json::from_str(text).or_else(|error| {
                match PRIMITIVES.iter().any(|(name, _)| *name == text.trim()) {
                    true => Ok(Value::String(text.trim().to_owned())),
                    false => Err(format!("the schema is not JSON: {error}")),
                }
            })?;
            root = Some(parser.node(&json, "")?);
        }
        let root = root.ok_or("no schema")?;
        let names = parser.names.into_iter().map(|(name, place)| (place, name)).collect();
        Ok(Self { nodes: parser.nodes, root, names, defaults: parser.defaults })
    }

    /// The full name of the record that the data are, where they can be no other.
    pub fn name(&self) -> Option<&str> {
        match self.nodes.get(self.root) {
            Some(Node::Record { name, .. }) => Some(name),
            _ => None,
        }
    }

    /// Whether the data are changes of rows as Debezium writes them.
    pub fn is_change(&self) -> bool {
        let Some(Node::Record { fields, .. }) = self.nodes.get(self.root) else {
            return false;
        };
        let has = |wanted: &str| fields.iter().any(|(name, _)| name == wanted);
        has("op") && has("source") && (has("after") || has("before"))
    }
}

struct Parser {
    nodes: Vec<Node>,
    /// Named types by their full names.
    names: HashMap<String, usize>,
    defaults: HashMap<(usize, usize), Value>,
}

impl Parser {
    /// Recursion is bounded by the depth that JSON may have.
    fn node(&mut self, json: &Value, namespace: &str) -> Result<usize, String> {
        match json {
            Value::String(name) => self.named(name, namespace),
            Value::Array(branches) => {
                let branches = branches.iter().map(|branch| self.node(branch, namespace));
                let branches = branches.collect::<Result<Vec<_>, _>>()?;
                Ok(self.add(Node::Union(branches)))
            }
            Value::Object(fields) => match fields.get("type") {
                Some(Value::String(kind)) => self.of_kind(kind, json, namespace),
                Some(inner) => self.node(inner, namespace),
                None => Err("a schema without `type`".to_owned()),
            },
            other => Err(format!("`{other}` is not a schema")),
        }
    }

    fn named(&self, name: &str, namespace: &str) -> Result<usize, String> {
        if let Some(primitive) = PRIMITIVES.iter().position(|(known, _)| *known == name) {
            return Ok(primitive);
        }
        let within = (!name.contains('.') && !namespace.is_empty())
            .then(|| self.names.get(&format!("{namespace}.{name}")))
            .flatten();
        let found = within.or_else(|| self.names.get(name)).copied();
        found.ok_or_else(|| format!("the schema names `{name}`, which it does not define"))
    }

    fn of_kind(&mut self, kind: &str, json: &Value, namespace: &str) -> Result<usize, String> {
        let logical = json["logicalType"].as_str();
        let node = match (kind, logical) {
            ("array", _) => Node::Array(self.inner(json, "items", namespace)?),
            ("map", _) => Node::Map(self.inner(json, "values", namespace)?),
            ("record" | "error", _) => return self.record(json, namespace),
            ("enum", _) => {
                let symbols = json["symbols"].as_array().ok_or("an enum without `symbols`")?;
                let symbols = symbols.iter().map(|symbol| symbol.as_str().map(str::to_owned));
                let symbols = symbols.collect::<Option<_>>().ok_or("a symbol that is no text")?;
                return self.define(json, namespace, Node::Enum(symbols)).map(|(place, _)| place);
            }
            ("fixed", logical) => {
                let size = json["size"].as_u64().and_then(|size| usize::try_from(size).ok());
                let size = size.ok_or("a fixed without `size`")?;
                let node = match logical {
                    Some("decimal") => Node::Decimal { scale: scale(json)?, size: Some(size) },
                    Some("uuid") if size == 16 => Node::Uuid,
                    Some("duration") if size == 12 => Node::Duration,
                    _ => Node::Fixed(size),
                };
                return self.define(json, namespace, node).map(|(place, _)| place);
            }
            ("bytes", Some("decimal")) => Node::Decimal { scale: scale(json)?, size: None },
            (name, _) => return self.named(name, namespace),
        };
        Ok(self.add(node))
    }

    fn record(&mut self, json: &Value, namespace: &str) -> Result<usize, String> {
        // Known before its fields are, since they may be of it.
        let (place, name) = self.define(json, namespace, Node::Null)?;
        let namespace = name.rsplit_once('.').map_or("", |(namespace, _)| namespace);
        let declared = json["fields"].as_array();
        let declared = declared.ok_or_else(|| format!("record `{name}` without `fields`"))?;
        let mut fields = Vec::with_capacity(declared.len());
        for field in declared {
            let field_name = field["name"].as_str();
            let field_name =
                field_name.ok_or_else(|| format!("a field without a name in `{name}`"))?;
            let kind = self.inner(field, "type", namespace);
            let kind =
                kind.map_err(|error| format!("field `{field_name}` of `{name}`: {error}"))?;
            if let Some(default) = field.get("default") {
                self.defaults.insert((place, fields.len()), default.clone());
            }
            fields.push((field_name.to_owned(), kind));
        }
        self.nodes[place] = Node::Record { name: name.clone(), fields };
        Ok(place)
    }

    fn inner(&mut self, json: &Value, field: &str, namespace: &str) -> Result<usize, String> {
        let inner = json.get(field).ok_or_else(|| format!("a schema without `{field}`"))?;
        self.node(inner, namespace)
    }

    /// Adds a named type; its place and its full name.
    fn define(
        &mut self,
        json: &Value,
        namespace: &str,
        node: Node,
    ) -> Result<(usize, String), String> {
        let name = json["name"].as_str().ok_or("a named type without `name`")?;
        let namespace = json["namespace"].as_str().unwrap_or(namespace);
        let full = match name.contains('.') || namespace.is_empty() {
            true => name.to_owned(),
            false => format!("{namespace}.{name}"),
        };
        let place = self.add(node);
        if self.names.insert(full.clone(), place).is_some() {
            return Err(format!("the schema defines `{full}` twice"));
        }
        Ok((place, full))
    }

    fn add(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }
}

/// Most decimals: a text is as long.
const SCALE_MAX: u64 = 1_000;

fn scale(json: &Value) -> Result<u32, String> {
    let scale = match json.get("scale") {
        None => 0,
        Some(scale) => scale
            .as_u64()
            .filter(|scale| *scale <= SCALE_MAX)
            .ok_or_else(|| format!("`{scale}` is no scale of a decimal: 0 to {SCALE_MAX}"))?,
    };
    // Just bounded.
    Ok(scale as u32)
}
