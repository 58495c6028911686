//! Publishing, by a process of its own: the benchmark's own program, asked to do so.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sojourn_broker::{Connect, PublisherSettings};
use sojourn_plan::Plan;

use crate::{RUN_ID, event};

/// Set for a child: `MESSAGES ADDRESS`.
const ASKED: &str = "SOJOURN_PUBLISH";
/// Between looks for acknowledgements.
const PAUSE: Duration = Duration::from_micros(200);

/// What a child is to publish.
#[derive(Clone, Debug)]
pub struct Order {
    /// Where to, in the benchmark's own words.
    pub address: String,
    /// How many events, with the numbers from 0.
    pub messages: u64,
}

/// In a child that is to publish: does so and ends the process. First thing in a benchmark's
/// `main`.
pub fn publish_if_asked(publish: impl FnOnce(&Order)) {
    let Ok(asked) = std::env::var(ASKED) else { return };
    let (messages, address) = asked.split_once(' ').unwrap();
    publish(&Order { address: address.to_owned(), messages: messages.parse().unwrap() });
    std::process::exit(0);
}

/// When the messages are published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before the first is taken: the broker keeps them.
    Before,
    /// While they are taken: the broker drops what nobody takes.
    Meanwhile,
}

/// How a benchmark publishes.
#[derive(Clone, Debug)]
pub struct Publisher {
    /// What the child finds in its [`Order`].
    pub address: String,
    /// When.
    pub when: When,
}

impl Publisher {
    /// Publishes so many events: they are all there when this returns, or on their way.
    pub fn start(&self, messages: u64) -> Publishing {
        let child = Command::new(std::env::current_exe().unwrap())
            .env(ASKED, format!("{messages} {}", self.address))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut publishing = Publishing { child };
        if self.when == When::Before {
            publishing.wait();
        }
        publishing
    }
}

/// A child that publishes; dropped, it is ended.
#[derive(Debug)]
pub struct Publishing {
    child: Child,
}

impl Publishing {
    fn wait(&mut self) {
        assert!(self.child.wait().unwrap().success(), "publishing failed");
    }

    /// Waits for its end.
    pub fn finish(mut self) {
        self.wait();
    }
}

impl Drop for Publishing {
    fn drop(&mut self) {
        // Both fail only when it has ended already.
        let _killed = self.child.kill();
        let _waited = self.child.wait();
    }
}

/// Publishes what is ordered by the connector's own publisher to the plan's only channel, each
/// event acknowledged.
pub fn publish_by(connector: &dyn Connect, plan: &Plan, topic: &str, order: &Order) {
    let how = PublisherSettings { queue_max: 1_000, ..PublisherSettings::default() };
    let mut publisher = connector.publisher(&plan.channels[0], how).unwrap();
    let headers: [(&str, &[u8]); 1] = [("sojourn-run", RUN_ID.as_bytes())];
    let (mut next, mut done, mut outcomes) = (0, 0, Vec::new());
    while done < order.messages {
        while next < order.messages
            && publisher.try_publish(next, topic, None, &headers, event(next).as_bytes()).is_ok()
        {
            next += 1;
        }
        std::thread::sleep(PAUSE);
        publisher.poll(&mut outcomes);
        assert!(outcomes.iter().all(|outcome| outcome.error.is_none()), "{:?}", outcomes.last());
        done += outcomes.drain(..).count() as u64;
    }
}
