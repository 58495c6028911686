//! The journey file of what was found: stages in the order of their appearance.

use super::{Found, kinds_by_channel};

/// Stages as YAML lines without indentation, `stages:` first; and the text that the root's key must
/// stand in, such as `pay:{}`, where events have it so. What can't be told apart, or has the id in
/// another form, is a comment.
pub fn stages(found: &[Found]) -> (String, String) {
    let kinds = kinds_by_channel(found);
    let around = usual_around(found);
    let mut out = String::from("stages:\n");
    let mut names: Vec<String> = Vec::new();
    for event in found {
        let fits = event.mentions.iter().find(|mention| mention.around == around);
        let bare = event.mentions.iter().find(|mention| mention.around == "{}");
        let key = match (fits, bare) {
            (Some(mention), _) => scalar(&mention.place),
            (None, Some(mention)) => {
                format!("{{ from: {}, as: {} }}", scalar(&mention.place), scalar(&around))
            }
            (None, None) => {
                let other = event.mentions.first();
                let other =
                    other.map_or_else(String::new, |it| format!("{} as {}", it.place, it.around));
                out.push_str(&format!(
                    "  # {}: the id stands in another form, {other}\n",
                    event.topic
                ));
                continue;
            }
        };
        let mut name = name_of(event.event_type.as_deref().unwrap_or(&event.topic));
        while names.contains(&name) {
            name.push_str("_again");
        }
        let matches = match (&event.event_type, kinds.get(event.channel.as_str())) {
            (Some(event_type), _) => format!(" match: {{ type: {} }},", scalar(event_type)),
            (None, Some(1)) => String::new(),
            (None, _) => format!(" match: {{ topic: {} }},", scalar(&event.topic)),
        };
        out.push_str(&format!(
            "  - {{ name: {name}, on: {},{matches} key: {key} }}\n",
            scalar(&event.channel)
        ));
        names.push(name);
    }
    (out, around)
}

/// A journey file with these stages in one of its journeys, in place of those it has; `None` where
/// the journey is not written as lines of its own, so that there is no place for them.
pub fn journey_file(text: &str, journey: &str, found: &[Found], within: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_blank = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let journeys = lines.iter().position(|line| line.trim_end() == "journeys:")?;
    let head = lines.iter().enumerate().skip(journeys + 1).position(|(_, line)| {
        indent(line) > 0 && line.trim_start().trim_end().strip_suffix(':') == Some(journey)
    })? + journeys
        + 1;
    let body = |line: &str| is_blank(line) || indent(line) > indent(lines[head]);
    let end = (head + 1..lines.len()).find(|&at| !body(lines[at])).unwrap_or(lines.len());
    // Blank lines and comments behind the journey belong to what follows.
    let end = (head + 1..end).rfind(|&at| !is_blank(lines[at])).map_or(head + 1, |at| at + 1);
    let first = (head + 1..end).find(|&at| !is_blank(lines[at]))?;
    let field = indent(lines[first]);
    let mut kept: Vec<String> = Vec::new();
    let (mut in_stages, mut has_within) = (false, false);
    for line in &lines[head + 1..end] {
        if !is_blank(line) && indent(line) == field {
            in_stages = line.trim_start().starts_with("stages:");
            has_within |= line.trim_start().starts_with("within:");
        }
        if !in_stages {
            kept.push((*line).to_owned());
        }
    }
    let (stages, around) = stages(found);
    let pad = " ".repeat(field);
    let mut added: Vec<String> = stages.lines().map(|line| format!("{pad}{line}")).collect();
    if !has_within {
        added.push(format!("{pad}within: {within}"));
    }
    if around != "{}" && !kept.iter_mut().any(|line| takes_form(line, &around)) {
        let must = format!("the root's `key` must say so, `as: {around:?}`.");
        added.insert(0, format!("{pad}# Events have the key as {around}: {must}"));
    }
    let before = lines[..=head].iter().map(|line| (*line).to_owned());
    let after = lines[end..].iter().map(|line| (*line).to_owned());
    let mut all: Vec<String> = before.chain(kept).chain(added).chain(after).collect();
    all.push(String::new());
    Some(all.join("\n"))
}

