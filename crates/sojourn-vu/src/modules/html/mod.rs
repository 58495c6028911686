//! `k6/html`: pages, looked into as jQuery does.
//!
//! `parse` makes a tree of a page, `selector` and `matching` find elements in it. What scripts call
//! (`selection.js`, `element.js`) asks the tree by nodes' numbers; it is made when a user's script
//! first parses a page.

mod document;
mod matching;
mod parse;
mod render;
mod selector;

use sojourn_script::js::class::{JsClass, Readable, Trace, Tracer};
use sojourn_script::js::function::Constructor;
use sojourn_script::js::prelude::This;
use sojourn_script::js::{
    self, Class, Ctx, Exception, Function, IntoJs, JsLifetime, Object, Value,
};
use url::{Url, form_urlencoded};

use self::document::{Document, Kind, NodeId};
use super::coerced::{self, Any, Text};
use super::{bytes, function, go_type};

/// A hidden global: the functions that the scripts in this folder make.
const MADE: &str = "__sojourn_html";

pub(super) fn make<'js>(ctx: &Ctx<'js>) -> js::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    function(&module, "parseHTML", |ctx: Ctx<'js>, page: Any<'js>| {
        let text = match bytes::of(&page.0) {
            Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            None => coerced::text(&ctx, &page.0)?,
        };
        self::page(&ctx, &text, "")
    })?;
    Ok(module)
}

/// The selection that is the whole page. Links in it are relative to `url`, if that is not empty.
pub(crate) fn page<'js>(ctx: &Ctx<'js>, text: &str, url: &str) -> js::Result<Value<'js>> {
    let page = Class::instance(ctx.clone(), Page(parse::parse(text)))?;
    let select: Function<'js> = functions(ctx)?.get("page")?;
    select.call((page, url))
}

/// `page(page, url)`, `clickLink(response, …)`, `submitForm(response, …)`.
pub(crate) fn functions<'js>(ctx: &Ctx<'js>) -> js::Result<Object<'js>> {
    let globals = ctx.globals();
    let known: Option<Object<'js>> = globals.get(MADE)?;
    if let Some(known) = known {
        return Ok(known);
    }
    let own = Object::new(ctx.clone())?;
    let sources =
        [include_str!("element.js"), include_str!("selection.js"), include_str!("form.js")];
    let native = Object::new(ctx.clone())?;
    function(&native, "address", |ctx: Ctx<'js>, url: String, base: String| {
        address(&ctx, &url, &base)
    })?;
    function(&native, "type", |ctx: Ctx<'js>, value: Any<'js>| go_type::name(&ctx, &value.0))?;
    function(&native, "encode", |pairs: Vec<Vec<String>>| encode(&pairs))?;
    for source in sources {
        let add: Function<'js> = ctx.eval(source)?;
        add.call::<_, ()>((own.clone(), native.clone()))?;
    }
    globals.prop(MADE, js::object::Property::from(own.clone()))?;
    Ok(own)
}

/// A form's values as a query.
fn encode(pairs: &[Vec<String>]) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for pair in pairs {
        if let [name, value] = &pair[..] {
            query.append_pair(name, value);
        }
    }
    query.finish()
}

/// The parts of a URL, which may be relative to `base`; null if it is none.
fn address<'js>(ctx: &Ctx<'js>, url: &str, base: &str) -> js::Result<Value<'js>> {
    let read = Url::parse(base).map_or_else(|_| Url::parse(url), |base| base.join(url));
    let parts = Object::new(ctx.clone())?;
    let Ok(url) = read else { return Ok(Value::new_null(ctx.clone())) };
    let prefixed = |sign: &str, text: Option<&str>| {
        text.filter(|text| !text.is_empty())
            .map_or_else(String::new, |text| format!("{sign}{text}"))
    };
    let port = url.port().map(|port| port.to_string()).unwrap_or_default();
    let hostname = url.host_str().unwrap_or_default();
    parts.set("href", url.as_str())?;
    parts.set("protocol", format!("{}:", url.scheme()))?;
    parts.set("username", url.username())?;
    parts.set("password", url.password().unwrap_or_default())?;
    parts.set("hostname", hostname)?;
    parts.set("host", format!("{hostname}{}", prefixed(":", Some(&port))))?;
    parts.set("port", port)?;
    parts.set("origin", url.origin().ascii_serialization())?;
    parts.set("pathname", url.path())?;
    parts.set("search", prefixed("?", url.query()))?;
    parts.set("hash", prefixed("#", url.fragment()))?;
    Ok(parts.into_value())
}

/// A page, for the scripts of this folder.
struct Page(Document);

