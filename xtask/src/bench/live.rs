//! What looking at a run costs it: the display, the dashboard with somebody there, an output.
//!
//! An attack with all of these beside the same attack with none, in turn. Processor time is that of
//! the whole process; nginx has the first core. Both have a terminal of their own.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::bench::cpu;
use crate::bench::served::Served;
use crate::bench::sojourn::build_sojourn;
use crate::bench::table::Table;
use crate::shell::{command, find_on_path, root};

const ROUNDS: usize = 5;
const RATE_PER_S: u32 = 20_000;
const SECONDS: u32 = 10;
/// Most that looking may add, of the processor time without.
const SHARE_MAX: f64 = 0.03;

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
    let sojourn = build_sojourn()?;
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
    Ok(vec![table])
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
