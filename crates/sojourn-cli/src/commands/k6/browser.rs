//! The run in a browser: `--web`, and what k6's own words ask for.

use std::path::Path;
use std::process::{Command, Stdio};

use sojourn_k6::flags::DashboardSettings;
use sojourn_vu::Console;

use crate::errors::UsageError;
use crate::web::{self, WebSink};

/// The dashboard that is asked for, if one is: by `--web` before k6's words.
pub(super) fn open(
    flag: Option<&str>,
    asked: Option<&DashboardSettings>,
    run_file: Option<&Path>,
    console: &Console,
) -> Result<Option<WebSink>, UsageError> {
    let address = asked.and_then(|asked| asked.address.as_deref());
    let web = match (flag, address) {
        (Some(flag), _) => web::open(flag, run_file)?,
        (None, Some(address)) => {
            let is_usual = asked.is_some_and(|asked| asked.is_usual_address);
            web::open_at(address, is_usual, run_file)?
        }
        (None, None) => return Ok(None),
    };
    if asked.is_some_and(|asked| asked.opens) {
        show(&web.link(), console);
    }
    Ok(Some(web))
}

/// What opens an address in the desktop's browser.
#[cfg(target_os = "macos")]
const OPENER: &str = "open";
#[cfg(not(target_os = "macos"))]
const OPENER: &str = "xdg-open";

/// Opens a browser and does not wait for it.
fn show(link: &str, console: &Console) {
    let mut opener = Command::new(OPENER);
    opener.arg(link).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match opener.spawn() {
        // Waited for elsewhere, so that nothing is left of it.
        Ok(mut child) => drop(std::thread::spawn(move || child.wait().ok())),
        Err(error) => console.warn(&format!("no browser opens by itself: {OPENER}: {error}")),
    }
}
