//! How an engine finds the modules that its script imports.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::{Declarations, Declared, Exports, ModuleDef, WriteOptions};
use rquickjs::{
    Ctx, Error, Exception, Function, JsLifetime, Module, Object, Persistent, Result, Value,
};
use url::Url;

use crate::bundle::Compiled;
use crate::{Builtins, Bundle, commonjs, resolve, typescript};

/// What loading needs, found through the engine's context.
pub(crate) struct Registry {
    pub(crate) bundle: Arc<Bundle>,
    builtins: Rc<dyn Builtins>,
    made: RefCell<HashMap<String, Persistent<Object<'static>>>>,
}

// SAFETY: the type has no lifetime; the objects in it are kept by `Persistent`, which has none
// either.
#[allow(unsafe_code)]
unsafe impl<'js> JsLifetime<'js> for Registry {
    type Changed<'to> = Self;
}

impl Registry {
    pub(crate) fn new(bundle: Arc<Bundle>, builtins: Rc<dyn Builtins>) -> Self {
        Self { bundle, builtins, made: RefCell::default() }
    }

    /// The object of a built-in module, the same each time.
    fn builtin<'js>(&self, ctx: &Ctx<'js>, name: &str) -> Result<Object<'js>> {
        let known = self.made.borrow().get(name).cloned();
        if let Some(known) = known {
            return known.restore(ctx);
        }
        let made = self.builtins.make(ctx, name)?;
        self.made.borrow_mut().insert(name.to_owned(), Persistent::save(ctx, made.clone()));
        Ok(made)
    }

    /// The address of what is imported, or the name of a built-in module.
    fn resolve(&self, base: &str, specifier: &str) -> std::result::Result<String, String> {
        if self.builtins.has(specifier) {
            return Ok(specifier.to_owned());
        }
        if let Some(known) = self.bundle.resolved(base, specifier) {
            return Ok(known);
        }
        let url = Url::parse(base).unwrap_or_else(|_| self.bundle.entry().clone());
        let is_file = |path: &Path| self.bundle.is_file(path);
        let found = resolve::resolve(&url, specifier, &is_file).map(String::from)?;
        if !self.bundle.is_frozen() {
            self.bundle.add_resolved(base, specifier, &found);
        }
        Ok(found)
    }

    fn load<'js>(&self, ctx: &Ctx<'js>, url: &str) -> Result<Module<'js, Declared>> {
        if self.builtins.has(url) {
            return Module::declare_def::<Builtin, _>(ctx.clone(), url);
        }
        let module = match self.bundle.module(url) {
            Some(known) => load_compiled(ctx, &known)?,
            None => self.compile(ctx, url)?,
        };
        let meta = module.meta()?;
        meta.set("url", url)?;
        let base = url.to_owned();
        let resolve = move |ctx: Ctx<'js>, specifier: String| {
            with_registry(&ctx, |registry| {
                registry.resolve(&base, &specifier).map_err(|problem| {
                    Exception::throw_message(&ctx, &not_found(&specifier, &problem))
                })
            })
        };
        meta.set("resolve", Function::new(ctx.clone(), resolve)?)?;
        Ok(module)
    }

    fn compile<'js>(&self, ctx: &Ctx<'js>, url: &str) -> Result<Module<'js, Declared>> {
        let fail = |problem: &str| Exception::throw_message(ctx, &not_found(url, problem));
        if self.bundle.is_frozen() {
            let problem = "only what the first run of the script's top level imported can be \
                           imported later";
            return Err(fail(problem));
        }
        let text = self.bundle.text(url).map_err(|problem| fail(&problem))?;
        let (code, map, is_commonjs) = if url.ends_with(".json") {
            (format!("export default ({text}\n);"), None, true)
        } else {
            let translated = typescript::translate(url, &text)
                .map_err(|problem| Exception::throw_syntax(ctx, &format!("{url}: {problem}")))?;
            let code = if translated.is_commonjs {
                commonjs::wrap(&translated.code)
            } else {
                translated.code
            };
            (code, translated.map, translated.is_commonjs)
        };
        let module = Module::declare(ctx.clone(), url, code)?;
        let bytecode: Arc<[u8]> = module.write(WriteOptions::default())?.into();
        let compiled = Compiled { bytecode, map: map.map(Arc::new), is_commonjs };
        self.bundle.add_module(url, compiled);
        Ok(module)
    }
}

