//! How an engine finds the modules that its script imports.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use rquickjs::function::This;
use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::{Declarations, Declared, Exports, ModuleDef, WriteOptions};
use rquickjs::{
    Ctx, Error, Exception, Function, JsLifetime, Module, Object, Persistent, Promise, Result, Value,
};
use url::Url;

use crate::bundle::Compiled;
use crate::names::Reading;
use crate::source_map::{self, SourceMap};
use crate::{Builtins, Bundle, commonjs, facade, resolve, typescript};

/// What loading needs, found through the engine's context.
pub(crate) struct Registry {
    pub(crate) bundle: Arc<Bundle>,
    builtins: Rc<dyn Builtins>,
    made: RefCell<HashMap<String, Persistent<Object<'static>>>>,
    /// Modules that were read and not yet compiled.
    translated: RefCell<HashMap<String, Source>>,
    /// How deep the stack was at each `require` under way.
    requiring: RefCell<Vec<isize>>,
}

/// A module's text as the engine compiles it, and the way back.
struct Source {
    code: String,
    map: Option<SourceMap>,
}

// SAFETY: the type has no lifetime; the objects in it are kept by `Persistent`, which has none
// either.
#[allow(unsafe_code)]
unsafe impl<'js> JsLifetime<'js> for Registry {
    type Changed<'to> = Self;
}

impl Registry {
    pub(crate) fn new(bundle: Arc<Bundle>, builtins: Rc<dyn Builtins>) -> Self {
        Self {
            bundle,
            builtins,
            made: RefCell::default(),
            translated: RefCell::default(),
            requiring: RefCell::default(),
        }
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

    /// The name under which the engine knows what is imported: an address, or a facade's.
    fn name<'js>(&self, ctx: &Ctx<'js>, base: &str, specifier: &str) -> Result<String> {
        if let Some(address) = specifier.strip_prefix(facade::AS_IT_IS) {
            return Ok(address.to_owned());
        }
        let found = self
            .resolve(base, specifier)
            .map_err(|problem| Exception::throw_message(ctx, &not_found(specifier, &problem)))?;
        if facade::is_facade(base) {
            return Ok(found);
        }
        let key = facade::key(base, specifier);
        if self.bundle.facade(&key).is_some() {
            return Ok(key);
        }
        if !self.bundle.is_frozen()
            && let Some(source) = self.facade(ctx, base, specifier, &found)?
        {
            let module = Module::declare(ctx.clone(), key.as_str(), source)?;
            self.bundle.add_facade(&key, compiled(&module, None, false)?);
            return Ok(key);
        }
        Ok(found)
    }

    /// The source of the facade between the module at `base` and what it imports, where there has
    /// to be one.
    fn facade<'js>(
        &self,
        ctx: &Ctx<'js>,
        base: &str,
        specifier: &str,
        found: &str,
    ) -> Result<Option<String>> {
        let asked = self.bundle.reading(base).map(|reading| reading.asked(specifier));
        let asked = asked.unwrap_or_default();
        if self.builtins.has(found) {
            if asked.named.is_empty() {
                return Ok(None);
            }
            let object = self.builtin(ctx, found)?;
            let known: HashSet<String> = object.keys::<String>().collect::<Result<_>>()?;
            let is_missing = |name: &String| name != "default" && !known.contains(name);
            let missing: Vec<_> = asked.named.into_iter().filter(is_missing).collect();
            for name in &missing {
                self.builtins.warn(&format!(
                    "{base} imports {{ {name} }} from \"{specifier}\", which has no {name}: it is \
                     undefined"
                ));
            }
            return Ok((!missing.is_empty()).then(|| facade::of_builtin(found, &missing)));
        }
        if found.ends_with(".json") {
            return Ok(None);
        }
        let reading = self.read(ctx, found)?;
        let is_commonjs = reading.is_commonjs;
        Ok(is_commonjs.then(|| facade::of_commonjs(found, &reading.given, &asked)))
    }

    /// Reads a module's text, unless that was done before; what it says about names.
    fn read(&self, ctx: &Ctx<'_>, url: &str) -> Result<Arc<Reading>> {
        if let Some(known) = self.bundle.reading(url) {
            return Ok(known);
        }
        let fail = |problem: &str| Exception::throw_message(ctx, &not_found(url, problem));
        let text = self.bundle.text(url).map_err(|problem| fail(&problem))?;
        let (source, reading) = if url.ends_with(".json") {
            let reading = Reading { is_commonjs: true, ..Reading::default() };
            (Source { code: format!("export default ({text}\n);"), map: None }, reading)
        } else {
            let translated = typescript::translate(url, &text)
                .map_err(|problem| Exception::throw_syntax(ctx, &format!("{url}: {problem}")))?;
            let code = if translated.reading.is_commonjs {
                commonjs::wrap(&translated.code)
            } else {
                translated.code
            };
            let map = translated.map.or_else(|| self.source_map(url, &text));
            (Source { code, map }, translated.reading)
        };
        self.translated.borrow_mut().insert(url.to_owned(), source);
        self.bundle.add_reading(url, reading);
        self.bundle.reading(url).ok_or(Error::Unknown)
    }

    /// The map that the text names. Without it positions are those of what runs, which is told.
    fn source_map(&self, url: &str, text: &str) -> Option<SourceMap> {
        let named = source_map::named(text)?;
        let read = self.bundle.source_map(url, named);
        read.inspect_err(|problem| {
            let problem =
                format!("Couldn't load source map for {url}: {problem}; errors show its own lines");
            self.builtins.warn(&problem);
        })
        .ok()
    }

    fn load<'js>(&self, ctx: &Ctx<'js>, url: &str) -> Result<Module<'js, Declared>> {
        if let Some(known) = self.bundle.facade(url) {
            return load_compiled(ctx, &known);
        }
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
        let is_commonjs = self.read(ctx, url)?.is_commonjs;
        // Another engine may have read it, and failed to compile it; none does now.
        let source = self.translated.borrow_mut().remove(url).ok_or(Error::Unknown)?;
        let module = Module::declare(ctx.clone(), url, source.code)?;
        self.bundle.add_module(url, compiled(&module, source.map, is_commonjs)?);
        Ok(module)
    }
}

