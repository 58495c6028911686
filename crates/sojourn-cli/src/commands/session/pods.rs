//! The load of a session script by generators that are pods.

use std::path::Path;

use sojourn_kubernetes::Coordinating;
use sojourn_session::Offer;

use super::run::{Making, Run};
use crate::{
    commands::run::NOT_FOR_PODS,
    errors::UsageError,
    for_pods::{Packed, refuse_what_pods_lack, words_for_pods},
    kubernetes_flags::{Asked, Outline},
    shelf::Shelf,
};

/// Makes the run.
pub(super) fn run(command: &Run) -> Result<u8, UsageError> {
    let Making { script: script_flags, flags, spread, log, .. } = &command.making;
    if let Some(log) = log {
        return Err(UsageError::new(
            format!("--log {} would write a file in each pod, which goes with it", log.display()),
            "leave it out: the lines are in the generators' logs then, and `kubectl logs -l \
             app.kubernetes.io/component=generator` shows them while the pods are there",
        ));
    }
    let shelf = Shelf::noting();
    let script = script_flags.read(&Offer::default(), &shelf)?;
    let modules = script.definition.modules.clone();
    let (plan, _) = command.making.load(script)?;
    refuse_what_pods_lack(&plan, &flags.out)?;
    flags.out.ask_for_variables(&shelf)?;
    let (file, ca) = (&script_flags.script, flags.machine.ca.as_deref());
    let mut packed = Packed::of(&command.on.pods, file, &shelf.into_parcel(), ca)?;
    for module in &modules {
        refuse_packages(module)?;
        packed.bundle.add_file(module)?;
    }
    // They may be passwords.
    packed.secret_words.extend(script_flags.defines().map(|it| format!("--define={it}")));
    let not_for_pods = [&["ca", "define"][..], NOT_FOR_PODS].concat();
    packed.words.extend(words_for_pods((&["session", "run"], &not_for_pods))?);
    let asked = Asked {
        outline: Outline::of(&plan)?,
        generators: spread.count().unwrap_or(1),
        command: Coordinating::Sessions,
        packed,
        terms: command.terms.terms(),
    };
    command.on.make(asked, &flags.results())
}

/// A package is found by more than its modules.
fn refuse_packages(module: &Path) -> Result<(), UsageError> {
    match module.components().any(|part| part.as_os_str() == "node_modules") {
        false => Ok(()),
        true => Err(UsageError::new(
            format!("the script imports {}, and packages don't go along", module.display()),
            "make one file of script and packages first, by esbuild --bundle for one, or import \
             files beside the script",
        )),
    }
}
