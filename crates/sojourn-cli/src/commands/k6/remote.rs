//! `sojourn k6 status|stats|pause|resume|scale`: words to a test that runs elsewhere, by its REST
//! interface.

use std::time::Duration;

use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::Response;

use crate::errors::UsageError;

/// Longer than a call of the script's `setup` is rarely waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// Which test.
#[derive(Debug, clap::Args)]
pub(crate) struct At {
    /// Where its REST interface listens: what it was given as --address
    #[arg(
        short,
        long,
        value_name = "ADDRESS",
        default_value = "localhost:6565",
        env = "K6_ADDRESS"
    )]
    address: String,
}

/// Change how many users an externally controlled scenario has
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  sojourn k6 scale --vus 50
  sojourn k6 scale --vus 50 --max 200 --address localhost:6565")]
pub(crate) struct Scale {
    /// Users that loop
    #[arg(short = 'u', long)]
    vus: Option<u64>,
    /// Most users
    #[arg(short, long, value_name = "VUS")]
    max: Option<u64>,
    #[command(flatten)]
    at: At,
}

/// Prints how it goes.
pub(super) fn status(at: &At) -> Result<u8, UsageError> {
    tell_status(&at.ask(None)?)
}

/// Prints all metrics so far, as JSON.
pub(super) fn stats(at: &At) -> Result<u8, UsageError> {
    let document = at.get("metrics")?;
    println!("{:#}", document["data"]);
    Ok(0)
}

/// Asks it to begin nothing, or to go on.
pub(super) fn pause(at: &At, is_paused: bool) -> Result<u8, UsageError> {
    tell_status(&at.ask(Some(json!({ "paused": is_paused })))?)
}

/// Changes its users.
pub(super) fn scale(command: &Scale) -> Result<u8, UsageError> {
    if command.vus.is_none() && command.max.is_none() {
        return Err(UsageError::new("nothing is to be changed", "give --vus or --max"));
    }
    let asked = json!({ "vus": command.vus, "vus-max": command.max });
    tell_status(&command.at.ask(Some(asked))?)
}

impl At {
    /// The status, changed if there is something to change.
    fn ask(&self, attributes: Option<Value>) -> Result<Value, UsageError> {
        let Some(attributes) = attributes else { return self.get("status") };
        let body = json!({
            "data": { "type": "status", "id": "default", "attributes": attributes },
        });
        let request = agent().patch(self.url("status")).content_type("application/json");
        self.read(request.send(body.to_string()))
    }

    fn get(&self, what: &str) -> Result<Value, UsageError> {
        self.read(agent().get(self.url(what)).call())
    }

    fn url(&self, what: &str) -> String {
        // As Go writes this machine.
        let host = if self.address.starts_with(':') { "localhost" } else { "" };
        format!("http://{host}{}/v1/{what}", self.address)
    }

    fn read(&self, answer: Result<Response<ureq::Body>, ureq::Error>) -> Result<Value, UsageError> {
        let address = &self.address;
        let hint = "is a test running with --address, and is it this one?";
        let unread = |error: ureq::Error| {
            UsageError::new(format!("no answer from {address}: {error}"), hint)
        };
        let mut answer = answer.map_err(unread)?;
        let text = answer.body_mut().read_to_string().map_err(unread)?;
        let document: Value = serde_json::from_str(&text).map_err(|_| {
            UsageError::new(format!("{address} is no REST interface of a test"), hint)
        })?;
        match document["errors"][0]["detail"].as_str() {
            Some(why) => Err(UsageError::new(why, "sojourn k6 status shows how the test goes")),
            None => Ok(document),
        }
    }
}

fn agent() -> Agent {
    let config = Agent::config_builder().http_status_as_error(false).proxy(None);
    config.timeout_global(Some(PATIENCE)).build().into()
}

fn tell_status(document: &Value) -> Result<u8, UsageError> {
    let attributes = document["data"]["attributes"].as_object();
    for (name, value) in attributes.into_iter().flatten() {
        println!("{name}: {value}");
    }
    Ok(0)
}