impl<'js> Trace<'js> for Page {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

// SAFETY: nothing in it has the lifetime of an engine.
#[allow(unsafe_code)]
unsafe impl<'js> JsLifetime<'js> for Page {
    type Changed<'to> = Self;
}

type Own<'js> = This<Class<'js, Page>>;

impl<'js> JsClass<'js> for Page {
    const NAME: &'static str = "Page";
    type Mutable = Readable;

    fn prototype(ctx: &Ctx<'js>) -> js::Result<Option<Object<'js>>> {
        let proto = Object::new(ctx.clone())?;
        function(&proto, "find", |ctx: Ctx<'js>, own: Own<'js>, id: NodeId, what: Text| {
            let list = read(&ctx, &what.0)?;
            let document = &own.0.borrow().0;
            let below = document.below(id);
            Ok::<_, js::Error>(
                below.filter(|id| matching::fits(document, *id, &list)).collect::<Vec<_>>(),
            )
        })?;
        function(&proto, "fits", |ctx: Ctx<'js>, own: Own<'js>, ids: Vec<NodeId>, what: Text| {
            let list = read(&ctx, &what.0)?;
            let document = &own.0.borrow().0;
            let fitting = ids.into_iter().filter(|id| matching::fits(document, *id, &list));
            Ok::<_, js::Error>(fitting.collect::<Vec<_>>())
        })?;
        function(&proto, "type", |own: Own<'js>, id: NodeId| node_type(&own.0.borrow().0, id))?;
        function(&proto, "name", |own: Own<'js>, id: NodeId| name(&own.0.borrow().0, id))?;
        function(&proto, "namespace", |own: Own<'js>, id: NodeId| {
            own.0.borrow().0.element(id).map(|element| element.namespace.to_string())
        })?;
        function(&proto, "value", |own: Own<'js>, id: NodeId| {
            match &own.0.borrow().0.node(id).kind {
                Kind::Text(text) | Kind::Comment(text) => Some(text.clone()),
                _ => None,
            }
        })?;
        function(&proto, "attribute", |ctx: Ctx<'js>, own: Own<'js>, id: NodeId, name: Text| {
            let page = own.0.borrow();
            let found = page.0.element(id).and_then(|element| element.attribute(&name.0));
            match found {
                Some(value) => value.into_js(&ctx),
                None => Ok(Value::new_undefined(ctx)),
            }
        })?;
        function(&proto, "attributes", |own: Own<'js>, id: NodeId| {
            let page = own.0.borrow();
            let attributes = page.0.element(id).map(|element| &*element.attributes);
            let pair =
                |(name, value): &(Box<str>, Box<str>)| vec![name.to_string(), value.to_string()];
            attributes.unwrap_or_default().iter().map(pair).collect::<Vec<_>>()
        })?;
        function(&proto, "parent", |own: Own<'js>, id: NodeId| own.0.borrow().0.parent(id))?;
        function(&proto, "children", |own: Own<'js>, id: NodeId| {
            own.0.borrow().0.node(id).children.clone()
        })?;
        function(&proto, "elements", |own: Own<'js>, id: NodeId| {
            own.0.borrow().0.elements(id).collect::<Vec<_>>()
        })?;
        function(&proto, "text", |own: Own<'js>, id: NodeId| own.0.borrow().0.text(id))?;
        function(&proto, "inner", |own: Own<'js>, id: NodeId| {
            render::inner(&own.0.borrow().0, id)
        })?;
        function(&proto, "outer", |own: Own<'js>, id: NodeId| {
            render::outer(&own.0.borrow().0, id)
        })?;
        Ok(Some(proto))
    }

    fn constructor(_: &Ctx<'js>) -> js::Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

fn read(ctx: &Ctx<'_>, what: &str) -> js::Result<selector::List> {
    selector::parse(what).map_err(|problem| Exception::throw_message(ctx, &problem))
}

/// The numbers of the DOM.
fn node_type(document: &Document, id: NodeId) -> u8 {
    match document.node(id).kind {
        Kind::Element(_) => 1,
        Kind::Text(_) => 3,
        Kind::Comment(_) => 8,
        Kind::Document => 9,
        Kind::Doctype(_) => 10,
    }
}

fn name(document: &Document, id: NodeId) -> String {
    match &document.node(id).kind {
        Kind::Element(element) => element.name.to_string(),
        Kind::Text(_) => "#text".to_owned(),
        Kind::Comment(_) => "#comment".to_owned(),
        Kind::Document => "#document".to_owned(),
        Kind::Doctype(name) => name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_encoded() {
        let pair = |name: &str, value: &str| vec![name.to_owned(), value.to_owned()];
        assert_eq!(encode(&[pair("q", "x y"), pair("é", "&")]), "q=x+y&%C3%A9=%26");
        assert_eq!(name(&Document::empty(), document::ROOT), "#document");
    }
}
