//! How long the dashboard of an hour with a hundred lines takes until people see what they did.
//! Prints one `name value unit` a line. Needs Chromium and Playwright.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark: it prints, and may fail"
)]

#[path = "../tests/common.rs"]
mod common;
#[path = "../tests/hour.rs"]
mod hour;
#[path = "../tests/look.rs"]
mod look;

fn main() {
    let hour = hour::measure();
    println!("dashboard.lines {} lines", hour.lines);
    for (what, ms) in &hour.medians_ms {
        println!("dashboard.{what} {ms:.1} ms");
    }
}
