//! Tools under test, their runs and the table of them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::nginx::Nginx;
use crate::bench::cpu::{self, Times};
use crate::bench::table::Table;
use crate::phase::now;
use crate::shell::show;

const ROUNDS: usize = 5;

/// A tool under test.
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) command: fn(&Path, &str) -> Command,
    pub(super) program: PathBuf,
    /// The requests that its output reports, or why it cannot be believed.
    pub(super) read: fn(&str) -> Result<f64, String>,
    pub(super) samples: Vec<Sample>,
}

/// One run of one tool.
pub(super) struct Sample {
    requests: f64,
    elapsed_s: f64,
    tool_cpu: Times,
    server_cpu_us: f64,
    memory_kb_max: f64,
}

/// Runs the tools in turn, in another order each round.
pub(super) fn run_rounds(tools: &mut [Tool], server: &Nginx, url: &str) -> Result<(), String> {
    for round in 1..=ROUNDS {
        eprintln!("  round {round} of {ROUNDS}");
        for tool in &mut *tools {
            let sample = sample(tool, server, url)?;
            tool.samples.push(sample);
        }
        tools.reverse();
    }
    tools.sort_by_key(|tool| tool.name);
    Ok(())
}

fn sample(tool: &Tool, server: &Nginx, url: &str) -> Result<Sample, String> {
    let mut command = (tool.command)(&tool.program, url);
    let shown = show(&command);
    let (tool_before, server_before) =
        (cpu::times_of_ended_children()?, cpu::of_process(server.pid())?);
    let begin = now();
    let explain = |error: std::io::Error| format!("`{shown}`: {error}");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().map_err(explain)?;
    let (output, memory_kb_max) = watch(child).map_err(explain)?;
    let elapsed_s = begin.elapsed().as_secs_f64();
    let requests = (tool.read)(&output).map_err(|error| format!("`{shown}`: {error}"))?;
    Ok(Sample {
        requests,
        elapsed_s,
        tool_cpu: cpu::times_of_ended_children()?.since(tool_before),
        server_cpu_us: (cpu::of_process(server.pid())? - server_before) as f64,
        memory_kb_max,
    })
}

/// Waits for the end: what it wrote, and the most memory it had at a time.
fn watch(child: Child) -> std::io::Result<(String, f64)> {
    // taskset becomes the tool, so the pid is the tool's own.
    let pid = child.id();
    let waiter = std::thread::spawn(move || child.wait_with_output());
    let mut memory_kb_max: f64 = 0.0;
    while !waiter.is_finished() {
        // The kernel keeps the maximum itself, so the last look but one is enough.
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        memory_kb_max = memory_kb_max.max(peak_kb(&status).unwrap_or(0.0));
        std::thread::sleep(Duration::from_millis(100));
    }
    let output =
        waiter.join().map_err(|_| std::io::Error::other("it could not be waited for"))??;
    Ok((String::from_utf8_lossy(&output.stdout).into_owned(), memory_kb_max))
}

/// `VmHWM:     1234 kB` of proc_pid_status(5).
fn peak_kb(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// A row for each tool, compared with the one of that name.
pub(super) fn table(head: &str, tools: &[Tool], reference: &str) -> Table {
    let mut table = Table::new(&[
        head,
        "CPU µs/request, median",
        &format!("of {reference}'s"),
        "user + system",
        "min to max",
        "requests/s, median",
        "nginx CPU µs/request, median",
        "memory MB, max",
    ]);
    let reference_us = tools.iter().find(|tool| tool.name == reference).map_or(0.0, Tool::cpu_us);
    for tool in tools {
        let sorted = |figure: fn(&Sample) -> f64| {
            let mut figures: Vec<f64> = tool.samples.iter().map(figure).collect();
            figures.sort_by(f64::total_cmp);
            figures
        };
        let cpu = sorted(|sample| sample.cpu_us());
        let user = sorted(|sample| sample.tool_cpu.user_us as f64 / sample.requests);
        let system = sorted(|sample| sample.tool_cpu.system_us as f64 / sample.requests);
        let rate = sorted(|sample| sample.requests / sample.elapsed_s);
        let server = sorted(|sample| sample.server_cpu_us / sample.requests);
        let memory = sorted(|sample| sample.memory_kb_max / 1024.0);
        let median = ROUNDS / 2;
        table.row(&[
            tool.name.to_owned(),
            format!("{:.2}", cpu[median]),
            format!("{:.2}", cpu[median] / reference_us),
            format!("{:.2} + {:.2}", user[median], system[median]),
            format!("{:.2} to {:.2}", cpu[0], cpu[ROUNDS - 1]),
            format!("{:.0}", rate[median]),
            format!("{:.2}", server[median]),
            format!("{:.1}", memory[ROUNDS - 1]),
        ]);
    }
    table
}

impl Tool {
    /// CPU per request, the median of its runs, microseconds.
    fn cpu_us(&self) -> f64 {
        let mut figures: Vec<f64> = self.samples.iter().map(Sample::cpu_us).collect();
        figures.sort_by(f64::total_cmp);
        figures[ROUNDS / 2]
    }
}

impl Sample {
    fn cpu_us(&self) -> f64 {
        (self.tool_cpu.user_us + self.tool_cpu.system_us) as f64 / self.requests
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_are_read() {
        assert_eq!(peak_kb("Name:\tx\nVmHWM:\t    1234 kB\nVmRSS:\t 5 kB\n"), Some(1234.0));
        assert_eq!(peak_kb("Name:\tx\n"), None);
        let own = std::fs::read_to_string("/proc/self/status").unwrap();
        assert!(peak_kb(&own).unwrap() > 100.0);
    }
}