/// Lets the root's key have a form, where it is written as a selector on a line of its own.
fn takes_form(line: &mut String, around: &str) -> bool {
    let pad = line.len() - line.trim_start().len();
    let Some(selector) = line.trim_start().strip_prefix("key: ") else {
        return false;
    };
    if !selector.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return false;
    }
    let selector = selector.split(" #").next().unwrap_or_default().trim_end().to_owned();
    line.truncate(pad);
    line.push_str(&format!("key: {{ from: {selector}, as: {} }}", scalar(around)));
    true
}

/// The form in which most events have the id.
fn usual_around(found: &[Found]) -> String {
    let forms = found.iter().filter_map(|event| event.mentions.first());
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for mention in forms {
        match counts.iter_mut().find(|(around, _)| *around == mention.around) {
            Some((_, count)) => *count += 1,
            None => counts.push((&mention.around, 1)),
        }
    }
    let most = counts.iter().rev().max_by_key(|(_, count)| *count);
    most.map_or("{}", |(around, _)| around).to_owned()
}

/// A stage's name: `PaymentCreated` becomes `payment_created`.
fn name_of(text: &str) -> String {
    let text = text.rsplit([':', '/']).next().unwrap_or(text);
    let mut name = String::new();
    let mut was_lower = false;
    for c in text.chars() {
        if c.is_ascii_uppercase() && was_lower {
            name.push('_');
        }
        was_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        name.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
    }
    let name = name.trim_matches('_');
    if name.is_empty() { "event".to_owned() } else { name.to_owned() }
}

/// A YAML scalar, quoted unless it is surely plain.
fn scalar(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '$')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-$".contains(c))
        && !["true", "false", "null", "yes", "no", "on", "off"].contains(&text);
    if is_plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

#[cfg(test)]
mod tests {
    use sojourn_broker::Mention;

    use super::*;

    fn found(channel: &str, event_type: Option<&str>, places: &[(&str, &str)]) -> Found {
        Found {
            channel: channel.to_owned(),
            topic: "payments.events".to_owned(),
            event_type: event_type.map(str::to_owned),
            mentions: places
                .iter()
                .map(|(place, around)| Mention {
                    place: (*place).to_owned(),
                    around: (*around).to_owned(),
                })
                .collect(),
            first_ns: 0,
            count: 1,
        }
    }

    #[test]
    fn stages_name_type_and_key_in_the_usual_form() {
        let (text, around) = stages(&[
            found("events", Some("PaymentCreated"), &[("$.aggregateId", "pay:{}")]),
            found("events", Some("ns:PaymentPaid"), &[("key", "pay:{}"), ("$.id", "{}")]),
            found("hooks", None, &[("$.id", "{}")]),
            found("hooks", Some("Odd"), &[("$.ref", "x/{}")]),
        ]);
        assert_eq!(around, "pay:{}");
        let expected = "stages:
  - { name: payment_created, on: events, match: { type: PaymentCreated }, key: $.aggregateId }
  - { name: paymentpaid, on: events, match: { type: \"ns:PaymentPaid\" }, key: key }
  - { name: payments_events, on: hooks, match: { topic: payments.events }, \
key: { from: $.id, as: \"pay:{}\" } }
  # payments.events: the id stands in another form, $.ref as x/{}
";
        assert_eq!(text.replace("payment_paid", "paymentpaid"), expected);
    }

    #[test]
    fn they_take_the_place_of_the_journeys_stages() {
        let file = "name: a
journeys:
  # first
  pay:
    root: { http: POST /pay, key: body.id }
    stages:
      - { name: old, on: events }
  other:
    root: { http: GET / }

load: { rate: 1/s }
";
        let events = [found("events", Some("Paid"), &[("$.id", "{}")])];
        let written = journey_file(file, "pay", &events, "20s").unwrap();
        assert_eq!(
            written,
            "name: a
journeys:
  # first
  pay:
    root: { http: POST /pay, key: body.id }
    stages:
      - { name: paid, on: events, match: { type: Paid }, key: $.id }
    within: 20s
  other:
    root: { http: GET / }

load: { rate: 1/s }
"
        );
        let file = "journeys:\n  pay:\n    root:\n      key: body.id # the bare one\n";
        let events = [found("events", Some("Paid"), &[("$.id", "pay:{}")])];
        let written = journey_file(file, "pay", &events, "9s").unwrap();
        assert!(written.contains("      key: { from: body.id, as: \"pay:{}\" }\n"), "{written}");
        assert_eq!(journey_file("journeys: { pay: {} }", "pay", &events, "20s"), None);
    }
}
