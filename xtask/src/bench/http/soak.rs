//! Ten minutes at 20,000 requests a second: memory must be flat after the first minute.

use std::process::Stdio;
use std::time::Duration;

use super::outputs::attacks;
use super::tool::own_bytes;
use super::{attack, nginx, scratch};
use crate::bench::built;
use crate::bench::limits::Limits;
use crate::bench::table::Table;
use crate::phase::now;

const RATE: &str = "20000";
const MINUTES: u64 = 10;

/// Runs it once, with memory looked at ten times a second.
pub(in crate::bench) fn compare() -> Result<Vec<Table>, String> {
    let (sojourn, server) = (built::sojourn()?, nginx()?);
    let output = scratch("soak.sojourn");
    let duration = format!("{MINUTES}m");
    let mut child =
        attack(&sojourn, &server.url, &["-rate", RATE, "-duration", &duration], &output)
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| format!("{}: {error}", sojourn.display()))?;
    let begin = now();
    let mut of_minute = [0.0_f64; MINUTES as usize];
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        if let (Some(bytes), Some(max)) =
            (own_bytes(child.id()), of_minute.get_mut((begin.elapsed().as_secs() / 60) as usize))
        {
            *max = max.max(bytes);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let reading = attacks(&sojourn, &output)?;
    let mut head = vec!["20,000 requests/s for 10 minutes".to_owned()];
    let mut row = vec![format!("{:.0} requests; own memory MB, max", reading.requests)];
    for (minute, bytes) in of_minute.iter().enumerate() {
        head.push(format!("minute {}", minute + 1));
        row.push(format!("{:.2}", bytes / 1e6));
    }
    let mut table = Table::new(&head.iter().map(String::as_str).collect::<Vec<_>>());
    table.row(&row);
    let mut limits = Limits::of("ten minutes");
    let grown = of_minute[MINUTES as usize - 1] / of_minute[1];
    limits.at_most("memory of the last minute ≤ 1.05 × the second's", Some(grown), " ×", 1.05);
    Ok(vec![table, limits.table()])
}
