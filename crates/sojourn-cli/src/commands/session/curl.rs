//! `sojourn session curl`: what a script's sessions would ask, as commands of curl.

use sojourn_session::{Definition, curl_commands, one_line};

use super::read::ScriptFlags;
use crate::{errors::UsageError, outputs};

/// Show what each session would ask, as commands of curl
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn session curl test.js
  sojourn session curl test.js --define env=prod

Values that are known only while a client runs are shown as {{name}}; branches and loops are not
shown. Passwords and header fields whose names sound secret are shown as ***.")]
pub(crate) struct Curl {
    #[command(flatten)]
    script: ScriptFlags,
}

/// Prints the commands.
pub(crate) fn run(command: &Curl) -> Result<u8, UsageError> {
    outputs::print(&listing(&command.script.definition()?));
    Ok(0)
}

/// The commands of all sessions, each session under its name.
pub(super) fn listing(definition: &Definition) -> String {
    let mut out = String::new();
    for (index, session) in definition.sessions.iter().enumerate() {
        out.push_str(&format!("# session {}\n", one_line(&session.name)));
        for command in curl_commands(definition, index) {
            out.push_str(&command);
            out.push('\n');
        }
        out.push('\n');
    }
    out
}
