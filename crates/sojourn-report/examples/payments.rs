//! Writes the report of a simulated payments run, to look at:
//! `cargo run --release -p sojourn-report --example payments -- /tmp/report`
#![allow(clippy::print_stdout, reason = "an example speaks to the terminal")]

#[path = "../tests/payments/mod.rs"]
mod payments;

use std::{error::Error, fs, path::PathBuf};

use sojourn_report::render;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("give a folder to write to")?);
    fs::create_dir_all(&folder)?;
    let model = payments::model();
    fs::write(folder.join("payments.html"), render::html(&model)?)?;
    fs::write(folder.join("payments.json"), render::json(&model)?)?;
    fs::write(folder.join("empty.html"), render::html(&payments::empty())?)?;
    print!("{}", render::text(&model, false));
    Ok(())
}
