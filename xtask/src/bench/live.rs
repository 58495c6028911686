//! What looking at a run costs it: the display, the dashboard with somebody there, an output. And
//! how long who looks has to wait for the dashboard.
//!
//! An attack with all of these beside the same attack with none, in turn. Processor time is that of
//! the whole process; nginx has the first core. Both have a terminal of their own. The dashboard
//! has an hour of a hundred lines, and a browser uses it by pointer and keys.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::bench::built;
use crate::bench::cpu;
use crate::bench::served::Served;
use crate::bench::table::Table;
use crate::shell::{command, find_on_path, root};

const ROUNDS: usize = 5;
const RATE_PER_S: u32 = 20_000;
const SECONDS: u32 = 10;
/// Most that looking may add, of the processor time without.
const SHARE_MAX: f64 = 0.03;
/// Longest time until what was done is seen.
const INTERACTION_MS_MAX: f64 = 100.0;
/// What is done with the dashboard, by the benchmark's names, and in words.
const INTERACTIONS: [(&str, &str); 4] = [
    ("dashboard.zoom", "zoom by dragging a pointer"),
    ("dashboard.move", "the pointer moves as it drags"),
    ("dashboard.whole", "all of it again, by Escape"),
    ("dashboard.legend", "a line is switched off in the legend"),
];

struct Attack {
    sojourn: PathBuf,
    folder: PathBuf,
    url: String,
}

/// Runs the comparison.
pub(crate) fn compare() -> Result<Vec<Table>, String> {
    let nginx = find_on_path("nginx").ok_or("`nginx` is missing; try: apt-get install nginx")?;
    find_on_path("script").ok_or("`script` is missing; try: apt-get install bsdutils")?;
    let folder = root().join("target/bench-live");
    let server = Served::nginx(&nginx, &folder)?;
    let sojourn = built::sojourn()?;
    let attack = Attack { sojourn, folder, url: server.url.clone() };
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        eprintln!("  round {round} of {ROUNDS}");
        without.push(attack.unseen_us()?);
        with.push(attack.seen_us()?);
    }
    let [without, with] = [without, with].map(median);
    let share = with / without - 1.0;
    let holds = if share <= SHARE_MAX { "holds" } else { "MISSED" };
    let mut table = Table::new(&["attack", "figure", "sojourn", "limit"]);
    let work = format!("{RATE_PER_S}/s for {SECONDS} s");
    let mut row = |figure: &str, value: String, limit: &str| {
        table.row(&[&work, figure, &value, limit]);
    };
    row("s of CPU, nobody looks", format!("{:.2}", without / 1e6), "");
    row("s of CPU, display, dashboard and NDJSON", format!("{:.2}", with / 1e6), "");
    let limit = format!("≤ {} %: {holds}", SHARE_MAX * 100.0);
    row("% more", format!("{:.1}", share * 100.0), &limit);
    Ok(vec![table, interactions(&super::measure("sojourn-web", super::OF_LIVE)?)?])
}

/// The table of a benchmark's output.
fn interactions(output: &str) -> Result<Table, String> {
    let figure = |wanted: &str| {
        let mut figures = output.lines().filter_map(super::figure);
        let value = figures.find(|[name, ..]| *name == wanted).map(|[_, value, _]| value);
        let value = value.and_then(|value| value.parse::<f64>().ok());
        value.ok_or_else(|| format!("the benchmark `{}` has no {wanted}", super::OF_LIVE))
    };
    let lines = figure("dashboard.lines")?;
    let head = ["dashboard", "ms from the event until the frame is painted", "sojourn", "limit"];
    let mut table = Table::new(&head);
    for (name, words) in INTERACTIONS {
        let ms = figure(name)?;
        let holds = if ms <= INTERACTION_MS_MAX { "holds" } else { "MISSED" };
        let limit = format!("≤ {INTERACTION_MS_MAX}: {holds}");
        table.row(&[&format!("an hour of {lines} lines"), words, &format!("{ms:.1}"), &limit]);
    }
    Ok(table)
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

impl Attack {
    fn unseen_us(&self) -> Result<f64, String> {
        self.run_us("--live off")
    }

    fn seen_us(&self) -> Result<f64, String> {
        let explain = |error: std::io::Error| error.to_string();
        // Free just now, and taken again at once.
        let address = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
        let address = address.map_err(explain)?;
        let over = AtomicBool::new(false);
        let lines = self.folder.join("seconds.ndjson");
        let flags = format!("--live screen --web={address} --out ndjson={}", lines.display());
        std::thread::scope(|scope| {
            scope.spawn(|| watch(address, &over));
            let used = self.run_us(&flags);
            over.store(true, Ordering::SeqCst);
            used
        })
    }

    /// Processor time of an attack with these flags, microseconds.
    fn run_us(&self, flags: &str) -> Result<f64, String> {
        let sojourn = self.sojourn.display();
        let output = self.folder.join("live.sojourn");
        let line = format!(
            "stty cols 120 rows 40; exec {sojourn} attack {} -rate {RATE_PER_S} -duration \
             {SECONDS}s {flags} -output {}",
            self.url,
            output.display()
        );
        let before_us = cpu::of_ended_children()?;
        let status = command("script", &["-qec", &line, "/dev/null"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .map_err(|error| format!("script: {error}"))?;
        if !status.success() {
            return Err(format!("the attack failed: {line}"));
        }
        // What is measured is a microsecond's precise at best.
        Ok((cpu::of_ended_children()? - before_us) as f64)
    }
}

/// Looks at the dashboard as a browser does, from when it is there until the end.
fn watch(address: SocketAddr, over: &AtomicBool) {
    while !over.load(Ordering::SeqCst) {
        if let Ok(mut stream) = TcpStream::connect(address) {
            let asked = b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n";
            // Whatever ends it, the attack has.
            let _ignored =
                stream.write_all(asked).and_then(|()| stream.read_to_end(&mut Vec::new()));
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interactions_are_held_against_their_limit() {
        let output = "dashboard.lines 101 lines\nsaid on the way\ndashboard.zoom 99.6 ms\n\
                      dashboard.move 12 ms\ndashboard.whole 100.1 ms\ndashboard.legend 3.2 ms\n";
        let table = interactions(output).unwrap();
        let [_, zoom, _, whole, legend] = table.rows() else { panic!("{table}") };
        let zoomed = ["an hour of 101 lines", "zoom by dragging a pointer", "99.6", "≤ 100: holds"];
        assert_eq!(zoom, &zoomed);
        assert_eq!((&*whole[2], &*whole[3]), ("100.1", "≤ 100: MISSED"));
        assert_eq!(&legend[2..], ["3.2", "≤ 100: holds"]);
        assert!(interactions("dashboard.lines 101 lines").is_err());
    }
}
