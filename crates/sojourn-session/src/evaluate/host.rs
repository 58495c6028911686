//! What a script finds beside its own: the global `definition`, made by the prelude, a few scripts
//! of ours that run before it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use sojourn_plan::reading::suggestion;
use sojourn_script::js::context::EvalOptions;
use sojourn_script::js::object::Property;
use sojourn_script::js::{self, Ctx, Function, Object, Value};
use sojourn_script::{Builtins, Bundle, ScriptError};

use super::defines::Defines;
use super::places::Places;

/// A hidden global: the function that gives what was declared.
pub(super) const FINISH: &str = "__sojourn_session";

const PRELUDE: [(&str, &str); 5] = [
    ("sojourn:session/base.js", include_str!("prelude/base.js")),
    ("sojourn:session/sources.js", include_str!("prelude/sources.js")),
    ("sojourn:session/session.js", include_str!("prelude/session.js")),
    ("sojourn:session/definition.js", include_str!("prelude/definition.js")),
    ("sojourn:session/defines.js", include_str!("prelude/defines.js")),
];

/// See the module's page.
pub(super) struct Host {
    pub(super) bundle: Arc<Bundle>,
    pub(super) nonce: String,
    pub(super) defines: Defines,
    pub(super) places: Rc<RefCell<Places>>,
}

impl Builtins for Host {
    fn has(&self, _: &str) -> bool {
        false
    }

    fn make<'js>(&self, ctx: &Ctx<'js>, _: &str) -> js::Result<Object<'js>> {
        Object::new(ctx.clone())
    }

    fn globals<'js>(&self, ctx: &Ctx<'js>) -> js::Result<()> {
        let native = Object::new(ctx.clone())?;
        native.set("nonce", self.nonce.as_str())?;
        native.set("defines", self.defines.to_json())?;
        let (bundle, places) = (Arc::clone(&self.bundle), Rc::clone(&self.places));
        let place = move |ctx: Ctx<'js>, error: Value<'js>, called: String| {
            let stack = ScriptError::of_value(&ctx, &bundle, error).stack;
            // Never more than the prelude's own bounds of steps and values.
            places.borrow_mut().add(&stack, &called) as u32
        };
        native.set("place", Function::new(ctx.clone(), place)?)?;
        let suggest = |wrong: String, known: Vec<String>| {
            suggestion(&wrong, known.iter().map(String::as_str))
        };
        native.set("suggest", Function::new(ctx.clone(), suggest)?)?;
        let own = Object::new(ctx.clone())?;
        for (name, source) in PRELUDE {
            let mut options = EvalOptions::default();
            options.filename = Some(name.to_owned());
            let add: Function<'js> = ctx.eval_with_options(source, options)?;
            add.call::<_, ()>((own.clone(), native.clone()))?;
        }
        let globals = ctx.globals();
        globals.set("definition", own.get::<_, Value<'js>>("definition")?)?;
        let finish: Function<'js> = own.get("finish")?;
        globals.prop(FINISH, Property::from(finish))
    }
}
