//! From a script to a [`Definition`]: the script runs once, and what it declared is read.

mod calls;
mod defines;
mod host;
mod markers;
mod misuse;
mod places;
mod raw;
mod read;

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use sojourn_plan::{PlanError, PlanErrors};
use sojourn_script::js::Function;
use sojourn_script::{
    Bundle, Depth, Engine, Fiber, Inside, Limits, ScriptError, Sources, Stacks, too_deep,
};

use crate::definition::{Definition, Place};
pub use defines::{DefineError, Defines};
use host::Host;
use markers::Markers;
use misuse::Misused;
use places::Places;

/// What a script may use while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Memory for its values, bytes.
    pub memory_bytes: usize,
    /// Stack, bytes.
    pub stack_bytes: usize,
    /// How often the engine may ask whether to go on, which it does after some ten thousand
    /// operations each. Counted rather than timed, so that the outcome is the same on any machine.
    pub asks_max: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Self { memory_bytes: 256 << 20, stack_bytes: 512 << 10, asks_max: 20_000 }
    }
}

/// What walks through a script's tree has the stack of its caller.
const DEPTH: Depth = Depth { brackets_max: 300, run_max: 10_000 };
/// Stack beyond what scripts may use: calls of ours, the report of an overflow, and most of all
/// reading sources as deep as [`depth`] lets them be. Only what is touched takes memory.
const STACK_BYTES_OWN: usize = 32 << 20;

/// Runs a script once and reads what it declares. The script is a file, or a name only if `sources`
/// has its text; its imports are read from disk. Errs with all that is wrong, each at its place in
/// the script.
pub fn evaluate(script: &Path, sources: Sources, budget: Budget) -> Result<Definition, PlanErrors> {
    evaluate_with(script, sources, budget, &Defines::default())
}

/// The same of a script in which these identifiers have values.
pub fn evaluate_with(
    script: &Path,
    sources: Sources,
    budget: Budget,
    defines: &Defines,
) -> Result<Definition, PlanErrors> {
    let given = script.display().to_string();
    let whole = |message: &str| {
        let (file, hint) = (given.clone(), None);
        let message = message.to_owned();
        PlanErrors(vec![PlanError { file, line: 1, column: 1, message, hint }])
    };
    let text = sources.entry_text.clone();
    let bundle = Bundle::new(script, sources).map_err(|error| whole(&error.message))?;
    let written = text.clone().or_else(|| std::fs::read_to_string(script).ok());
    if let Some((line, column)) = written.as_deref().and_then(|text| too_deep(text, DEPTH)) {
        let place = Place { file: given.as_str().into(), line, column };
        return Err(PlanErrors(vec![place.error("the script is nested too deep", None)]));
    }
    let nonce = nonce(bundle.entry().as_str(), text.as_deref());
    let places = Rc::new(RefCell::new(Places::new(bundle.entry(), &given, text.as_deref())));
    let (defines, given_places) = (defines.clone(), Rc::clone(&places));
    let own = Arc::clone(&bundle);
    let script = Script { bundle, text, nonce: nonce.clone(), defines, places: given_places };
    let (told, misused) = script.run(budget).map_err(|message| whole(&message))?;
    let places = places.borrow();
    let raw = match told {
        Ok(raw) => raw,
        Err(error) => {
            let mut errors = misused.errors;
            errors.push(places.error(&error));
            return Err(read::sorted(errors));
        }
    };
    let raw = serde_json::from_str(&raw).map_err(|error| {
        whole(&format!("the script has changed what JavaScript brings: {error}"))
    })?;
    let definition = read::definition(raw, Markers::new(nonce), &places, misused)?;
    Ok(Definition { modules: own.imported_files(), ..definition })
}

/// A script that is about to run.
struct Script {
    bundle: Arc<Bundle>,
    text: Option<String>,
    nonce: String,
    defines: Defines,
    places: Rc<RefCell<Places>>,
}

impl Script {
    /// Runs the script to its end and looks through its sources, on a stack that is large enough
    /// for either. The outer error is a lack of memory.
    fn run(self, budget: Budget) -> Result<(Result<String, ScriptError>, Misused), String> {
        let told = Rc::new(RefCell::new(None));
        let tell = Rc::clone(&told);
        let stacks = Stacks::new(budget.stack_bytes + STACK_BYTES_OWN);
        let stack = stacks.take().map_err(|error| format!("no memory for the script: {error}"))?;
        let mut fiber = Fiber::new(stack, move || {
            let result = self.result(budget);
            let misused = misuse::find(&self.bundle, self.text.as_deref(), &self.places.borrow());
            *tell.borrow_mut() = Some((result, misused));
        });
        while !fiber.resume() {}
        told.take().ok_or_else(|| "the script has not ended".to_owned())
    }

    fn result(&self, budget: Budget) -> Result<String, ScriptError> {
        let host = Rc::new(Host {
            bundle: Arc::clone(&self.bundle),
            nonce: self.nonce.clone(),
            defines: self.defines.clone(),
            places: Rc::clone(&self.places),
        });
        let mut asked = 0;
        let interrupt = move || {
            asked += 1;
            asked > budget.asks_max
        };
        let limits = Limits { memory_bytes: budget.memory_bytes, stack_bytes: budget.stack_bytes };
        Engine::new(&self.bundle, host, limits, interrupt)?.enter(declared)
    }
}

/// Runs the script's top level and gives what it declared.
fn declared(inside: &Inside<'_, '_>) -> Result<String, ScriptError> {
    inside.evaluate(&mut || false)?;
    if let Some(rejection) = inside.take_rejection() {
        return Err(rejection);
    }
    let finish = || {
        let finish: Function<'_> = inside.ctx.globals().get(host::FINISH)?;
        finish.call::<_, String>(())
    };
    finish().map_err(|error| inside.caught(error))
}

/// Letters that no script has by chance, the same for the same script.
fn nonce(address: &str, text: Option<&str>) -> String {
    let bytes = address.bytes().chain(text.unwrap_or_default().bytes());
    let hash = bytes.fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    format!("{hash:016x}")
}
