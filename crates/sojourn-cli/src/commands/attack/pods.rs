//! An attack whose generators are pods.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use sojourn_clock::SECOND_NS;
use sojourn_engine::Parcel;
use sojourn_kubernetes::{Bundle, Coordinating};
use sojourn_plan::Plan;

use super::{Attack, is_run_file, is_terminal, prepared::Prepared, spread};
use crate::{
    errors::UsageError,
    for_pods::{Packed, names_user, refuse_unread_in_image, refuse_what_pods_lack, words_for_pods},
    kubernetes_flags::{Asked, Outline},
    on_kubernetes::Results,
    reported::RunFormat,
    runner,
    shelf::{STANDARD_INPUT, Shelf},
};

/// Flags that are said otherwise to the coordinator, whose files stand elsewhere, or not at all:
/// they say what becomes of the results here.
const NOT_FOR_PODS: &[&str] = &[
    "targets",
    "body",
    "cert",
    "key",
    "root_certs",
    "header",
    "proxy_header",
    "output",
    "live",
    "web",
    "quiet",
];

/// As long as an attack lasts that is not told how long: a year.
const ENDLESS_NS: u64 = 365 * 86_400 * SECOND_NS;

/// Makes it.
pub(super) fn run(command: &Attack) -> Result<u8, UsageError> {
    refuse_what_is_here(command)?;
    let shelf = spread::shelf(command)?;
    let words = spread::words(command)?;
    let Prepared { plan, .. } = Prepared::of(command, &words, &shelf, runner::run_id())?;
    refuse_endless(command, &plan)?;
    refuse_what_pods_lack(&plan, &command.out)?;
    command.out.ask_for_variables(&shelf)?;
    let packed = packed(command, shelf)?;
    let records = records(command)?;
    let asked = Asked {
        outline: Outline::of(&plan)?,
        generators: command.spread.count().unwrap_or(1),
        command: Coordinating::Attack { has_records: records.is_some() },
        packed,
        terms: command.listen.terms(),
    };
    let run_file = is_run_file(command).then(|| Path::new(&command.output));
    let results = Results {
        output: run_file,
        reports: &[],
        format: is_terminal(command).then_some(RunFormat::Text),
        records,
        nfr: None,
        is_quiet: command.quiet,
    };
    command.on.make(asked, &results)
}

/// Where the records of all hits go, if they are wanted.
fn records(command: &Attack) -> Result<Option<&OsStr>, UsageError> {
    let is_left = command.on.detach || command.on.manifests;
    let is_file = command.output != "stdout" && !is_run_file(command);
    if is_left && is_file {
        return Err(UsageError::new(
            format!("-output {}: records come to who stays until the end", command.output),
            "leave -detach or -manifests out, or -output: `sojourn fleet attach` has the run file \
             and its report",
        ));
    }
    let is_wanted = !is_left && !is_terminal(command) && !is_run_file(command);
    Ok(is_wanted.then(|| OsStr::new(&command.output)))
}

/// Errs for an attack without an end.
fn refuse_endless(command: &Attack, plan: &Plan) -> Result<(), UsageError> {
    let is_endless = plan.load.iter().any(|load| load.steady_ns >= ENDLESS_NS);
    match is_endless && command.duration == 0 {
        false => Ok(()),
        true => Err(UsageError::new(
            "-on without -duration: pods must have an end, also when nobody is there to stop them",
            "say how long at most: -duration 60s; Ctrl-C ends it before that, gracefully",
        )),
    }
}

/// Errs for what is this machine's alone.
fn refuse_what_is_here(command: &Attack) -> Result<(), UsageError> {
    if !command.prometheus_addr.is_empty() {
        return Err(UsageError::new(
            "-prometheus-addr with -on: nobody can reach that address in a pod",
            "have figures sent instead: -out prometheus-rw=URL, or another of docs/outputs.md",
        ));
    }
    if command.connections.has_socket() {
        return Err(UsageError::new(
            "-unix-socket with -on: pods do not have the sockets of this machine",
            "name the target by a URL that pods reach",
        ));
    }
    Ok(())
}

/// What goes along: everything that was read, and the words that name it there.
fn packed(command: &Attack, shelf: Shelf) -> Result<Packed, UsageError> {
    let noted = shelf.into_parcel();
    refuse_unread_in_image(&command.on.pods, noted.files.keys().map(Path::new))?;
    let bundle = Bundle::below(Path::new("."))?;
    let mut packed = Packed { bundle, words: Vec::new(), secret_words: Vec::new() };
    let mut named = Named { command, noted: &noted, packed: &mut packed, paths: Vec::new() };
    let targets = match command.targets.as_str() {
        _ if command.url.is_some() => None,
        "stdin" => Some(Path::new(STANDARD_INPUT)),
        file => Some(Path::new(file)),
    };
    named.say("targets", targets);
    named.say("body", command.body.as_deref());
    for (flag, files) in command.connections.files() {
        named.say(flag, files);
    }
    let paths = named.paths;
    add_others(command, &noted, &paths, &mut packed.bundle)?;
    packed.set_variables(&noted)?;
    match &command.url {
        Some(url) if names_user(url) => packed.secret_words.push(url.clone()),
        url => packed.words.extend(url.clone()),
    }
    // Their values let somebody in.
    packed.secret_words.extend(command.header.iter().map(|it| format!("--header={it}")));
    let of_proxies = command.connections.proxy_headers();
    packed.secret_words.extend(of_proxies.map(|it| format!("--proxy-header={it}")));
    packed.words.extend(words_for_pods((&["attack"], NOT_FOR_PODS))?);
    Ok(packed)
}

/// Files that flags name: they may stand anywhere here, since the flag is said anew.
struct Named<'a> {
    command: &'a Attack,
    noted: &'a Parcel,
    packed: &'a mut Packed,
    /// Those so far.
    paths: Vec<PathBuf>,
}

impl Named<'_> {
    /// The flag with its files, as they stand in pods.
    fn say<'f>(&mut self, flag: &str, files: impl IntoIterator<Item = &'f Path>) {
        let mut places = Vec::new();
        for file in files {
            self.paths.push(file.to_owned());
            let is_in_image = self.command.on.pods.in_image.iter().any(|it| it == file);
            let content = self.noted.files.get(&*file.to_string_lossy());
            match content.filter(|_| !is_in_image) {
                Some(content) => {
                    places.push(self.packed.bundle.add_content(file, content.clone()));
                }
                None => places.push(file.display().to_string()),
            }
        }
        if !places.is_empty() {
            self.packed.words.push(format!("--{flag}={}", places.join(",")));
        }
    }
}

/// The bodies that targets name, which must stand in pods as they do here, and files that were
/// named for them.
fn add_others(
    command: &Attack,
    noted: &Parcel,
    said: &[PathBuf],
    bundle: &mut Bundle,
) -> Result<(), UsageError> {
    let pods = &command.on.pods;
    for path in noted.files.keys().map(Path::new) {
        if said.iter().chain(&pods.in_image).any(|it| it == path) {
            continue;
        }
        if path.is_absolute() {
            return Err(UsageError::new(
                format!("a target's body is {}, and pods have no such path", path.display()),
                "name it relative to this folder and below it, or build it into an image of your \
                 own and say so: -in-image PATH",
            ));
        }
        bundle.add_file(path)?;
    }
    for file in &pods.pod_file {
        bundle.add_file(file)?;
    }
    Ok(())
}
