//! `sojourn web`: the runs of a folder in a browser.

use std::{path::PathBuf, time::Duration};

use sojourn_web::{Dashboard, WebSettings};

use crate::{errors::UsageError, outputs, signals, web};

/// Show the runs of a folder in a browser: their reports, and any two compared
///
/// For a run that goes on, use its own `--web`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn web                                # the runs in ./reports
  sojourn web nightly/ --listen 127.0.0.1:9000
  sojourn web --listen 0.0.0.0:8089          # for others too: they need the token of the link

Ctrl-C ends it. Exit codes: 0 ended as asked, 2 wrong usage.")]
pub(crate) struct Web {
    /// Folder of run files (.sojourn)
    #[arg(value_name = "FOLDER", default_value = web::FOLDER)]
    folder: PathBuf,
    /// Where to listen; elsewhere than on this machine a token is asked for
    #[arg(long, value_name = "ADDRESS", default_value = web::ADDRESS)]
    listen: String,
}

/// Serves until it is stopped.
pub(crate) fn run(command: &Web) -> Result<u8, UsageError> {
    if !command.folder.is_dir() {
        return Err(UsageError::new(
            format!("there is no folder {}", command.folder.display()),
            "name the folder that your run files are in; a run makes reports/",
        ));
    }
    let stop = signals::stop_serving_on_signals();
    let dashboard = Dashboard::start(WebSettings {
        address: command.listen.clone(),
        is_live: false,
        run_file: None,
        folder: command.folder.clone(),
    })
    .map_err(web::refused)?;
    outputs::print(&format!("{}#runs\n", dashboard.link()));
    while !stop.graceful() {
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(0)
}