#[allow(unsafe_code)]
fn load_compiled<'js>(ctx: &Ctx<'js>, module: &Compiled) -> Result<Module<'js, Declared>> {
    // SAFETY: the bytes were written by `Module::write` of this very build of the engine and never
    // left this process. The engine may keep pointing into them: the bundle, which never gives a
    // module up, outlives it, see `Engine`.
    unsafe { Module::load(ctx.clone(), &module.bytecode) }
}

fn not_found(specifier: &str, problem: &str) -> String {
    format!("can't import \"{specifier}\": {problem}")
}

/// Calls with the engine's registry.
fn with_registry<'js, T>(ctx: &Ctx<'js>, call: impl FnOnce(&Registry) -> Result<T>) -> Result<T> {
    match ctx.userdata::<Registry>() {
        Some(registry) => call(&registry),
        None => Err(Error::Unknown),
    }
}

/// The resolver and loader given to the engine.
pub(crate) struct Imports;

impl Resolver for Imports {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        with_registry(ctx, |registry| {
            registry
                .resolve(base, name)
                .map_err(|problem| Exception::throw_message(ctx, &not_found(name, &problem)))
        })
    }
}

impl Loader for Imports {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        with_registry(ctx, |registry| registry.load(ctx, name))
    }
}

/// A built-in module: its object is the default export, the object's properties are named ones.
struct Builtin;

impl ModuleDef for Builtin {
    fn declare(declarations: &Declarations<'_>) -> Result<()> {
        let module = declarations.module();
        let name: String = module.name()?;
        let ctx = module.ctx();
        let object = with_registry(ctx, |registry| registry.builtin(ctx, &name))?;
        declarations.declare("default")?;
        for key in object.keys::<String>() {
            let key = key?;
            if key != "default" {
                declarations.declare(key)?;
            }
        }
        Ok(())
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let name: String = exports.module().name()?;
        let object = with_registry(ctx, |registry| registry.builtin(ctx, &name))?;
        for key in object.keys::<String>() {
            let key = key?;
            if key != "default" {
                let value: Value<'js> = object.get(&key)?;
                exports.export(key, value)?;
            }
        }
        exports.export("default", object)?;
        Ok(())
    }
}

/// The global function `require(name)`: a module's default export where it is CommonJS or built in,
/// else its namespace.
pub(crate) fn require<'js>(
    ctx: Ctx<'js>,
    name: String,
    base: rquickjs::prelude::Opt<String>,
) -> Result<Value<'js>> {
    let base =
        base.0.or_else(|| ctx.script_or_module_name(1).and_then(|atom| atom.to_string().ok()));
    let found = with_registry(&ctx, |registry| {
        registry
            .resolve(base.as_deref().unwrap_or(""), &name)
            .map_err(|problem| Exception::throw_message(&ctx, &not_found(&name, &problem)))
    })?;
    if with_registry(&ctx, |registry| Ok(registry.builtins.has(&found)))? {
        let object = with_registry(&ctx, |registry| registry.builtin(&ctx, &found))?;
        return Ok(object.into_value());
    }
    let promise = Module::import(&ctx, found.as_str())?;
    let namespace: Object<'js> = loop {
        match promise.result::<Object<'js>>() {
            Some(result) => break result?,
            None if ctx.execute_pending_job() => {}
            None => {
                let problem = "it waits at its top level, which only `import` can wait for";
                return Err(Exception::throw_message(&ctx, &not_found(&name, problem)));
            }
        }
    };
    let compiled = with_registry(&ctx, |registry| Ok(registry.bundle.module(&found)))?;
    if compiled.is_some_and(|module| module.is_commonjs) {
        namespace.get("default")
    } else {
        Ok(namespace.into_value())
    }
}
