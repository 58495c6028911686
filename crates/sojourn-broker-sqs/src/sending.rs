//! The publisher's thread: gathers messages into batches, sends them, and tells what became of
//! each.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::{Receiver, Sender, TryRecvError};
use sojourn_broker::{FirstAttempt, Outcome};
use sojourn_clock::{MILLISECOND_NS, SECOND_NS, now_ns};

use crate::api::{Answer, Api};
use crate::batch::{Batch, outcomes_of};
use crate::config::Service;
use crate::lanes::{Entry, Fate, Lanes};
use crate::message::Outgoing;
use crate::publish::find;
use crate::queue::{Queue, TIMEOUT};

/// A message and where it goes.
pub(crate) struct Job {
    pub(crate) token: u64,
    pub(crate) targets: Arc<[String]>,
    pub(crate) message: Outgoing,
}

/// Messages are gathered for so long at most.
pub(crate) const LINGER_NS: u64 = 5 * MILLISECOND_NS;
/// Most queues that one publisher sends to.
const TARGETS_MAX: usize = 1_000;
/// What is left unsent when the publisher ends has so long.
const FINISH_NS: u64 = SECOND_NS;

/// The thread's own.
pub(crate) struct Sending {
    api: Api,
    ends: Ends,
    usual: Arc<[String]>,
}

/// What leads to the publisher.
pub(crate) struct Ends {
    pub(crate) jobs: Receiver<Job>,
    pub(crate) done: Sender<Outcome>,
    pub(crate) wake: Arc<dyn Fn() + Send + Sync>,
    pub(crate) asleep: Arc<AtomicBool>,
    pub(crate) first: FirstAttempt,
}

/// Where messages go.
pub(crate) enum Target {
    Queue(Queue),
    /// Its ARN.
    Topic(String),
}

impl Target {
    /// Whether order within groups is kept.
    pub(crate) fn fifo(&self) -> bool {
        match self {
            Self::Queue(queue) => queue.fifo,
            Self::Topic(arn) => arn.ends_with(".fifo"),
        }
    }
}

impl Sending {
    pub(crate) fn new(api: Api, ends: Ends, usual: Arc<[String]>) -> Self {
        Self { api, ends, usual }
    }

    /// Looks for the channel's own queues before the first message comes: it should measure
    /// neither that nor the connection.
    fn begin(&mut self, targets: &mut HashMap<String, Rc<Target>>) {
        let usual = Arc::clone(&self.usual);
        let found = usual.iter().try_for_each(|name| {
            find(&mut self.api, name)?;
            // One that is not found is looked for again when a message to it comes.
            drop(self.target(name, targets));
            Ok(())
        });
        self.ends.first.tell(found);
    }

    /// Until the publisher is dropped, and then until all is sent or a second has passed.
    pub(crate) fn run(mut self) {
        let mut targets: HashMap<String, Rc<Target>> = HashMap::new();
        let mut lanes = Lanes::default();
        let mut under_way: HashMap<u64, Batch> = HashMap::new();
        let mut answers = Vec::new();
        let mut finish_ns = u64::MAX;
        self.begin(&mut targets);
        loop {
            let open = self.gather(&mut targets, &mut lanes);
            if !open && finish_ns == u64::MAX {
                finish_ns = now_ns() + FINISH_NS;
            }
            let idle = lanes.is_empty() && under_way.is_empty();
            if !open && (idle || now_ns() >= finish_ns) {
                return;
            }
            while let Some(batch) = lanes.next_batch(now_ns()) {
                let (action, body) = batch.request();
                under_way.insert(self.api.send(action, &body, TIMEOUT), batch);
            }
            let until_ns = lanes.due_ns().min(finish_ns).min(now_ns() + SECOND_NS);
            self.ends.asleep.store(true, Ordering::Release);
            // A message that came since the look above finds nobody asleep.
            let waits = self.ends.jobs.is_empty();
            let until_ns = if waits { until_ns } else { 0 };
            if self.api.wait(until_ns, &mut answers).is_err() {
                return;
            }
            self.ends.asleep.store(false, Ordering::Release);
            let found = !answers.is_empty();
            for Answer { token, ended_ns, outcome } in answers.drain(..) {
                let Some(batch) = under_way.remove(&token) else { continue };
                lanes.settled(&batch);
                let errors = outcomes_of(&batch, &outcome);
                for (entry, error) in batch.entries.iter().zip(errors) {
                    self.settle(&entry.fate, error, ended_ns);
                }
            }
            if found {
                (self.ends.wake)();
            }
        }
    }

    /// Takes what has been published into lanes; `false`: nothing more will be.
    fn gather(&mut self, targets: &mut HashMap<String, Rc<Target>>, lanes: &mut Lanes) -> bool {
        loop {
            let Job { token, targets: names, message } = match self.ends.jobs.try_recv() {
                Ok(job) => job,
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return false,
            };
            let fate = Rc::new(RefCell::new(Fate { token, left: names.len(), error: None }));
            let message = Rc::new(message);
            for name in names.iter() {
                match self.target(name, targets) {
                    Ok(target) => {
                        let (message, fate) = (Rc::clone(&message), Rc::clone(&fate));
                        lanes.add(name, target, Entry { message, fate, came_ns: now_ns() });
                    }
                    Err(error) => {
                        self.settle(&fate, Some(error), now_ns());
                        (self.ends.wake)();
                    }
                }
            }
        }
    }

    /// A queue that is not one of the channel's own is looked for when the first message to it
    /// comes.
    fn target(
        &mut self,
        name: &str,
        targets: &mut HashMap<String, Rc<Target>>,
    ) -> Result<Rc<Target>, String> {
        if let Some(known) = targets.get(name) {
            return Ok(Rc::clone(known));
        }
        if targets.len() >= TARGETS_MAX {
            return Err(format!("more than {TARGETS_MAX} queues"));
        }
        let is_topic = name.starts_with("arn:");
        // Requests go where the channel's usual messages go.
        if is_topic != (self.api.settings.service == Service::Sns) {
            return Err("queues and topics are not published to by one channel".to_owned());
        }
        let target = if is_topic {
            Target::Topic(name.to_owned())
        } else if name.contains("://") {
            Target::Queue(Queue::find(&mut self.api, name).map_err(|error| error.message)?)
        } else {
            let asked = serde_json::json!({ "QueueName": name });
            let answer = self.api.call("GetQueueUrl", &asked, TIMEOUT);
            let answer = answer.map_err(|error| error.stable())?;
            let url = crate::queue::text(&answer, "QueueUrl");
            Target::Queue(Queue { name: name.to_owned(), url, fifo: name.ends_with(".fifo") })
        };
        let target = Rc::new(target);
        targets.insert(name.to_owned(), Rc::clone(&target));
        Ok(target)
    }

    /// One of a message's copies is there or failed; the last of them is the message's outcome.
    fn settle(&self, fate: &RefCell<Fate>, error: Option<String>, ended_ns: u64) {
        let mut fate = fate.borrow_mut();
        fate.left -= 1;
        fate.error = fate.error.take().or(error);
        if fate.left == 0 {
            let error = fate.error.take();
            // As many places as messages may be pending: it is never full.
            drop(self.ends.done.try_send(Outcome { token: fate.token, acked_ns: ended_ns, error }));
        }
    }
}
