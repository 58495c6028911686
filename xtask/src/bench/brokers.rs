//! What a message costs each connector's tap, on its real server, beside the bare client and the
//! broker's own tool, against the limits that the project has set itself.
//!
//! The figures come from the connectors' own `benches/tap.rs`, which share `sojourn-tap-cost`.

use std::collections::BTreeMap;

use crate::bench::awake::Awake;
use crate::bench::measure;
use crate::bench::table::Table;

/// Connectors that have a broker, in the order of the table.
const CONNECTORS: [&str; 7] = ["kafka", "nats", "amqp", "redis", "mqtt", "postgres", "sqs"];
/// What decoding, finding the key and the ledger may add to the bare client, µs of processor time.
const ADDED_US_MAX: f64 = 1.5;
/// Where a tap must take so many messages a second of processor time, all its work done.
const PER_CORE: [&str; 2] = ["kafka", "nats"];
const PER_CORE_MIN: f64 = 200_000.0;

/// Ways to take messages, by name, each with its figures by name.
type Ways = Vec<(String, BTreeMap<String, f64>)>;

/// What one cost of one connector came to.
struct Figures {
    name: String,
    ways: Ways,
}

/// Runs the comparison.
pub(crate) fn compare() -> Result<Vec<Table>, String> {
    let (mut costs, mut missing) = (Vec::new(), Vec::<String>::new());
    // A tap that waits for its server's answers costs more where waking its processor does.
    let _awake = Awake::new()?;
    for connector in CONNECTORS {
        eprintln!("  {connector}");
        let output = measure(&format!("sojourn-broker-{connector}"), "tap")?;
        costs.extend(read(&output)?);
        let said = output.lines().filter_map(|line| line.strip_prefix("MISSING for "));
        missing.extend(said.map(str::to_owned));
        // So that what was measured is not lost when a later server does not start.
        println!("{}", table(&costs));
    }
    let mut tables = vec![table(&costs), verdicts(&costs)];
    if !missing.is_empty() {
        let mut table = Table::new(&["broker's own tools that were not measured"]);
        for line in missing {
            eprintln!("  MISSING for {line}");
            table.row(&[line]);
        }
        tables.push(table);
    }
    Ok(tables)
}

/// Reads lines of `cost.way.figure value unit`, in their order.
fn read(output: &str) -> Result<Vec<Figures>, String> {
    let mut costs: Vec<Figures> = Vec::new();
    for [name, value, _] in output.lines().filter_map(super::figure) {
        let words: Vec<&str> = name.split('.').collect();
        let [cost, way, figure] = words[..] else {
            return Err(format!("`{name}` is no figure of a cost, way by way"));
        };
        let value: f64 = value.parse().map_err(|_| format!("{name}: `{value}` is no number"))?;
        if costs.last().is_none_or(|last| last.name != cost) {
            costs.push(Figures { name: cost.to_owned(), ways: Vec::new() });
        }
        // There is one: it was just pushed, if there was none.
        let Some(last) = costs.last_mut() else { continue };
        if last.ways.last().is_none_or(|(last, _)| last != way) {
            last.ways.push((way.to_owned(), BTreeMap::new()));
        }
        if let Some((_, figures)) = last.ways.last_mut() {
            figures.insert(figure.to_owned(), value);
        }
    }
    if costs.is_empty() { Err("the benchmark printed no figures".to_owned()) } else { Ok(costs) }
}

impl Figures {
    fn figure(&self, way: &str, figure: &str) -> Option<f64> {
        let (_, figures) = self.ways.iter().find(|(name, _)| name == way)?;
        figures.get(figure).copied()
    }

    /// What the whole work adds to which baseline, µs.
    fn added(&self) -> Option<(&str, f64)> {
        let (_, figures) = self.ways.iter().find(|(name, _)| name == "ledger")?;
        figures.iter().find_map(|(name, value)| Some((name.strip_prefix("added_to_")?, *value)))
    }
}

