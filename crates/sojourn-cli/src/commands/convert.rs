//! `sojourn convert`: recordings, session scripts and k6 scripts, made into one another as far as
//! that goes.

use std::path::{Path, PathBuf};

use sojourn_script::Sources;
use sojourn_session::{
    Budget, Data, Definition, Obstacles, evaluate, har_script, journey_file, k6_obstacles,
};

use super::session::ScriptFolder;
use crate::{errors::UsageError, outputs, script_words::is_session, shelf::Shelf};

/// Make a session script or a journey file of a recording (HAR), a journey file of a session
/// script, or list what keeps a k6 script from becoming a session
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn convert recorded.har > test.js              a browser's recording as a session script
  sojourn convert recorded.har --to journey -o j.yaml
  sojourn convert test.js --to journey > journey.yaml what journeys can't do is said
  sojourn convert k6-script.js                        what stands in the way, and what to write

What comes out can be tried without load: sojourn run test.js --validate, and sojourn run
journey.yaml --once. Files that a journey file names are looked for beside it.

Exit codes: 0 converted (a k6 script: nothing stands in the way), 2 not.")]
pub(crate) struct Convert {
    /// A recording (.har), a session script or a k6 script (.js, .ts)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What to make [default: of a recording or a k6 script a session, of a session a journey]
    #[arg(long, value_enum, value_name = "KIND")]
    to: Option<To>,
    /// Where it goes [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum To {
    /// A session script
    Session,
    /// A journey file
    Journey,
}

/// Converts.
pub(crate) fn run(command: &Convert) -> Result<u8, UsageError> {
    let file = &command.file;
    let text = std::fs::read_to_string(file).map_err(|error| {
        let hint = "name a recording (.har), a session script or a k6 script (.js, .ts)";
        UsageError::unreadable(file, &error, hint)
    })?;
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let is_recording =
        ending == "har" || text.trim_start_matches('\u{feff}').trim_start().starts_with('{');
    match (is_recording, command.to) {
        (true, to) => recording(command, &text, to.unwrap_or(To::Session)),
        (false, None | Some(To::Journey)) if is_session(&text) => {
            let definition = evaluate(file, Sources::default(), Budget::default())?;
            journey(command, &definition)
        }
        (false, Some(To::Session)) if is_session(&text) => Err(UsageError::new(
            format!("{} is a session script already", file.display()),
            "`--to journey` makes a journey file of it",
        )),
        (false, None | Some(To::Session)) => obstacles(file, &text),
        (false, Some(To::Journey)) => Err(UsageError::new(
            format!("{} is no session script: journey files are made of those", file.display()),
            "`sojourn convert FILE` lists what keeps a k6 script from becoming one",
        )),
    }
}

fn recording(command: &Convert, text: &str, to: To) -> Result<u8, UsageError> {
    let script = har_script(text).map_err(|error| {
        UsageError::new(
            format!("{}: {error}", command.file.display()),
            "save a recording in a browser's network tool: \"save all as HAR\"",
        )
    })?;
    if to == To::Session {
        write(command, &script)?;
        return Ok(0);
    }
    let sources = Sources { entry_text: Some(script), ..Sources::default() };
    let definition = evaluate(&command.file, sources, Budget::default())?;
    journey(command, &definition)
}

fn journey(command: &Convert, definition: &Definition) -> Result<u8, UsageError> {
    let file = &command.file;
    let data = Data::load(definition, &ScriptFolder::of(file, &Shelf::Here))?;
    let name = file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into());
    let made = journey_file(&name, definition, &data).ok_or_else(|| {
        UsageError::new(
            format!("{}: nothing in it could be a journey", file.display()),
            "a journey needs a request, and an arrival phase whose rate is not 0",
        )
    })?;
    write(command, &made.text)?;
    for remark in &made.remarks {
        eprintln!("{remark}");
    }
    Ok(0)
}

fn obstacles(file: &Path, text: &str) -> Result<u8, UsageError> {
    let shown = file.display();
    let wrong = |error: sojourn_plan::PlanError| UsageError::plain(error.to_string());
    let Obstacles { list, requests } = k6_obstacles(&shown.to_string(), text).map_err(wrong)?;
    let mut out = String::new();
    for obstacle in &list {
        out.push_str(&format!("{obstacle}\n"));
    }
    let count = match list.len() {
        0 => "nothing stands".to_owned(),
        1 => "one thing stands".to_owned(),
        several => format!("{several} things stand"),
    };
    let calls = if requests == 1 { "call" } else { "calls" };
    out.push_str(&format!(
        "{count} between {shown} and a session script; {requests} {calls} of http can stay \
         requests (docs/session-dsl.md)\n"
    ));
    outputs::print(&out);
    Ok(if list.is_empty() { 0 } else { 2 })
}

fn write(command: &Convert, text: &str) -> Result<(), UsageError> {
    match &command.output {
        None => outputs::print(text),
        Some(path) => std::fs::write(path, text).map_err(|error| {
            UsageError::new(
                format!("cannot write {}: {error}", path.display()),
                "choose another place with --output",
            )
        })?,
    }
    Ok(())
}
