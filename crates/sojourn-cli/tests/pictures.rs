//! The pictures of the README and the guide: the demo with some faults, as its terminal, its
//! dashboard and its report show it. `cargo xtask pictures` keeps them in `docs/pictures/`; without
//! it the test only sees that they can be made.

use std::path::{Path, PathBuf};
use std::process::Command;

use sojourn_testkit::services::PLAYWRIGHT;
use sojourn_testkit::{free_port, sojourn_path, temp_dir};

use crate::common::until;
use crate::terminal::Tmux;

/// Largest picture, bytes: readers of the README load them all.
const BYTES_MAX: u64 = 150_000;
/// When the run is looked at: everything has figures, and something has failed.
const SECOND: u64 = 12;
const RUN: &str = "demo --drop 0.5 --redeliver 1 --reorder 1 --poison 0.5 --rate 60/s --warmup 2s \
                   --steady 18s --within 4s --output run.sojourn --report report.html --live screen";

/// Has a browser write pictures of a page: `NAME-light.png` and `NAME-dark.png`, or `NAME.png`. It
/// makes way for the run, which would look worse for it.
fn picture(how: &str, address: &str, folder: &Path) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pictures.py");
    let output = Command::new("nice")
        .args(["-n", "19", "timeout", "120"])
        .arg(PLAYWRIGHT.python().unwrap())
        .args([script, how, address])
        .arg(folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the browser failed: {said}");
}

/// The second that a screen shows.
fn second(screen: &str) -> Option<u64> {
    let (before, _) = screen.lines().next()?.rsplit_once(" / ")?;
    let (minutes, seconds) = before.rsplit_once(' ')?.1.split_once(':')?;
    Some(minutes.parse::<u64>().ok()? * 60 + seconds.parse::<u64>().ok()?)
}

#[test]
fn pictures_of_terminal_dashboard_and_report() {
    let folder = temp_dir().unwrap();
    let kept = std::env::var_os("SOJOURN_PICTURES").map(PathBuf::from);
    let pictures = kept.as_deref().unwrap_or_else(|| folder.path());
    let web = format!("127.0.0.1:{}", free_port().unwrap());
    let sojourn = sojourn_path();
    let script = format!("'{}' {RUN} --web={web}; exec cat", sojourn.to_string_lossy());
    let tmux = Tmux::start(100, 30, folder.path(), &script);
    until("it goes on", || second(&tmux.screen()).is_some_and(|second| second >= SECOND));
    std::fs::write(folder.path().join("screen"), tmux.coloured()).unwrap();
    picture("dashboard", &format!("http://{web}/"), pictures);
    picture("terminal", folder.path().join("screen").to_str().unwrap(), pictures);
    let report = folder.path().join("report.html");
    tmux.shows(&["report    report.html"]);
    picture("report", &format!("file://{}", report.display()), pictures);
    for name in ["terminal", "dashboard-light", "dashboard-dark", "report-light", "report-dark"] {
        let bytes = std::fs::metadata(pictures.join(format!("{name}.png"))).unwrap().len();
        assert!((5_000..=BYTES_MAX).contains(&bytes), "{name}: {bytes} bytes");
    }
}
