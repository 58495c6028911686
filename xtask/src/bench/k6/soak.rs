//! Fixed users at a fixed pace for ten minutes: memory must be flat after the first minute. k6 runs
//! beside, at the same time and on the same server, since it keeps what it has measured.

use std::process::{Child, Stdio};
use std::time::Duration;

use super::{Tools, verdict};
use crate::bench::http::own_bytes;
use crate::bench::table::Table;
use crate::phase::now;
use crate::shell::command;

/// Minutes, unless the variable says otherwise.
const MINUTES: u64 = 10;
const VARIABLE: &str = "SOJOURN_BENCH_MINUTES";
/// Fewer show nothing: the first is not looked at.
const MINUTES_MIN: u64 = 3;
/// The last minute's memory over the second one's.
const GROWTH_MAX: f64 = 1.05;

/// 1,000 iterations a second, give or take the answers.
const SOAKING: &str = "
import http from 'k6/http';
import { check, sleep } from 'k6';
export const options = { vus: 100, duration: `${__ENV.MINUTES}m` };
export default function () {
    const answer = http.get(__ENV.BASE);
    check(answer, { 'status is 200': (a) => a.status === 200 });
    sleep(0.1);
}
";

/// A tool at work, and its memory at most in each minute, bytes.
struct Soaked {
    child: Child,
    of_minute: Vec<f64>,
}

/// Memory of both by the minute.
pub(super) fn soak(tools: &Tools) -> Result<Table, String> {
    let minutes = minutes(std::env::var(VARIABLE).ok().as_deref())?;
    eprintln!("  soak, {minutes} minutes");
    let mut all = [start(tools, 0, minutes)?, start(tools, 1, minutes)?];
    let watched = watch(&mut all);
    // Nobody is left behind, whatever went wrong.
    let ended = all.each_mut().map(|soaked| {
        if watched.is_err() {
            soaked.child.kill().ok();
        }
        soaked.child.wait().map_err(|error| error.to_string())
    });
    watched?;
    for (ended, (shown, ..)) in ended.into_iter().zip(&tools.programs) {
        let status = ended?;
        if !status.success() {
            return Err(format!("{shown}, soak: {status}"));
        }
    }
    let [ours, theirs] = all.map(|soaked| soaked.of_minute);
    Ok(table(&ours, &theirs))
}

fn minutes(asked: Option<&str>) -> Result<u64, String> {
    let Some(text) = asked else { return Ok(MINUTES) };
    let minutes = text.parse().ok().filter(|minutes| *minutes >= MINUTES_MIN);
    minutes.ok_or_else(|| format!("{VARIABLE}: `{text}` is no number from {MINUTES_MIN} on"))
}

fn start(tools: &Tools, tool: usize, minutes: u64) -> Result<Soaked, String> {
    let (shown, program, words) = &tools.programs[tool];
    let script = tools.folder.join("soak.js");
    let explain = |error: std::io::Error| format!("{shown}, soak: {error}");
    std::fs::write(&script, SOAKING).map_err(explain)?;
    let child = command(&program.to_string_lossy(), words)
        .args(["--quiet", "-e", &format!("BASE={}", tools.base)])
        .args(["-e", &format!("MINUTES={minutes}")])
        .arg(&script)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(explain)?;
    let of_minute = vec![0.0; usize::try_from(minutes).unwrap_or_default()];
    Ok(Soaked { child, of_minute })
}

/// Looks at their memory ten times a second, until both have ended.
fn watch(all: &mut [Soaked; 2]) -> Result<(), String> {
    let begin = now();
    loop {
        let minute = usize::try_from(begin.elapsed().as_secs() / 60).unwrap_or(usize::MAX);
        let mut is_over = true;
        for soaked in all.iter_mut() {
            let ended = soaked.child.try_wait().map_err(|error| error.to_string())?;
            if ended.is_some() {
                continue;
            }
            is_over = false;
            let bytes = own_bytes(soaked.child.id());
            if let (Some(bytes), Some(max)) = (bytes, soaked.of_minute.get_mut(minute)) {
                *max = max.max(bytes);
            }
        }
        if is_over {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A row for each tool, with how much it has grown since the second minute.
fn table(ours: &[f64], theirs: &[f64]) -> Table {
    let mut head = vec!["100 users at a pace; own memory MB, max".to_owned()];
    head.extend((1..=ours.len()).map(|minute| format!("minute {minute}")));
    head.extend(["last / second".to_owned(), "limit".to_owned()]);
    let mut table = Table::new(&head.iter().map(String::as_str).collect::<Vec<_>>());
    for (shown, of_minute, is_held) in [("sojourn", ours, true), ("k6", theirs, false)] {
        let growth = growth(of_minute);
        let mut row = vec![shown.to_owned()];
        row.extend(of_minute.iter().map(|bytes| format!("{:.1}", bytes / 1e6)));
        row.push(format!("{growth:.2}"));
        row.push(if is_held { verdict(growth, GROWTH_MAX) } else { String::new() });
        table.row(&row);
    }
    table
}

/// Not a number where there is nothing to compare.
fn growth(of_minute: &[f64]) -> f64 {
    match (of_minute.get(1), of_minute.last()) {
        (Some(second), Some(last)) if *second > 0.0 => last / second,
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_grows_after_the_second_minute_misses_the_limit() {
        // The first minute is not looked at.
        let table = table(&[1e6, 100e6, 101e6], &[50e6, 60e6, 90e6]).to_string();
        let ours = table.lines().find(|line| line.contains("| sojourn ")).unwrap();
        assert!(ours.contains("| 1.01 ") && ours.contains("≤ 1.05: holds"), "{table}");
        let theirs = table.lines().find(|line| line.contains("| k6 ")).unwrap();
        assert!(theirs.contains("| 1.50 ") && !theirs.contains("≤"), "{table}");
        let grown = super::table(&[1e6, 100e6, 106e6], &[1e6, 1e6, 1e6]).to_string();
        assert!(grown.contains("≤ 1.05: MISSED"), "{grown}");
        let none = super::table(&[1e6], &[1e6]).to_string();
        assert!(none.contains("MISSED"), "nothing to see is no pass: {none}");
    }

    #[test]
    fn it_can_be_shortened_but_not_to_nothing() {
        assert_eq!(minutes(None), Ok(10));
        assert_eq!(minutes(Some("3")), Ok(3));
        for wrong in ["2", "", "ten"] {
            assert!(minutes(Some(wrong)).unwrap_err().contains(VARIABLE), "{wrong}");
        }
    }
}
