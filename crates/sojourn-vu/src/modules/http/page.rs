//! What scripts do with an answer that is a page: look into it, follow its links, send its forms.

use sojourn_script::js::prelude::{Opt, This};
use sojourn_script::js::{self, Class, Ctx, Exception, Function, Object, Value};

use super::response::Response;
use crate::modules::{coerced, function, html};

type Own<'js> = This<Class<'js, Response>>;

/// Adds the methods to those of all answers.
pub(super) fn add<'js>(proto: &Object<'js>) -> js::Result<()> {
    function(proto, "html", |ctx: Ctx<'js>, own: Own<'js>, selector: Opt<Value<'js>>| {
        let found = own.0.borrow().page();
        let (text, url) = found.ok_or_else(|| {
            let told = "the body is null so we can't transform it to HTML - this likely was \
                            because of a request error getting the response";
            Exception::throw_message(&ctx, told)
        })?;
        let page = html::page(&ctx, &text, &url)?;
        match selector.0.filter(|selector| !selector.is_undefined()) {
            None => Ok(page),
            Some(selector) => {
                let page = page.into_object().ok_or(js::Error::Unknown)?;
                let find: Function<'js> = page.get("find")?;
                // A text, whatever is given: null is an empty one, which finds nothing.
                find.call((This(page), coerced::text(&ctx, &selector)?))
            }
        }
    })?;
    for name in ["clickLink", "submitForm"] {
        function(proto, name, move |ctx: Ctx<'js>, own: Own<'js>, asked: Opt<Value<'js>>| {
            let act: Function<'js> = html::functions(&ctx)?.get(name)?;
            let http = sojourn_script::built_in(&ctx, "k6/http")?;
            act.call::<_, Value<'js>>((http, own.0, asked.0))
        })?;
    }
    Ok(())
}
