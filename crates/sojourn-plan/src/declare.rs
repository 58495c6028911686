//! Channels and stages that a script declares, read as those of a journey file.
//!
//! A declaration is JSON, and JSON is YAML: it is read as the one channel and the one stage of a
//! file of its own, so that there is one schema, and what is wrong is said in the same words.

use serde_json::{Value, json};

use crate::{Files, Overrides, Plan, read};

/// A plan of one channel, and of one journey with one stage on it. `stage` has the fields of a
/// stage in a journey file, its name among them, but for `on`. Errs in words.
pub fn read_declared(
    channel: &str,
    written: &Value,
    stage: &Value,
    files: &dyn Files,
) -> Result<Plan, String> {
    let mut stage = stage.clone();
    if let Some(fields) = stage.as_object_mut() {
        fields.insert("on".to_owned(), channel.into());
    }
    // What begins the journey, and how often, is the script's business.
    let root = json!({ "http": "GET http://127.0.0.1/", "key": "{{ uuid() }}" });
    let file = json!({
        "name": "script",
        "channels": { channel: written },
        "journeys": { "pattern": { "root": root, "stages": [stage], "within": "1s" } },
        "load": [{ "journey": "pattern", "rate": "1/s", "steady": "1s" }],
    });
    read("declared", &file.to_string(), files, &Overrides::default()).map_err(|errors| {
        let told = errors.0.iter().map(|error| match &error.hint {
            Some(hint) => format!("{} ({hint})", error.message),
            None => error.message.clone(),
        });
        told.collect::<Vec<_>>().join("; ")
    })
}