fn table(costs: &[Figures]) -> Table {
    let mut table = Table::new(&[
        "channel",
        "how",
        "CPU µs/message, median",
        "min to max",
        "messages/s per core",
        "added, median of rounds",
        "messages/s",
    ]);
    for cost in costs {
        for (way, figures) in &cost.ways {
            let shown = |name: &str, digits: usize| {
                figures.get(name).map_or_else(|| "-".to_owned(), |f| format!("{f:.digits$}"))
            };
            let added = figures.iter().find(|(name, _)| name.starts_with("added_to_"));
            let of_all = figures.get("cpu_added").map(|f| format!(" ({f:+.2} of all)"));
            table.row(&[
                cost.name.clone(),
                way.clone(),
                shown("cpu", 2),
                format!("{} to {}", shown("cpu_min", 2), shown("cpu_max", 2)),
                shown("per_core", 0),
                added.map_or_else(|| "-".to_owned(), |(_, value)| format!("{value:+.2}"))
                    + of_all.as_deref().unwrap_or_default(),
                shown("rate", 0),
            ]);
        }
    }
    table
}

/// The limits, each with what was measured.
fn verdicts(costs: &[Figures]) -> Table {
    let mut table = Table::new(&["limit", "channel", "measured", "verdict"]);
    let verdict = |holds: bool| if holds { "holds" } else { "MISSED" };
    for cost in costs {
        if let Some((baseline, added_us)) = cost.added() {
            table.row(&[
                format!("≤ {ADDED_US_MAX} µs added to `{baseline}`"),
                cost.name.clone(),
                format!("{added_us:+.2} µs"),
                verdict(added_us <= ADDED_US_MAX).to_owned(),
            ]);
        }
        if PER_CORE.contains(&cost.name.as_str())
            && let Some(per_core) = cost.figure("ledger", "per_core")
        {
            table.row(&[
                format!("≥ {PER_CORE_MIN:.0} messages/s per core"),
                cost.name.clone(),
                format!("{per_core:.0}"),
                verdict(per_core >= PER_CORE_MIN).to_owned(),
            ]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "MISSING for kafka: the tool is not on PATH\n\
        kafka.client.cpu 0.500 µs/message\nkafka.client.per_core 2000000 messages/s\n\
        kafka.ledger.cpu 2.100 µs/message\nkafka.ledger.per_core 476190 messages/s\n\
        kafka.ledger.added_to_client 1.600 µs/message\n\
        nats.tap.cpu 1.000 µs/message\nnats.ledger.cpu 6.250 µs/message\n\
        nats.ledger.per_core 160000 messages/s\nnats.ledger.added_to_tap 1.250 µs/message\n";

    #[test]
    fn figures_are_sorted_by_cost_and_way() {
        let costs = read(OUTPUT).unwrap();
        let names: Vec<_> = costs.iter().map(|cost| cost.name.as_str()).collect();
        assert_eq!(names, ["kafka", "nats"]);
        assert_eq!(costs[0].figure("client", "cpu"), Some(0.5));
        assert_eq!(costs[1].added(), Some(("tap", 1.25)));
        let shown = table(&costs).to_string();
        assert!(shown.contains("| kafka   | ledger | 2.10 "), "{shown}");
        assert!(read("").is_err() && read("kafka.cpu 1 µs").is_err());
    }

    #[test]
    fn each_limit_is_judged_by_the_ledgers_way() {
        let shown = verdicts(&read(OUTPUT).unwrap()).to_string();
        let verdicts: Vec<_> = shown.lines().skip(2).collect();
        let ends: Vec<_> = verdicts.iter().map(|line| line.ends_with("| holds   |")).collect();
        assert_eq!(ends, [false, true, true, false], "{shown}");
        assert!(verdicts[0].contains("≤ 1.5 µs added to `client`"), "{shown}");
        assert!(verdicts[0].contains("| +1.60 µs |") && verdicts[0].contains("| MISSED  |"));
    }
}
