//! The live terminal as people see it: the real binary, its own mock as the system, in tmux.

mod lines;
mod others;
mod tmux;

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use sojourn_testkit::{Running, TempDir, free_port, sojourn, sojourn_path, temp_dir};

use crate::{common::until, mock::Mocked};
pub(crate) use tmux::Tmux;

/// A system that charges cards: it answers at once, says by a webhook when it has begun, and a
/// little later, for most, when it is done.
struct Charges {
    _mock: Mocked,
    folder: TempDir,
}

impl Charges {
    /// The system, and a folder with `plan.yaml`, which charges for up to two minutes.
    fn start() -> Self {
        let port = free_port().unwrap();
        let hooks = format!("http://127.0.0.1:{port}/hooks");
        let routes = format!(
            "
routes:
  - route: POST /charges
    status: 202
    latency: 5ms
    json: {{ id: '{{{{ body.id }}}}' }}
    callbacks:
      - {{ after: 20ms, http: {{ url: '{hooks}/begun', json: {{ id: '{{{{ body.id }}}}' }} }} }}
      - after: 300ms
        share: 80%
        http: {{ url: '{hooks}/done', json: {{ id: '{{{{ body.id }}}}' }} }}
"
        );
        let mock = Mocked::start(&[("mocks.yaml", &routes)], &["mocks.yaml"]);
        let plan = format!(
            "
name: charges
target: http://{address}
channels:
  hooks: {{ webhook: {{ listen: '127.0.0.1:{port}', path: /hooks/* }} }}
journeys:
  charge:
    root:
      http: {{ method: POST, url: /charges, json: {{ id: '{{{{ key }}}}' }} }}
      key: '{{{{ uuid() }}}}'
    stages:
      - {{ name: begun, on: hooks, match: {{ topic: /hooks/begun }}, key: $.id }}
      - {{ name: done, on: hooks, match: {{ topic: /hooks/done }}, key: $.id }}
    within: 2s
load: {{ rate: 40/s, steady: 120s, drain: 10s }}
thresholds:
  - stage.done.hop.p99 < 100ms
  - errors.rate < 50%
  - drain < 30s
health: {{ lag_p99_max: 10s, tap_behind_max: 60s, silent_max: 60s }}
",
            address = mock.address
        );
        let folder = temp_dir().unwrap();
        std::fs::write(folder.path().join("plan.yaml"), plan).unwrap();
        std::fs::create_dir(folder.path().join("run")).unwrap();
        Self { _mock: mock, folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where it listens.
    fn target(&self) -> String {
        let plan = std::fs::read_to_string(self.path().join("plan.yaml")).unwrap();
        plan.lines().find_map(|line| line.strip_prefix("target: ")).unwrap().to_owned()
    }

    /// A terminal in which `sojourn` gets these arguments; what came of it is then in files.
    fn terminal(&self, width: u16, height: u16, before: &str, arguments: &str) -> Tmux {
        let sojourn = sojourn_path();
        let script = format!(
            // The shell outlives a Ctrl-C that is a signal to both of them.
            "trap : INT; stty -a > before; export XDG_RUNTIME_DIR=$PWD/run; {before}\n\
             '{}' {arguments}; code=$?; stty -a > after; echo $code > code; exec cat",
            sojourn.to_string_lossy()
        );
        Tmux::start(width, height, self.path(), &script)
    }

    /// Waits for the exit code of what runs in the terminal, and checks that the terminal is as it
    /// was before.
    fn ended(&self, tmux: &Tmux) -> String {
        let code = self.path().join("code");
        until("it ends", || std::fs::read_to_string(&code).is_ok_and(|code| code.ends_with('\n')));
        let read = |name: &str| std::fs::read_to_string(self.path().join(name)).unwrap();
        assert_eq!(read("after"), read("before"));
        let has = |word: &str| read("after").split_whitespace().any(|it| it == word);
        assert!(has("echo") && has("isig") && has("icanon"), "{}", read("after"));
        assert!(!tmux.is("alternate_on") && tmux.is("cursor_flag"));
        read("code").trim().to_owned()
    }

    /// Amendments of the rate in the report, each as `FACTOR by WHOM`.
    fn amendments(&self, report: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.path().join(report)).unwrap();
        let report: Value = serde_json::from_str(&text).unwrap();
        let all = report["identity"]["amendments"].as_array().unwrap();
        let all = all.iter().map(|it| format!("{} by {}", it["rate_factor"], it["by"]));
        // A run that was asked again while it was being prepared is asked for the same twice.
        let mut all: Vec<String> = all.collect();
        all.dedup();
        all
    }
}

fn widest(screen: &str) -> usize {
    screen.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

/// Keeps a screen for the documentation, where `SOJOURN_SCREENS` names a folder.
fn keep(name: &str, screen: &str) {
    if let Some(folder) = std::env::var_os("SOJOURN_SCREENS") {
        std::fs::write(Path::new(&folder).join(name), screen).unwrap();
    }
}

#[test]
fn a_run_is_watched_resized_changed_and_stopped() {
    let charges = Charges::start();
    let run = "run plan.yaml -o run.sojourn --report report.json";
    let tmux = charges.terminal(80, 24, "", run);
    let screen = tmux.shows(&[
        "charges steady ",
        "rate       asked ",
        "generator  lag p99 ",
        "charge ─",
        "begun ",
        "done  ",
        "root  202 ",
        "✘ lost",
        "not seen: stage done",
        "✘ stage.done.hop.p99 < 100ms",
        "· drain < 30s",
        "? keys",
    ]);
    assert!(widest(&screen) <= 80 && screen.lines().count() <= 24, "{screen}");
    assert!(tmux.is("alternate_on"));
    keep("80x24.txt", &screen);

    tmux.resize(200, 60);
    until("it is wide", || widest(&tmux.screen()) > 180);
    keep("200x60.txt", &tmux.shows(&["reached", "█ "]));
    tmux.resize(30, 8);
    until("it is small", || {
        let screen = tmux.screen();
        widest(&screen) <= 30 && screen.contains("charges steady") && screen.contains("asked")
    });
    tmux.resize(80, 24);
    tmux.shows(&["✔ errors.rate < 50%"]);

    tmux.keys(&["?"]);
    tmux.shows(&["the next journey"]);
    tmux.keys(&["?", "Space"]);
    tmux.shows(&["display held"]);
    tmux.keys(&["Space", "+"]);
    tmux.shows(&["(1.1 × the plan's)", "rate: 1.1 × the plan's"]);
    tmux.keys(&["C-c"]);
    assert_eq!(charges.ended(&tmux), "105");
    let printed = tmux.history();
    assert!(printed.contains("report    report.json"), "{printed}");
    assert!(printed.contains("CONCLUSIONS") && printed.contains("NOTES"), "{printed}");
    assert_eq!(charges.amendments("report.json"), [r#"1.1 by "keys""#]);
}

#[test]
fn stopping_twice_ends_at_once() {
    let charges = Charges::start();
    let tmux = charges.terminal(80, 24, "", "run plan.yaml -o run.sojourn");
    tmux.shows(&["charges steady "]);
    tmux.keys(&["q"]);
    tmux.shows(&["stopping: no new arrivals"]);
    tmux.keys(&["q"]);
    assert_eq!(charges.ended(&tmux), "105");
}

#[test]
fn an_attack_has_a_screen_too_and_none_of_it_is_coloured_when_no_colour_is_wanted() {
    let charges = Charges::start();
    let target = charges.target();
    let attack = format!("attack {target}/charges -rate 50 -duration 60s -name tour");
    let tmux = charges.terminal(200, 60, "export NO_COLOR=1", &attack);
    let screen = tmux.shows(&["steady ", "/charges", "404", "busy "]);
    assert!(widest(&screen) > 180, "{screen}");
    let coloured = tmux.coloured();
    let mut colours = (30..38).chain(90..98).map(|colour| format!("\u{1b}[{colour}m"));
    assert!(!colours.any(|colour| coloured.contains(&colour)), "{coloured}");
    tmux.keys(&["C-c"]);
    assert_eq!(charges.ended(&tmux), "0");
    assert!(tmux.history().contains("run file  "));
}

#[test]
fn a_terminal_without_a_screen_or_with_quiet_asked_for_gets_a_line() {
    for (before, flag) in [("export TERM=dumb", ""), ("", "--quiet")] {
        let charges = Charges::start();
        let words = format!("run plan.yaml -o run.sojourn {flag}");
        let tmux = charges.terminal(120, 24, before, &words);
        tmux.shows(&["steady ", "in flight "]);
        assert!(!tmux.is("alternate_on"));
        // A signal now, not a key.
        tmux.keys(&["C-c"]);
        tmux.shows(&["stopping: no new arrivals"]);
        assert_eq!(charges.ended(&tmux), "105");
    }
}

/// `sojourn rate` with these arguments: its exit code and all that it said.
fn rate(charges: &Charges, arguments: &[&str]) -> (Option<i32>, String) {
    let all = ["rate"].iter().chain(arguments);
    let asked = sojourn(all).env("XDG_RUNTIME_DIR", charges.path().join("run"));
    let output = asked.run().unwrap();
    let said = output.stdout.clone() + &output.stderr;
    (output.code, said)
}

fn start(charges: &Charges, name: &str) -> Running {
    let (file, report) = (format!("{name}.sojourn"), format!("{name}.json"));
    let run = sojourn(["run", "plan.yaml", "-o", &file, "--report", &report, "--live", "off"]);
    let run = run.in_dir(charges.path()).env("XDG_RUNTIME_DIR", charges.path().join("run"));
    run.timeout(Duration::from_secs(180)).start().unwrap()
}

#[test]
fn the_rate_is_changed_from_another_terminal() {
    let charges = Charges::start();
    assert_eq!(rate(&charges, &["2x"]).0, Some(2));
    let first = start(&charges, "first");
    until("it takes another rate", || rate(&charges, &["2x"]).0 == Some(0));
    let (code, said) = rate(&charges, &["60/s"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("(charges): 1.5 × the plan's rate"), "{said}");
    let (_, listed) = rate(&charges, &[]);
    let id = listed.split(' ').next().unwrap();
    assert_eq!(listed.trim_end(), format!("{id}  charges"));

    // Another run, which has no port for its webhooks left but can be asked while it prepares:
    // so it gets another plan.
    let plan = std::fs::read_to_string(charges.path().join("plan.yaml")).unwrap();
    let start_of = plan.find("channels:").unwrap();
    let target = plan[..start_of].replace("name: charges", "name: other");
    let other = format!(
        "{target}journeys: {{ look: {{ root: {{ http: GET / , expect: {{ status: 404 }} }} }} }}\n\
         load: {{ users: 1, think: 50ms, steady: 120s }}\n"
    );
    std::fs::write(charges.path().join("plan.yaml"), other).unwrap();
    let second = start(&charges, "second");
    until("both are listed", || rate(&charges, &[]).1.contains("  other"));
    let (code, said) = rate(&charges, &["50%"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("2 runs go on") && said.contains(id) && said.contains("other"), "{said}");
    let (code, said) = rate(&charges, &["50%", "--run", id]);
    assert_eq!(code, Some(0), "{said}");
    let (_, listed) = rate(&charges, &[]);
    let users = listed.lines().find_map(|line| line.strip_suffix("  other")).unwrap();
    let (code, said) = rate(&charges, &["50%", "--run", users]);
    assert_ne!(code, Some(0));
    assert!(said.contains("users keep their own pace"), "{said}");

    for run in [first, second] {
        run.interrupt().unwrap();
        let output = run.wait().unwrap();
        assert_eq!(output.code, Some(105), "{output}");
    }
    let by = |factor: &str| format!(r#"{factor} by "sojourn rate""#);
    assert_eq!(charges.amendments("first.json"), [by("2.0"), by("1.5"), by("0.5")]);
    let left = std::fs::read_dir(charges.path().join("run/sojourn")).unwrap();
    assert_eq!(left.count(), 0);
    assert_eq!(rate(&charges, &[]).1, "no run goes on\n");
}
