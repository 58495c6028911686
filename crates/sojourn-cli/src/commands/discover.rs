//! `sojourn discover`: the events of one journey, found, and its file written.

use std::path::PathBuf;

use sojourn_engine::RunOptions;
use sojourn_live::{Discovery, Found, Watched, journey_file, stages};
use sojourn_plan::{Overrides, Plan, duration_ns};

use crate::{
    connectors::registry, errors::UsageError, files::read_plan, runner::run_id, shelf::Shelf,
    signals,
};

/// Fire one root, find every event that mentions its key, write the journey file
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn discover journey.yaml > found.yaml
  sojourn discover journey.yaml --journey payment --for 1m --quiet-for 20s

The file needs channels and a journey whose root has a key; stages that it has are replaced by those
found, in order of appearance. What is found is listed on standard error.")]
pub(crate) struct Discover {
    /// Journey file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Journey whose root is fired [default: the first]
    #[arg(long, value_name = "NAME")]
    journey: Option<String>,
    /// Longest look for events
    #[arg(long = "for", value_name = "DURATION", value_parser = duration_ns, default_value = "1m")]
    length: u64,
    /// End once so long no further event has come
    #[arg(long, value_name = "DURATION", value_parser = duration_ns, default_value = "15s")]
    quiet_for: u64,
    /// Base of the plan's relative URLs, instead of the file's `target:`
    #[arg(long, value_name = "URL")]
    target: Option<String>,
    /// Value for `${NAME}` in the file, before the environment's, repeatable
    #[arg(long, short = 'e', value_name = "NAME=VALUE", value_parser = crate::plan_flags::pair)]
    env: Vec<(String, String)>,
}

/// Fires, listens, writes.
pub(crate) fn run(command: &Discover) -> Result<u8, UsageError> {
    let overrides = Overrides {
        target: command.target.clone(),
        environment: command.env.clone(),
        ..Overrides::default()
    };
    let plan = read_plan(&command.file, &overrides, &Shelf::Here)?;
    let name = command.journey.as_deref();
    let journey = plan.journeys.iter().find(|journey| name.is_none_or(|name| journey.name == name));
    let Some(journey) = journey else {
        let known: Vec<_> = plan.journeys.iter().map(|journey| journey.name.as_str()).collect();
        let message = format!("no journey `{}`", name.unwrap_or_default());
        return Err(UsageError::new(message, format!("there is {}", known.join(", "))));
    };
    let mut discovery = Discovery::new(open(&plan)?);
    let options = RunOptions::new(None, run_id());
    let stop = signals::stop_watching_on_signals();
    let why = |why: String| UsageError::with(why, None);
    let fired = discovery
        .during(|| sojourn_engine::fire(&plan, journey, &options, &registry()))
        .map_err(why)?;
    let fired = fired.map_err(|error| UsageError::with(error.message, error.hint))?;
    let took_ms = (fired.ended_ns - fired.began_ns) as f64 / 1e6;
    eprintln!("{}: root done in {took_ms:.1} ms, key {}", journey.name, fired.key);
    // Events may have the key without what the plan puts around it.
    let bare = fired.key.rsplit(':').next().unwrap_or(&fired.key).to_owned();
    discovery
        .look_for(&bare, command.quiet_for, command.length, &|| stop.graceful())
        .map_err(why)?;
    tell(discovery.found(), fired.began_ns, discovery.early_dropped());
    if discovery.found().is_empty() {
        return Err(UsageError::new(
            "no event mentions the key".to_owned(),
            "are these the channels it goes over? `sojourn watch FILE` shows what does",
        ));
    }
    write(command, &journey.name, &discovery)
}

fn open(plan: &Plan) -> Result<Vec<Watched>, UsageError> {
    let registry = registry();
    let mut watched = Vec::new();
    for channel in &plan.channels {
        let opened = super::watch::open(&registry, channel);
        let (info, tap, decoder) =
            opened.map_err(|error| UsageError::with(error.message, error.hint))?;
        eprintln!("{}: {}", channel.name, info.listens_to);
        watched.push(Watched { channel: channel.clone(), tap, decoder });
    }
    Ok(watched)
}

fn tell(found: &[Found], began_ns: u64, early_dropped: u64) {
    for event in found {
        let ms = event.first_ns.saturating_sub(began_ns) as f64 / 1e6;
        let places: Vec<_> = event
            .mentions
            .iter()
            .map(|mention| format!("{} = {}", mention.place, mention.around))
            .collect();
        let event_type = event.event_type.as_deref().unwrap_or("without a type");
        let times = if event.count > 1 { format!(" ({} ×)", event.count) } else { String::new() };
        eprintln!(
            "{ms:>10.1} ms  {}  {}  {event_type}{times}  {}",
            event.channel,
            event.topic,
            places.join(", ")
        );
    }
    if early_dropped > 0 {
        eprintln!(
            "warning: {early_dropped} messages came before the key was known and were not kept"
        );
    }
}

fn write(command: &Discover, journey: &str, discovery: &Discovery) -> Result<u8, UsageError> {
    let text = std::fs::read_to_string(&command.file).map_err(|error| {
        UsageError::with(format!("cannot read {}: {error}", command.file.display()), None)
    })?;
    let last_ns = discovery.found().iter().map(|event| event.first_ns).max().unwrap_or(0);
    let first_ns = discovery.found().iter().map(|event| event.first_ns).min().unwrap_or(0);
    let within = format!("{}s", (10 * (last_ns - first_ns) / 1_000_000_000).max(10));
    match journey_file(&text, journey, discovery.found(), &within) {
        Some(file) => print!("{file}"),
        None => {
            eprintln!("the journey is not written as lines of its own: these are its stages");
            print!("{}", stages(discovery.found()).0);
        }
    }
    Ok(0)
}