fn compiled(
    module: &Module<'_, Declared>,
    map: Option<SourceMap>,
    is_commonjs: bool,
) -> Result<Compiled> {
    let bytecode: Arc<[u8]> = module.write(WriteOptions::default())?.into();
    Ok(Compiled { bytecode, map: map.map(Arc::new), is_commonjs })
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
        with_registry(ctx, |registry| registry.name(ctx, base, name))
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

/// Whoever asked for the promise looks at what it comes to: a rejection is nobody else's.
pub(crate) fn handled(promise: &Promise<'_>) -> Result<()> {
    let nothing = Function::new(promise.ctx().clone(), || ())?;
    promise.catch()?.call((This(promise.clone()), nothing))
}

/// The global function `require(name)`: a module's default export where it is CommonJS or built in,
/// else its namespace.
pub(crate) fn require<'js>(
    ctx: Ctx<'js>,
    name: String,
    base: rquickjs::prelude::Opt<String>,
) -> Result<Value<'js>> {
    with_registry(&ctx, |registry| registry.builtins.may_require(&ctx))?;
    // Functions of ours have no place on the engine's stack: the first one is the caller's.
    let base =
        base.0.or_else(|| ctx.script_or_module_name(0).and_then(|atom| atom.to_string().ok()));
    let found = with_registry(&ctx, |registry| {
        registry
            .resolve(base.as_deref().unwrap_or(""), &name)
            .map_err(|problem| Exception::throw_message(&ctx, &not_found(&name, &problem)))
    })?;
    if with_registry(&ctx, |registry| Ok(registry.builtins.has(&found)))? {
        let object = with_registry(&ctx, |registry| registry.builtin(&ctx, &found))?;
        return Ok(object.into_value());
    }
    let depth = depth(&ctx);
    with_registry(&ctx, |registry| {
        registry.requiring.borrow_mut().push(depth);
        Ok(())
    })?;
    let evaluated = evaluated(&ctx, &name, &found);
    with_registry(&ctx, |registry| Ok(registry.requiring.borrow_mut().pop()))?;
    let namespace = evaluated?;
    let compiled = with_registry(&ctx, |registry| Ok(registry.bundle.module(&found)))?;
    if compiled.is_some_and(|module| module.is_commonjs) {
        namespace.get("default")
    } else {
        Ok(namespace.into_value())
    }
}

/// A module that the host has, for the host's own use: whenever, and without resolving.
pub fn built_in<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Object<'js>> {
    with_registry(ctx, |registry| registry.builtin(ctx, name))
}

/// The namespace of a module that `require` names.
fn evaluated<'js>(ctx: &Ctx<'js>, name: &str, address: &str) -> Result<Object<'js>> {
    let promise = Module::import(ctx, format!("{}{address}", facade::AS_IT_IS))?;
    handled(&promise)?;
    loop {
        match promise.result::<Object<'js>>() {
            Some(result) => return result,
            None if ctx.execute_pending_job() => {}
            None => {
                let problem = "it waits at its top level, which only `import` can wait for";
                return Err(Exception::throw_message(ctx, &not_found(name, problem)));
            }
        }
    }
}

/// Most calls that are looked through, and most of the engine's own in a row: it does not tell
/// these from the end.
const CALLS_MAX: isize = 512;
const OWN_CALLS_MAX: isize = 32;

/// How many calls are under way.
fn depth(ctx: &Ctx<'_>) -> isize {
    let (mut depth, mut level) = (0, 0);
    while level < (depth + OWN_CALLS_MAX).min(CALLS_MAX) {
        level += 1;
        if ctx.script_or_module_name(level - 1).is_some() {
            depth = level;
        }
    }
    depth
}

/// The address of the module whose function calls one of ours.
pub fn calling(ctx: &Ctx<'_>) -> Option<String> {
    ctx.script_or_module_name(0)?.to_string().ok()
}

/// The address of the module that began what runs: the one that is evaluated, or of which a timer
/// calls a function.
pub fn begun_in(ctx: &Ctx<'_>) -> Option<String> {
    let requiring = with_registry(ctx, |registry| Ok(registry.requiring.borrow().last().copied()));
    let before = requiring.ok().flatten().unwrap_or(0);
    let mut level = depth(ctx) - before;
    while level > 0 {
        level -= 1;
        if let Some(name) = ctx.script_or_module_name(level) {
            return name.to_string().ok();
        }
    }
    None
}
