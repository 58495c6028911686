//! What the scripts talk to: mocks on free ports, and a peer for sockets, which Node runs.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sojourn_clock::now_ns;

/// Addresses under the names that scripts find in `__ENV`; their processes end with it.
pub(super) struct Targets {
    pub(super) addresses: Vec<(&'static str, String)>,
    children: Vec<Child>,
}

impl Targets {
    /// Starts all and waits for their addresses.
    pub(super) fn start(scripts: &Path, folder: &Path) -> Self {
        let mut targets = Self { addresses: Vec::new(), children: Vec::new() };
        let routes = scripts.join("target.yaml");
        targets.mock("BASE", folder, &["--seed", "1"]);
        targets.mock("ROUTES", folder, &[routes.to_str().unwrap()]);
        targets.mock("TLS", folder, &["--tls"]);
        targets.peers(scripts, folder);
        targets
    }

    pub(super) fn address(&self, name: &str) -> &str {
        let found = self.addresses.iter().find(|(known, _)| *known == name);
        found.map_or("", |(_, address)| address)
    }

    fn mock(&mut self, name: &'static str, folder: &Path, arguments: &[&str]) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sojourn"));
        command.args(["mock", "--listen", "127.0.0.1:0"]).args(arguments);
        let told = self.spawn(command, &folder.join(name), |told| address_in(told).is_some());
        let address = address_in(&told).unwrap_or_else(|| panic!("{name} did not start: {told}"));
        let is_tls = name == "TLS";
        let address = if is_tls { address.replace("http:", "https:") } else { address };
        self.addresses.push((name, address));
    }

    /// A WebSocket and a gRPC service, with and without TLS, written for Node.
    fn peers(&mut self, scripts: &Path, folder: &Path) {
        let mut command = Command::new("node");
        command.arg(scripts.join("peers.mjs"));
        let told = self.spawn(command, &folder.join("peers"), |told| {
            told.contains("GRPCS=") && told.ends_with('\n')
        });
        for word in told.split_whitespace() {
            for name in ["WS", "GRPC", "SECURE", "GRPCS"] {
                if let Some((_, address)) = word.split_once('=').filter(|(own, _)| *own == name) {
                    self.addresses.push((name, address.to_owned()));
                }
            }
        }
    }

    /// Starts a process and waits until it has printed what is looked for; what it printed.
    fn spawn(&mut self, mut command: Command, path: &Path, is_up: impl Fn(&str) -> bool) -> String {
        let output = File::create(path).unwrap();
        command.stdin(Stdio::null()).stdout(output).stderr(Stdio::null());
        let program = command.get_program().to_string_lossy().into_owned();
        let spawned = command.spawn().unwrap_or_else(|error| {
            panic!("{program}: {error}; `cargo xtask test tools` installs what tests need")
        });
        self.children.push(spawned);
        let until_ns = now_ns() + 20_000_000_000;
        loop {
            let mut told = String::new();
            File::open(path).unwrap().read_to_string(&mut told).unwrap();
            if is_up(&told) || now_ns() > until_ns {
                return told;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Targets {
    fn drop(&mut self) {
        for child in &mut self.children {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

fn address_in(text: &str) -> Option<String> {
    let start = text.find("http")?;
    let rest = &text[start..];
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || ":/.".contains(letter);
    let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
    // Without the line's end the address may not be whole.
    rest[end..].starts_with(['\n', ' ', ',']).then(|| rest[..end].trim_end_matches('/').to_owned())
}
