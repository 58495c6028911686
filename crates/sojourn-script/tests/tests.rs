//! Scripts of several modules, run on fibers.

mod engine;
mod modules;

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use sojourn_script::js::{self, Ctx, Function, Object};
use sojourn_script::{
    Builtins, Bundle, Engine, Fiber, Inside, Limits, ScriptError, Sources, Stacks, suspend,
};

const STACK: usize = 256 * 1024;
const LIMITS: Limits = Limits { memory_bytes: 16 << 20, stack_bytes: 160 * 1024 };

/// A module `host` with functions that tests use.
struct Host;

impl Builtins for Host {
    fn has(&self, name: &str) -> bool {
        name == "host"
    }

    fn make<'js>(&self, ctx: &Ctx<'js>, _name: &str) -> js::Result<Object<'js>> {
        let module = Object::new(ctx.clone())?;
        module.set("twice", Function::new(ctx.clone(), |x: f64| 2.0 * x)?)?;
        module.set("pause", Function::new(ctx.clone(), suspend)?)?;
        Ok(module)
    }

    fn globals<'js>(&self, ctx: &Ctx<'js>) -> js::Result<()> {
        ctx.globals().set("answer", 42)
    }
}

/// Files in a folder of their own.
struct Scripts(tempfile::TempDir);

impl Scripts {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("folder")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

fn bundle(path: &Path) -> Arc<Bundle> {
    Bundle::new(path, Sources::default()).expect("the file is there")
}

/// Runs `body` in an engine of the bundle's, on a fiber, to its end; how often it was suspended.
fn run(bundle: &Arc<Bundle>, body: impl for<'js> FnOnce(&Inside<'_, 'js>) + 'static) -> usize {
    let bundle = Arc::clone(bundle);
    let stacks = Stacks::new(STACK);
    let mut fiber = Fiber::new(stacks.take().expect("memory"), move || {
        let engine = Engine::new(&bundle, Rc::new(Host), LIMITS, || false).expect("an engine");
        engine.enter(body);
    });
    let mut suspensions = 0;
    while !fiber.resume() {
        suspensions += 1;
    }
    suspensions
}

/// What the entry's default export returns, as text.
fn result(bundle: &Arc<Bundle>) -> Result<String, ScriptError> {
    let told = Rc::new(std::cell::RefCell::new(None));
    let tell = Rc::clone(&told);
    run(bundle, move |inside| {
        *tell.borrow_mut() = Some(call_default(inside));
    });
    told.take().expect("it ran")
}

fn call_default(inside: &Inside<'_, '_>) -> Result<String, ScriptError> {
    let exports = inside.evaluate(&mut || false)?;
    let call = || exports.get::<_, Function<'_>>("default")?.call::<_, String>(());
    call().map_err(|error| inside.caught(error))
}
