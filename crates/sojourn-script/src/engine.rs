//! One JavaScript engine: a runtime of its own, its globals, and a way in.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::sync::Arc;

use rquickjs::promise::PromiseState;
use rquickjs::{Context, Ctx, Function, Module, Object, Persistent, Runtime, Value};

use crate::facade;
use crate::heap::Heap;
use crate::intrinsics;
use crate::loader::{self, Imports, Registry};
use crate::{Builtins, Bundle, ScriptError};

/// What one engine may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most memory for the script's values, bytes. Beyond it allocations throw.
    pub memory_bytes: usize,
    /// Most stack, bytes: well below what the fiber has, since calls into our own functions and the
    /// report of an overflow need some too. Beyond it calls throw.
    pub stack_bytes: usize,
}

/// An engine. Made, used and dropped on the same stack; see the crate's page.
pub struct Engine {
    context: ManuallyDrop<Context>,
    rejections: ManuallyDrop<Rejections>,
    runtime: ManuallyDrop<Runtime>,
    /// Bytecode that the runtime may point into.
    bundle: ManuallyDrop<Arc<Bundle>>,
    /// The script's top level waits for something that never comes.
    is_stuck: Cell<bool>,
}

impl Drop for Engine {
    fn drop(&mut self) {
        // QuickJS-ng 0.16 writes into memory that it has freed when a runtime is freed whose
        // module still awaits something. Such an engine is left as it is: it is one of a test that
        // ends with an error before it has begun.
        if self.is_stuck.get() {
            return;
        }
        // SAFETY: nothing uses them after this, and each is dropped once. The runtime goes after
        // all that points into it, its bytecode last.
        #[allow(unsafe_code)]
        unsafe {
            ManuallyDrop::drop(&mut self.context);
            ManuallyDrop::drop(&mut self.rejections);
            ManuallyDrop::drop(&mut self.runtime);
            ManuallyDrop::drop(&mut self.bundle);
        }
    }
}

