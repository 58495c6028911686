//! Scripts: any text is translated, compiled and run, within the limits of an engine, twice; the
//! second time from the bundle alone.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use sojourn_script::js::{self, Ctx, Object};
use sojourn_script::{Builtins, Bundle, Engine, Fiber, Limits, Sources, Stacks};

use crate::Input;

/// How often the engine may ask whether to go on: some milliseconds.
const ASKED_MAX: u32 = 20;
const LIMITS: Limits = Limits { memory_bytes: 8 << 20, stack_bytes: 128 * 1024 };
const STACK_BYTES: usize = 256 * 1024;

/// No modules and no globals of ours.
struct Nothing;

impl Builtins for Nothing {
    fn has(&self, _: &str) -> bool {
        false
    }

    fn make<'js>(&self, ctx: &Ctx<'js>, _: &str) -> js::Result<Object<'js>> {
        Object::new(ctx.clone())
    }

    fn globals<'js>(&self, _: &Ctx<'js>) -> js::Result<()> {
        Ok(())
    }
}

/// Option 0: the file is TypeScript by its name.
pub(crate) fn check(input: Input<'_>) {
    let Ok(text) = std::str::from_utf8(input.bytes) else { return };
    // No file is read: imports of paths lead to a folder that is not there.
    let name = if input.has(0) { "/nowhere/fuzzed.ts" } else { "/nowhere/fuzzed.js" };
    let sources = Sources { entry_text: Some(text.to_owned()), ..Sources::default() };
    let bundle = Bundle::new(Path::new(name), sources).expect("nothing is read yet");
    let first = run(&bundle);
    bundle.freeze();
    let second = run(&bundle);
    // What was compiled runs from its bytecode too. (Whether a limit is met may differ.)
    if first == Some(true) {
        assert_ne!(second, Some(false), "{text:?}");
    }
}

/// Whether the script's top level ran; `None` where a limit ended it.
fn run(bundle: &Arc<Bundle>) -> Option<bool> {
    let bundle = Arc::clone(bundle);
    let told = Rc::new(Cell::new(None));
    let tell = Rc::clone(&told);
    let stacks = Stacks::new(STACK_BYTES);
    let mut fiber = Fiber::new(stacks.take().expect("memory for a stack"), move || {
        let mut asked = 0;
        let interrupt = move || {
            asked += 1;
            asked > ASKED_MAX
        };
        let engine = Engine::new(&bundle, Rc::new(Nothing), LIMITS, interrupt);
        let engine = engine.expect("memory for an engine");
        engine.enter(|inside| {
            tell.set(match inside.evaluate(&mut || false) {
                Ok(_) => Some(true),
                Err(error) if error.interrupted || error.message.contains("out of memory") => None,
                Err(error) => {
                    assert!(!error.message.is_empty());
                    Some(false)
                }
            });
        });
    });
    while !fiber.resume() {}
    told.get()
}
