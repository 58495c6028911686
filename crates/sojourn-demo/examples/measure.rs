//! What the demo costs: processor time by thread, at so many payments a second.
//!
//! `cargo run --release -p sojourn-demo --example measure -- [RATE [SECONDS [POLL_MS [TAPS]]]]`
//!
//! The client is one thread with one connection and a fixed schedule; a tap is a further consumer
//! of the events topic, as a load tool would have one.

#![expect(clippy::print_stdout, reason = "an example speaks to the terminal")]

use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use sojourn_clock::{SECOND_NS, now_ns, sleep_until};
use sojourn_demo::{Demo, DemoConfig, TruthLog};
use std::collections::BTreeMap;
use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Clock ticks in a second, as `/proc` counts processor time on Linux.
const TICKS: f64 = 100.0;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let mut argument = |default| arguments.next().unwrap_or(Ok(default));
    let (rate, seconds) = (argument(200)?.clamp(1, 5_000), argument(20)?.clamp(1, 600));
    let (poll_ms, taps) = (argument(100)?, argument(1)?.min(4));

    let truth_path = std::env::temp_dir().join(format!("measure-{}.ndjson", std::process::id()));
    let mut config = DemoConfig { truth_path: Some(truth_path.clone()), ..DemoConfig::default() };
    config.relay.poll_ms = poll_ms;
    let partitions = i32::from(config.partitions);
    let demo = Demo::start(config)?;
    let taps = (0..taps).map(|_| tap(demo.brokers(), partitions)).collect::<Result<Vec<_>, _>>()?;

    let before = processor_ticks()?;
    let begun_ns = now_ns();
    let latest_ns = pay(demo.api_url(), rate, seconds, &taps)?;
    let elapsed = (now_ns() - begun_ns) as f64 / SECOND_NS as f64;
    let after = processor_ticks()?;

    println!("{rate}/s for {elapsed:.1} s, relay every {poll_ms} ms, {} tap(s)", taps.len());
    println!("slowest answer {:.1} ms", latest_ns as f64 / 1e6);
    let mut sum = 0.0;
    for (name, ticks) in &after {
        let used =
            ticks.saturating_sub(before.get(name).copied().unwrap_or(0)) as f64 / TICKS / elapsed;
        sum += used;
        println!("{:6.2} % of a core  {name}", used * 100.0);
    }
    println!("{:6.2} % of a core  in all, client and taps included", sum * 100.0);

    let begun_ns = now_ns();
    println!("{:?}", demo.stop()?);
    println!("stopped within {:.2} s", (now_ns() - begun_ns) as f64 / 1e9);
    println!("{:?}", TruthLog::read(&truth_path)?.totals());
    std::fs::remove_file(truth_path)?;
    Ok(())
}

/// Pays on schedule; the slowest answer, nanoseconds.
fn pay(url: &str, rate: u64, seconds: u64, taps: &[BaseConsumer]) -> Result<u64, Box<dyn Error>> {
    let address = url.strip_prefix("http://").unwrap_or(url);
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let body = r#"{"amount": 86.10, "currency": "GBP"}"#;
    let request = format!(
        "POST /api/payment/create HTTP/1.1\r\nhost: {address}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut answer = [0; 1_024];
    let mut slowest_ns = 0;
    let begun_ns = now_ns();
    for k in 0..rate * seconds {
        sleep_until(begun_ns + k * SECOND_NS / rate);
        let sent_ns = now_ns();
        stream.write_all(request.as_bytes())?;
        let read = stream.read(&mut answer)?;
        slowest_ns = slowest_ns.max(now_ns() - sent_ns);
        if !answer[..read].starts_with(b"HTTP/1.1 200") {
            return Err(String::from_utf8_lossy(&answer[..read]).into());
        }
        for tap in taps {
            while tap.poll(Duration::ZERO).is_some() {}
        }
    }
    Ok(slowest_ns)
}

fn tap(brokers: &str, partitions: i32) -> Result<BaseConsumer, Box<dyn Error>> {
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", brokers)
        .set("group.id", "measure")
        .set("enable.auto.commit", "false")
        .set("fetch.wait.max.ms", "2")
        .create()?;
    let mut list = TopicPartitionList::new();
    for partition in 0..partitions {
        list.add_partition_offset("payments.events", partition, Offset::Beginning)?;
    }
    consumer.assign(&list)?;
    Ok(consumer)
}

/// User and system ticks so far, by thread name (fields 14 and 15 of `/proc/…/stat`).
fn processor_ticks() -> Result<BTreeMap<String, u64>, Box<dyn Error>> {
    let mut ticks = BTreeMap::new();
    for entry in std::fs::read_dir("/proc/self/task")? {
        // A thread may end while we read about it.
        let stat = std::fs::read_to_string(entry?.path().join("stat")).unwrap_or_default();
        let (Some(open), Some(close)) = (stat.find('('), stat.rfind(')')) else {
            continue;
        };
        let fields = stat[close + 1..].split_ascii_whitespace();
        let used: u64 = fields.skip(11).take(2).filter_map(|it| it.parse::<u64>().ok()).sum();
        *ticks.entry(stat[open + 1..close].to_owned()).or_default() += used;
    }
    Ok(ticks)
}
