//! A script whose users are in pods.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sojourn_engine::Parcel;
use sojourn_k6::flags::Settings;
use sojourn_k6::options::Environment;
use sojourn_kubernetes::{Bundle, Coordinating};
use sojourn_vu::Console;

use super::carried::Carried;
use super::run::{self, Making, Run};
use super::script::{Around, Asked as Script, Failed};
use super::{config_file, environment, log, processes, written};
use crate::{
    errors::UsageError,
    for_pods::{Packed, names_user, refuse_unread_in_image, words_for_pods},
    kubernetes_flags::{Asked, Outline},
    on_kubernetes::Results,
    shelf::Shelf,
};

/// Flags that are said otherwise to the coordinator, whose files stand elsewhere, or not at all.
const NOT_FOR_PODS: &[&str] =
    &["live", "web", "kind", "env", "config", "secret_source", "out", "console_output"];

/// Makes the test.
pub(super) fn run(command: &Run) -> Result<u8, UsageError> {
    let making = &command.making;
    processes::refuse_standard_input(&making.script)?;
    let process = environment::of_process();
    let shelf = Shelf::noting();
    let around = Around { process: &process, is_included: true, shelf: &shelf };
    let (settings, console) = match settled(making, &around) {
        Ok(settled) => settled,
        Err(failed) => return Ok(failed.tell(&log::beginning())),
    };
    refuse_what_pods_lack(making, &settings, &process)?;
    let read = run::read(making, &around, &settings, &console).and_then(|script| {
        let carried = run::carry(making, &script, &around, &settings)?;
        Ok((script, carried, written::files(&settings, &process)?))
    });
    let (script, carried, files) = match read {
        Ok(read) => read,
        Err(failed) => return Ok(failed.tell(&console)),
    };
    refuse_files_elsewhere(&files)?;
    let outline = outline(making, &script)?;
    let noted = shelf.into_parcel();
    let asked = Asked {
        outline,
        generators: making.spread.count().unwrap_or(1),
        command: Coordinating::Scripts,
        packed: packed(command, &settings, &process, &carried, &noted)?,
        terms: command.terms.terms(),
    };
    let results = Results {
        output: None,
        reports: &[],
        format: None,
        records: None,
        nfr: None,
        is_quiet: settings.quiet,
    };
    command.on.make(asked, &results)
}

fn settled(command: &Making, around: &Around<'_>) -> Result<(Settings, Arc<Console>), Failed> {
    let settings = run::settings(command, around)?;
    // What goes to a file is refused in a moment.
    let plain = Settings { log_output: None, ..settings.clone() };
    Ok((settings, log::console(&plain, None)?))
}

/// Errs for what would be each pod's own, and for a process that stays.
fn refuse_what_pods_lack(
    command: &Making,
    settings: &Settings,
    process: &Environment,
) -> Result<(), UsageError> {
    let is_file = |output: &&String| output.starts_with("file=");
    let log = settings.log_output.as_ref().filter(is_file).map(|log| format!("--log-output {log}"));
    let console = run::console_output(command, process);
    let console = console.map(|console| format!("--console-output {console}"));
    if let Some(asked) = log.or(console) {
        return Err(UsageError::new(
            format!("{asked} would write a file in a pod, which goes with it"),
            "leave it out: the lines are told here, and `2> FILE` has them",
        ));
    }
    if settings.linger {
        return Err(UsageError::new(
            "--linger: pods must have an end, also when nobody is there to stop them",
            "leave it out: results are kept in the pod for a while (--results-linger)",
        ));
    }
    Ok(())
}

/// Errs for files that would be written where nobody fetches them.
fn refuse_files_elsewhere(files: &[PathBuf]) -> Result<(), UsageError> {
    match files.iter().find(|file| !written::is_below(file)) {
        None => Ok(()),
        Some(file) => Err(UsageError::new(
            format!(
                "{} is not below this folder, and what a pod writes comes here",
                file.display()
            ),
            "name it relative to this folder, without ..",
        )),
    }
}

