//! Tools under test, and their runs in turn.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::outputs::Reading;
use crate::bench::cpu::{self, Times};
use crate::bench::served::Served;
use crate::phase::now;
use crate::shell::show;

pub(super) const ROUNDS: usize = 5;

/// Makes the command that loads a URL.
type MakeCommand = Box<dyn Fn(&str) -> Command>;
/// What an output says, or why it cannot be believed.
type Read = Box<dyn Fn(&str) -> Result<Reading, String>>;

/// A tool under test.
pub(super) struct Tool {
    pub(super) name: String,
    command: MakeCommand,
    read: Read,
    pub(super) samples: Vec<Sample>,
}

/// One run of one tool.
pub(super) struct Sample {
    pub(super) reading: Reading,
    pub(super) elapsed_s: f64,
    tool_cpu: Times,
    server_cpu_us: f64,
    /// The process's own memory at its most, bytes: neither files nor the kernel's sockets.
    pub(super) own_bytes_max: f64,
}

impl Tool {
    pub(super) fn new(
        name: &str,
        command: impl Fn(&str) -> Command + 'static,
        read: impl Fn(&str) -> Result<Reading, String> + 'static,
    ) -> Self {
        Self {
            name: name.to_owned(),
            command: Box::new(command),
            read: Box::new(read),
            samples: Vec::new(),
        }
    }

    /// The median of a figure of its runs.
    pub(super) fn median(&self, figure: impl Fn(&Sample) -> f64) -> f64 {
        let figures = self.sorted(figure);
        figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// A figure of its runs, in order.
    pub(super) fn sorted(&self, figure: impl Fn(&Sample) -> f64) -> Vec<f64> {
        let mut figures: Vec<f64> = self.samples.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        figures
    }

    /// Runs it once and keeps what was seen.
    pub(super) fn sample(&mut self, server: &Served, url: &str) -> Result<(), String> {
        let mut command = (self.command)(url);
        let shown = show(&command);
        let explain = |error: std::io::Error| format!("`{shown}`: {error}");
        let (tool_before, server_before) =
            (cpu::times_of_ended_children()?, cpu::of_process(server.pid())?);
        let begin = now();
        let child = command.stdout(Stdio::piped()).spawn().map_err(explain)?;
        let (output, own_bytes_max) = watch(child).map_err(explain)?;
        let elapsed_s = begin.elapsed().as_secs_f64();
        let tool_cpu = cpu::times_of_ended_children()?.since(tool_before);
        let server_cpu_us = (cpu::of_process(server.pid())? - server_before) as f64;
        let reading = (self.read)(&output).map_err(|error| format!("`{shown}`: {error}"))?;
        self.samples.push(Sample { reading, elapsed_s, tool_cpu, server_cpu_us, own_bytes_max });
        Ok(())
    }
}

impl Sample {
    pub(super) fn cpu_us(&self) -> f64 {
        self.user_us() + self.system_us()
    }

    pub(super) fn user_us(&self) -> f64 {
        self.tool_cpu.user_us as f64 / self.reading.requests
    }

    pub(super) fn system_us(&self) -> f64 {
        self.tool_cpu.system_us as f64 / self.reading.requests
    }

    pub(super) fn server_us(&self) -> f64 {
        self.server_cpu_us / self.reading.requests
    }
}

/// Runs the tools in turn, in another order each round.
pub(super) fn run_rounds(tools: &mut [Tool], server: &Served, url: &str) -> Result<(), String> {
    for round in 1..=ROUNDS {
        eprintln!("  round {round} of {ROUNDS}");
        for tool in &mut *tools {
            tool.sample(server, url)?;
        }
        tools.reverse();
    }
    tools.reverse();
    Ok(())
}

/// Waits for the end: what it wrote, and the most own memory it had at a time, bytes.
fn watch(child: Child) -> std::io::Result<(String, f64)> {
    // taskset becomes the tool, so the pid is the tool's own.
    let pid = child.id();
    let waiter = std::thread::spawn(move || child.wait_with_output());
    let mut own_bytes_max: f64 = 0.0;
    while !waiter.is_finished() {
        own_bytes_max = own_bytes_max.max(own_bytes(pid).unwrap_or(0.0));
        std::thread::sleep(Duration::from_millis(100));
    }
    let output =
        waiter.join().map_err(|_| std::io::Error::other("it could not be waited for"))??;
    Ok((String::from_utf8_lossy(&output.stdout).into_owned(), own_bytes_max))
}

/// `RssAnon:     1234 kB` of proc_pid_status(5), in bytes.
pub(in crate::bench) fn own_bytes(pid: u32) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.trim().strip_suffix(" kB")?.parse::<f64>().ok().map(|kb| kb * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_memory_is_read() {
        assert!(own_bytes(std::process::id()).unwrap() > 100_000.0);
        assert_eq!(own_bytes(u32::MAX), None);
    }
}
