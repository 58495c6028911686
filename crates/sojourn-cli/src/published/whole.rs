//! A journey file of a block that is part of one: what it lacks is put behind it, so that lines and
//! columns stay. The guide's tests that run such files make them whole by this, too.

use serde_json::Value;

/// A journey file with plain sections for those that the text lacks. Channels of the text that no
/// journey listens to get a stage each.
pub(super) fn whole_journey_file(text: &str) -> Result<String, String> {
    let file: Value = serde_saphyr::from_str(text).map_err(|error| error.to_string())?;
    let has = |section: &str| file.get(section).is_some();
    let channels: Vec<&str> = match file["channels"].as_object() {
        Some(channels) => channels.keys().map(String::as_str).collect(),
        None => vec!["events"],
    };
    let stage = |(at, channel): (usize, &&str)| {
        // The name that thresholds shown alone speak of.
        let name = if at == 0 { "settled" } else { *channel };
        format!("{{ name: {name}, on: {channel}, key: $.id }}")
    };
    let stages: Vec<String> = channels.iter().enumerate().map(stage).collect();
    let sections = [
        ("target", "target: http://127.0.0.1:8080\n".to_owned()),
        (
            "channels",
            "channels:\n  events: { kafka: { brokers: \"127.0.0.1:9092\", topics: [events] } }\n  \
             dead-letters: { kafka: { brokers: \"127.0.0.1:9092\", topics: [dead] } }\n"
                .to_owned(),
        ),
        ("data", "data: { users: { csv: users.csv } }\n".to_owned()),
        (
            "journeys",
            format!(
                "journeys:\n  payment:\n    root: {{ http: POST /pay, key: body.id }}\n    \
                 stages: [{}]\n    within: 30s\n",
                stages.join(", ")
            ),
        ),
        ("load", "load: [{ rate: 1/s, steady: 10s }]\n".to_owned()),
    ];
    // A file that has these needs no channel and no data; where it lacks a target, it is a part.
    let has_both = has("journeys") && has("load");
    let is_wanted = |section: &str| !has(section) && (!has_both || section == "target");
    let missing = sections.iter().filter(|(section, _)| is_wanted(section));
    Ok(missing.fold(text.to_owned(), |whole, (_, plain)| whole + plain))
}
