//! `sojourn watch`: what goes over channels just now, without load.

use std::path::PathBuf;
use std::time::Duration;

use sojourn_broker::{BrokerError, OpenDecoder, Registry, Tap, TapInfo};
use sojourn_live::{WatchOptions, Watched};
use sojourn_plan::{Channel, Overrides, duration_ns};

use crate::{connectors::registry, errors::UsageError, files::read_channels, signals};

/// Watch what goes over a journey file's channels, without load
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn watch journey.yaml
  sojourn watch journey.yaml events dead-letters --for 30s
  sojourn watch journey.yaml events --json | jq 'select(.type == \"PaymentSettled\") | .payload'

Rates go to standard error, messages to standard output. Watching takes nothing from your consumers,
as a run does not.")]
pub(crate) struct Watch {
    /// Journey file; only its channels are read
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Channels to watch [default: all]
    #[arg(value_name = "CHANNEL")]
    channels: Vec<String>,
    /// How long [default: until Ctrl-C]
    #[arg(long = "for", value_name = "DURATION", value_parser = duration_ns)]
    length: Option<u64>,
    /// Most messages shown of each channel and second
    #[arg(long, value_name = "N", default_value_t = 1)]
    samples: u64,
    /// Every message, as a line of JSON
    #[arg(long)]
    json: bool,
    /// Value for `${NAME}` in the file, before the environment's, repeatable
    #[arg(long, short = 'e', value_name = "NAME=VALUE", value_parser = crate::plan_flags::pair)]
    env: Vec<(String, String)>,
}

/// Opens the taps and watches.
pub(crate) fn run(command: &Watch) -> Result<u8, UsageError> {
    let overrides = Overrides { environment: command.env.clone(), ..Overrides::default() };
    let channels = read_channels(&command.file, &overrides)?;
    for name in &command.channels {
        if !channels.iter().any(|channel| channel.name == *name) {
            let known: Vec<_> = channels.iter().map(|channel| channel.name.as_str()).collect();
            let message = format!("{} has no channel `{name}`", command.file.display());
            return Err(UsageError::new(message, format!("there is {}", known.join(", "))));
        }
    }
    let registry = registry();
    let mut watched = Vec::new();
    let wanted = |name: &String| command.channels.is_empty() || command.channels.contains(name);
    for channel in channels.into_iter().filter(|channel| wanted(&channel.name)) {
        let opened = open(&registry, &channel);
        let (info, tap, decoder) =
            opened.map_err(|error| UsageError::with(error.message, error.hint))?;
        eprintln!("{}: {}", channel.name, info.listens_to);
        watched.push(Watched { channel, tap, decoder });
    }
    let options =
        WatchOptions { length_ns: command.length, samples: command.samples, json: command.json };
    let stop = signals::stop_watching_on_signals();
    let mut out = std::io::stdout().lock();
    let told = sojourn_live::watch(
        watched,
        &options,
        &|| stop.graceful(),
        &mut out,
        &mut std::io::stderr(),
    );
    told.map(|()| 0).map_err(|why| UsageError::with(why, None))
}

/// How long a message may wait for its schema, since nothing is measured here.
const PATIENCE: Duration = Duration::from_secs(2);

/// A channel's tap and its decoder, open.
pub(super) fn open(
    registry: &Registry,
    channel: &Channel,
) -> Result<(TapInfo, Box<dyn Tap>, OpenDecoder), BrokerError> {
    let mut tap = registry.open(channel)?;
    let decoder = OpenDecoder::open(channel, PATIENCE)?;
    Ok((tap.open()?, tap, decoder))
}