type Rejections = Rc<RefCell<Vec<(Persistent<Value<'static>>, ScriptError)>>>;

/// Most rejections remembered between two looks.
const REJECTIONS_MAX: usize = 16;

impl Engine {
    /// An engine for the bundle's script; none of it has run. `interrupt` is asked now and then
    /// while the script runs: true stops it, with an error that it cannot catch. Fails when there
    /// is no memory.
    pub fn new(
        bundle: &Arc<Bundle>,
        builtins: Rc<dyn Builtins>,
        limits: Limits,
        interrupt: impl FnMut() -> bool + 'static,
    ) -> Result<Self, ScriptError> {
        let failed = |error: rquickjs::Error| {
            ScriptError::load(format!("the JavaScript engine can't be made: {error}"))
        };
        let runtime = Runtime::new_with_alloc(Heap).map_err(failed)?;
        runtime.set_max_stack_size(limits.stack_bytes);
        runtime.set_memory_limit(limits.memory_bytes);
        runtime.set_interrupt_handler(Some(Box::new(interrupt)));
        runtime.set_loader(Imports, Imports);
        let rejections = Rejections::default();
        track_rejections(&runtime, &rejections, bundle);
        let context = intrinsics::context(&runtime).map_err(failed)?;
        let engine = Self {
            context: ManuallyDrop::new(context),
            rejections: ManuallyDrop::new(rejections),
            runtime: ManuallyDrop::new(runtime),
            bundle: ManuallyDrop::new(Arc::clone(bundle)),
            is_stuck: Cell::new(false),
        };
        let globals = Rc::clone(&builtins);
        engine.context.with(|ctx| {
            let registry = Registry::new(Arc::clone(bundle), builtins);
            let stored = ctx.store_userdata(registry).is_ok();
            debug_assert!(stored, "nothing reads the registry yet");
            let set = || -> rquickjs::Result<()> {
                ctx.globals().set("require", Function::new(ctx.clone(), loader::require)?)?;
                globals.globals(&ctx)
            };
            set().map_err(|error| ScriptError::caught(&ctx, bundle, error))
        })?;
        Ok(engine)
    }

    /// Runs `body` in the engine. Must not be called again from within.
    pub fn enter<T>(&self, body: impl for<'js> FnOnce(&Inside<'_, 'js>) -> T) -> T {
        self.context.with(|ctx| body(&Inside { engine: self, ctx: &ctx }))
    }

    /// Bytes that the engine has allocated.
    pub fn memory_bytes(&self) -> u64 {
        self.runtime.memory_usage().malloc_size.unsigned_abs()
    }
}

/// An engine that has been entered.
pub struct Inside<'e, 'js> {
    engine: &'e Engine,
    /// The engine's context, for everything that handles values.
    pub ctx: &'e Ctx<'js>,
}

impl<'js> Inside<'_, 'js> {
    /// Runs the script's top level and gives what it exports (of CommonJS, `module.exports`).
    /// `wait` is called while the top level awaits something: it returns when something may have
    /// come, or false when nothing ever will.
    pub fn evaluate(&self, wait: &mut dyn FnMut() -> bool) -> Result<Object<'js>, ScriptError> {
        let url = self.engine.bundle.entry().as_str();
        let caught = |error| self.caught(error);
        // By its address, so that resolver and loader see to it like any other module.
        let itself = format!("{}{url}", facade::AS_IT_IS);
        let promise = Module::import(self.ctx, itself).map_err(caught)?;
        loader::handled(&promise).map_err(caught)?;
        while promise.state() == PromiseState::Pending {
            if !self.ctx.execute_pending_job() && !wait() {
                self.engine.is_stuck.set(true);
                let message = "the script's top level waits for something that never comes";
                return Err(ScriptError::load(message.to_owned()));
            }
        }
        let namespace = promise.finish::<Object<'js>>().map_err(caught)?;
        let entry = self.engine.bundle.module(url);
        if entry.is_some_and(|module| module.is_commonjs) {
            return namespace.get("default").map_err(caught);
        }
        Ok(namespace)
    }

    /// Runs what promises have become due for.
    pub fn run_jobs(&self) {
        while self.ctx.execute_pending_job() {}
    }

    /// The first promise that was rejected and whose rejection nobody handles; all are forgotten.
    pub fn take_rejection(&self) -> Option<ScriptError> {
        let rejections = std::mem::take(&mut *self.engine.rejections.borrow_mut());
        let (_, error) = rejections.into_iter().next()?;
        Some(ScriptError { is_rejection: true, ..error })
    }

    /// What `error` is in the script's words.
    pub fn caught(&self, error: rquickjs::Error) -> ScriptError {
        ScriptError::caught(self.ctx, &self.engine.bundle, error)
    }

    /// The error that a rejected or thrown value is.
    pub fn error_of(&self, value: Value<'js>) -> ScriptError {
        ScriptError::of_value(self.ctx, &self.engine.bundle, value)
    }
}

fn track_rejections(runtime: &Runtime, rejections: &Rejections, bundle: &Arc<Bundle>) {
    let rejections = Rc::downgrade(rejections);
    let bundle = Arc::clone(bundle);
    runtime.set_host_promise_rejection_tracker(Some(Box::new(
        move |ctx: Ctx<'_>, promise: Value<'_>, reason: Value<'_>, is_handled: bool| {
            let Some(rejections) = rejections.upgrade() else { return };
            if is_handled {
                rejections.borrow_mut().retain(|(known, _)| {
                    known.clone().restore(&ctx).is_ok_and(|known| known != promise)
                });
            } else if rejections.borrow().len() < REJECTIONS_MAX {
                let error = ScriptError::of_value(&ctx, &bundle, reason);
                rejections.borrow_mut().push((Persistent::save(&ctx, promise), error));
            }
        },
    )));
}