/// What the objects say of it. Errs for a test that nothing ends.
fn outline(command: &Making, script: &Script) -> Result<Outline, UsageError> {
    let options = &script.consolidated.options;
    let lasts_ns = script.consolidated.requirements().max_duration_ns.ok_or_else(|| {
        UsageError::new(
            "a scenario has no end, and pods must have one, also when nobody is there to stop them",
            "give it a duration; Ctrl-C ends it before that, gracefully",
        )
    })?;
    let around_ns = [
        options.setup_timeout_or_default().ns(),
        options.teardown_timeout_or_default().ns(),
        options.handle_summary_timeout_or_default().ns(),
    ];
    let lasts_ns = around_ns.iter().fold(lasts_ns, |sum, ns| sum.saturating_add(*ns));
    Ok(Outline { name: command.name().to_owned(), webhook_ports: Vec::new(), lasts_ns })
}

/// What goes along, and the words that name it there.
fn packed(
    command: &Run,
    settings: &Settings,
    process: &Environment,
    carried: &Carried,
    noted: &Parcel,
) -> Result<Packed, UsageError> {
    let (making, pods) = (&command.making, &command.on.pods);
    let bundle = Bundle::below(Path::new("."))?;
    let mut packed = Packed { bundle, words: Vec::new(), secret_words: Vec::new() };
    refuse_unread_in_image(pods, std::iter::once(making.script.as_path()))?;
    let word = match pods.in_image.contains(&making.script) {
        true => making.script.display().to_string(),
        false => {
            let place = format!("{}.tar", making.name());
            packed.bundle.add_content(Path::new(&place), carried.archive.clone())
        }
    };
    packed.words.push(word);
    if let Some(path) = config_file::path(&making.flags, process)
        && let Some(content) = noted.files.get(&*path.to_string_lossy())
    {
        let place = packed.bundle.add_content(&path, content.clone());
        packed.words.push(format!("--config={place}"));
    }
    for source in &settings.secret_sources {
        let source = secret_source(source, noted, &mut packed.bundle);
        packed.secret_words.push(format!("--secret-source={source}"));
    }
    add_variables(settings, process, carried, &mut packed)?;
    for file in &pods.pod_file {
        packed.bundle.add_file(file)?;
    }
    for out in &making.flags.out {
        let word = format!("--out={out}");
        let words = if names_user(out) { &mut packed.secret_words } else { &mut packed.words };
        words.push(word);
    }
    packed.words.extend(words_for_pods((&["k6", "run"], NOT_FOR_PODS))?);
    Ok(packed)
}

/// A source whose file stands in pods where the bundle has it.
fn secret_source(source: &str, noted: &Parcel, bundle: &mut Bundle) -> String {
    let Some((kind, parts)) = source.split_once('=') else { return source.to_owned() };
    let parts = parts.split(',').map(|part| {
        let path = part.strip_prefix("filename=").unwrap_or(part);
        match noted.files.get(path).filter(|_| kind == "file") {
            Some(content) => {
                format!("filename={}", bundle.add_content(Path::new(path), content.clone()))
            }
            None => part.to_owned(),
        }
    });
    let parts: Vec<_> = parts.collect();
    format!("{kind}={}", parts.join(","))
}

/// Settings are variables there, too. What the script finds in `__ENV` is said by words: as a
/// variable of the pod it might change what the pod itself does.
fn add_variables(
    settings: &Settings,
    process: &Environment,
    carried: &Carried,
    packed: &mut Packed,
) -> Result<(), UsageError> {
    let (of_settings, of_script) = carried.variables();
    for name in of_settings {
        packed.bundle.set_variable(name, process.get(name).map_or("", String::as_str))?;
    }
    for name in of_script {
        let value = process.get(name).map_or("", String::as_str);
        packed.secret_words.push(format!("--env={name}={value}"));
    }
    // Behind those: the last one counts.
    let given = settings.env.iter().map(|(name, value)| format!("--env={name}={value}"));
    packed.secret_words.extend(given);
    Ok(())
}
