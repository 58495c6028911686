//! `sojourn session run` beside `sojourn attack`: what a client costs, and what its pings do.
//!
//! nginx has the first core. Processor time and memory are those of the tool's own process.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::bench::built;
use crate::bench::cpu;
use crate::bench::served::Served;
use crate::bench::table::Table;
use crate::shell::{capture, command, find_on_path, root};

const ROUNDS: usize = 3;
const PINGS_PER_S: u32 = 5_000;
const SECONDS: u32 = 10;
/// Clients that are there at once and wait.
const CLIENTS: u32 = 9_000;

/// Clients that come within a second and ping ten times a second at random.
const PINGING: &str = "
definition.setTarget('BASE');
definition.setArrivalPhases([
  { duration: 1, rate: 5000, max_clients: 500 }, { duration: 10, rate: 0 } ]);
definition.session('ping', (session) => {
  session.forEver((loop) => { loop.get('/', { tag: 'ping' }); loop.waitExp(0.1); });
});
";

/// Clients that come within ten seconds, ask once, and wait.
const WAITING: &str = "
definition.setTarget('BASE');
definition.setArrivalPhases([
  { duration: 10, rate: RATE, max_clients: COUNT }, { duration: 8, rate: 0 } ]);
definition.session('wait', (session) => { session.get('/', { tag: 'ping' }); session.wait(15); });
";

struct Tools {
    sojourn: PathBuf,
    folder: PathBuf,
    /// Without a slash at its end.
    base: String,
}

/// Runs the comparison.
pub(crate) fn compare() -> Result<Vec<Table>, String> {
    let nginx = find_on_path("nginx").ok_or("`nginx` is missing; try: apt-get install nginx")?;
    let sojourn = built::sojourn()?;
    let folder = root().join("target/bench-clients");
    let server = Served::nginx(&nginx, &folder)?;
    let base = server.url.trim_end_matches('/').to_owned();
    let tools = Tools { sojourn, folder, base };
    let mut table = Table::new(&["work", "figure", "sojourn", "limit"]);
    let few = tools.resident_kb(100)?;
    let many = tools.resident_kb(CLIENTS)?;
    let each = (many - few) * 1024.0 / f64::from(CLIENTS - 100);
    let bytes = format!("{each:.0}");
    let work = format!("{CLIENTS} clients that wait, their connections open");
    table.row(&[&work, "bytes of the process, each", &bytes, &verdict(each, 1_536.0)]);
    let (mut pings, mut hits) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        eprintln!("  round {round} of {ROUNDS}");
        pings.push(tools.us_per_ping()?);
        hits.push(tools.us_per_hit()?);
    }
    let [ping, hit] = [pings, hits].map(median);
    let work = format!("{PINGS_PER_S}/s for {SECONDS} s");
    table.row(&[&work, "µs of CPU a ping of 500 clients", &format!("{ping:.1}"), ""]);
    table.row(&[&work, "µs of CPU a hit of attack", &format!("{hit:.1}"), ""]);
    let ratio = ping / hit;
    table.row(&[&work, "ratio", &format!("{ratio:.2}"), &verdict(ratio, 1.3)]);
    Ok(vec![table])
}

fn verdict(value: f64, limit: f64) -> String {
    format!("≤ {limit}: {}", if value <= limit { "holds" } else { "MISSED" })
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

impl Tools {
    fn command(&self, words: &[&str]) -> Command {
        command(&self.sojourn.display().to_string(), words)
    }

    /// Starts a session script's run; its run file's name follows from the script's.
    fn session(&self, name: &str, script: &str) -> Result<Child, String> {
        let path = self.folder.join(format!("{name}.js"));
        let explain = |error: std::io::Error| format!("{name}: {error}");
        std::fs::write(&path, script.replace("BASE", &self.base)).map_err(explain)?;
        self.command(&["session", "run", "--quiet"])
            .arg(&path)
            .arg("--output")
            .arg(path.with_extension("sojourn"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(explain)
    }

    /// What the process holds while so many clients wait.
    fn resident_kb(&self, clients: u32) -> Result<f64, String> {
        let rate = (f64::from(clients) / 9.0).to_string();
        let script = WAITING.replace("RATE", &rate).replace("COUNT", &clients.to_string());
        let mut run = self.session("waiting", &script)?;
        std::thread::sleep(Duration::from_secs(13));
        let status = std::fs::read_to_string(format!("/proc/{}/status", run.id()));
        ended(&mut run)?;
        let status = status.map_err(|error| error.to_string())?;
        let line = status.lines().find(|line| line.starts_with("VmRSS"));
        let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        number.ok_or_else(|| "no resident memory is told".to_owned())
    }

    fn us_per_ping(&self) -> Result<f64, String> {
        let before_us = cpu::of_ended_children()?;
        ended(&mut self.session("pinging", PINGING)?)?;
        let used_us = cpu::of_ended_children()? - before_us;
        let file = self.folder.join("pinging.sojourn");
        Ok(used_us as f64 / self.requests(&file)?)
    }

    fn us_per_hit(&self) -> Result<f64, String> {
        let file = self.folder.join("attack.sojourn");
        let (rate, seconds) = (PINGS_PER_S.to_string(), format!("{SECONDS}s"));
        let before_us = cpu::of_ended_children()?;
        let mut run = self
            .command(&["attack", &self.base])
            .args(["-rate", &rate, "-duration", &seconds, "-quiet", "-output"])
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("attack: {error}"))?;
        ended(&mut run)?;
        let used_us = cpu::of_ended_children()? - before_us;
        Ok(used_us as f64 / self.requests(&file)?)
    }

    /// How many requests a run made, as its report says.
    fn requests(&self, file: &Path) -> Result<f64, String> {
        let report = capture(self.command(&["report", "--format", "json"]).arg(file))?;
        let report: serde_json::Value =
            serde_json::from_str(&report).map_err(|error| format!("report: {error}"))?;
        let steps = &report["journeys"][0]["steps"];
        let requests =
            steps.as_array().into_iter().flatten().filter_map(|step| step["requests"].as_f64());
        let sum: f64 = requests.sum();
        if sum > 0.0 { Ok(sum) } else { Err(format!("{}: no requests", file.display())) }
    }
}

/// Waits for a run, which must pass.
fn ended(run: &mut Child) -> Result<(), String> {
    let status = run.wait().map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("a run ended with {status}")) }
}
