//! What goes on beside the commands of a page: the system that one has begun, a run whose rate
//! others change, generators that dial in.

use std::net::TcpStream;

use sojourn_testkit::{Output, Running};

use super::{check::check, page::Command, shop::Shop};
use crate::common::{alone, until};

/// Where the page about several machines has its coordinator, and its generators find it.
const LISTEN: &str = "0.0.0.0:7000";
const COORDINATOR: &str = "coordinator.example:7000";
/// What the demo prints while it serves.
const SERVED: &str = "serve.txt";
/// The run whose rate pages change.
const CHANGED: &str = "sojourn run journey.yaml -e STEADY=120s --quiet";
const CHANGED_ID: &str = "20261123-061530-1a2b3c4d";

/// A command under way.
pub(super) struct Beside {
    line: String,
    running: Running,
    /// What it ends with.
    code: i32,
    /// What it says then.
    says: &'static str,
}

impl Shop {
    fn goes_on(&self, line: &str, code: i32, says: &'static str) {
        let running = self.shell(&format!("exec {line}")).start().unwrap();
        let line = line.to_owned();
        self.beside.borrow_mut().push(Beside { line, running, code, says });
    }

    /// Starts a command that lasts long, and is waited for when all others have ended.
    pub(super) fn goes_on_beside(&self, command: &Command) {
        let running = self.shell(&format!("exec {}", self.here(command))).start().unwrap();
        self.awaited.borrow_mut().push((command.clone(), running));
    }

    /// Starts the demo's system.
    pub(super) fn serves(&self, command: &Command) {
        let line = format!("{} > {SERVED} 2>&1", self.here(command));
        self.write(SERVED, "");
        self.goes_on(&line, 0, "");
        until(&command.line, || self.read(SERVED).contains("KAFKA="));
    }

    /// The command with what the demo has printed in place of its gaps.
    pub(super) fn with_what_the_demo_printed(&self, line: &str) -> String {
        let printed = self.read(SERVED);
        let values = printed.lines().filter_map(|line| line.split_once('='));
        let values = values.filter(|(name, _)| ["TARGET", "KAFKA"].contains(name));
        values.fold(line.to_owned(), |line, (name, value)| {
            line.replace(&format!("{name}=…"), &format!("{name}={value}"))
        })
    }

    /// Starts a test that waits to be resumed.
    pub(super) fn waits(&self, command: &Command) {
        let line = self.here(command).replace("script.js", "controlled.js");
        self.goes_on(&line, 105, "http_reqs");
        let address = self.address("localhost:6565");
        until(&command.line, || TcpStream::connect(&address).is_ok());
    }

    /// Asks for another rate of a run, which is begun for the first one.
    pub(super) fn changes_the_rate(&self, command: &Command) -> Output {
        let listed = || self.shell("sojourn rate").run().unwrap().stdout;
        if self.beside.borrow().is_empty() {
            self.goes_on(CHANGED, 105, "");
            until("a run takes another rate", || listed().contains("my-journey"));
        }
        let id = listed().split(' ').next().unwrap().to_owned();
        self.shell(&command.line.replace(CHANGED_ID, &id)).run().unwrap()
    }

    /// Runs what coordinates until its end, with as many generators as it waits for.
    pub(super) fn coordinates(&self, command: &Command, generator: &Command) -> Output {
        let _turn = alone();
        let address = format!("127.0.0.1:{}", sojourn_testkit::free_port().unwrap());
        let line = self.here(command).replace(LISTEN, &address);
        let words = command.words();
        let is_count = |pair: &&[&str]| pair[0].trim_start_matches('-') == "generators";
        let count = words.windows(2).find(is_count).unwrap()[1].parse().unwrap();
        let coordinator = self.shell(&format!("exec {line}")).start().unwrap();
        // It makes the key of which the others have copies.
        let key = self.path("fleet.key");
        until("there is a key", || std::fs::metadata(&key).is_ok_and(|key| key.len() >= 32));
        let line = generator.line.replace(COORDINATOR, &address);
        let join = || self.shell(&format!("exec {line}")).start().unwrap();
        let generators: Vec<Running> = std::iter::repeat_with(join).take(count).collect();
        let output = coordinator.wait().unwrap();
        for generator in generators {
            let ended = generator.wait().unwrap();
            assert_eq!(ended.code, Some(0), "{}: {ended}\n{output}", command.line);
        }
        output
    }

    /// Starts a part of the system whose processes are looked at.
    pub(super) fn has_a_service(&self) {
        let running = self.shell("exec bin/payments-api").start().unwrap();
        let comm = format!("/proc/{}/comm", running.pid());
        until("it has its name", || {
            std::fs::read_to_string(&comm).unwrap().trim() == "payments-api"
        });
        self.services.borrow_mut().push(running);
    }

    /// Waits for what ends by itself, and ends what else goes on beside, as Ctrl-C does.
    pub(super) fn ends(&self) {
        for (command, running) in self.awaited.take() {
            check(&command, &running.wait().unwrap(), self);
        }
        for Beside { line, running, code, says } in self.beside.take() {
            running.interrupt().unwrap();
            let output = running.wait().unwrap();
            assert_eq!(output.code, Some(code), "{line}: {output}");
            assert!(output.stdout.contains(says), "{line}: {output}");
        }
    }
}
