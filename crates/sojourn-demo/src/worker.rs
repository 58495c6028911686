//! The stages' work: an event leads to a third party's work and to the next event.
//!
//! Proper workers look at the payment first: an event whose work is done leads to nothing. Two
//! copies worked on at once meet at the append: one wins, the other loads again and sees that the
//! work is done. The provider is asked with an idempotency key, so that it takes the money once.
//! Naive workers do none of this, like the published system.

use crate::common::Common;
use crate::config::{DemoConfig, StageConfig};
use crate::consumer::Consumption;
use crate::counters::bump;
use crate::faults::{Fate, Faults, StopStage};
use crate::payment::Payment;
use crate::publisher::{Done, Outgoing, Publisher, Purpose};
use crate::random;
use crate::servers::Servers;
use crate::stage::Stage;
use crate::store::{AppendError, NewEvent, StoreHandle};
use crate::third_party::ThirdParties;
use crate::truth_record::{Outcome, Record};
use serde::Deserialize;
use sojourn_clock::{Anchor, MILLISECOND_NS, now_ns};
use std::sync::{Arc, atomic::Ordering};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc, oneshot};

/// Tries before an event goes to the dead-letter topic.
const TRIES_MAX: u32 = 3;
/// Pause between two tries.
const TRY_PAUSE: Duration = Duration::from_millis(50);
/// Conflicts in one try before the try fails: each one means that somebody else moved on.
const CONFLICTS_MAX: u32 = 10;

/// What the workers of all stages share.
pub(crate) struct Workers {
    seed: u64,
    naive: bool,
    anchor: Anchor,
    faults: Faults,
    stopped: Option<StopStage>,
    /// By the stage that is produced.
    servers: Vec<(Stage, Servers)>,
    store: StoreHandle,
    third_parties: ThirdParties,
    publisher: Arc<Publisher>,
    common: Common,
}

impl Workers {
    pub(crate) fn new(
        config: &DemoConfig,
        store: StoreHandle,
        third_parties: ThirdParties,
        publisher: Arc<Publisher>,
        common: Common,
    ) -> Self {
        Self {
            seed: config.seed,
            naive: config.naive,
            anchor: Anchor::now(),
            faults: Faults::new(config.seed, config.faults.clone()),
            stopped: config.faults.stop_stage,
            servers: servers(config),
            store,
            third_parties,
            publisher,
            common,
        }
    }

    /// Works on a stage's queue; ends with its runtime, which abandons what is in work.
    pub(crate) async fn run_stage(
        self: Arc<Self>,
        produces: Stage,
        config: StageConfig,
        mut queue: mpsc::Receiver<Consumption>,
    ) {
        let slots = Arc::new(Semaphore::new(config.concurrency as usize));
        while let Ok(slot) = Arc::clone(&slots).acquire_owned().await
            && let Some(event) = queue.recv().await
        {
            if self.has_stopped(produces) {
                self.leave(event);
                continue;
            }
            let workers = Arc::clone(&self);
            tokio::spawn(async move {
                workers.consume(produces, config, event).await;
                drop(slot);
            });
        }
    }

    fn has_stopped(&self, produces: Stage) -> bool {
        let first_ns = self.common.counters.first_accepted_ns.load(Ordering::Relaxed);
        self.stopped.is_some_and(|it| {
            let from_ns = first_ns.saturating_add(it.after_ms.saturating_mul(MILLISECOND_NS));
            it.stage == produces && first_ns > 0 && now_ns() >= from_ns
        })
    }

    fn leave(&self, event: Consumption) {
        bump(&self.common.counters.unconsumed);
        self.common.truth.note(|| Record::Unconsumed {
            at_ns: now_ns(),
            key: event.key,
            stage: event.stage,
        });
    }

    async fn consume(&self, produces: Stage, config: StageConfig, event: Consumption) {
        let start_ns = now_ns();
        let tries_max = if self.naive { 1 } else { TRIES_MAX };
        let mut tries = 0;
        let outcome = loop {
            tries += 1;
            match self.attempt(produces, config, &event).await {
                Ok(outcome) => break outcome,
                Err(_) if tries < tries_max => tokio::time::sleep(TRY_PAUSE).await,
                Err(reason) => break self.give_up(&event, reason).await,
            }
        };
        bump(&self.common.counters.consumed);
        self.common.truth.note(|| Record::Consumed {
            start_ns,
            end_ns: now_ns(),
            key: event.key,
            stage: event.stage,
            message_id: event.message_id,
            tries,
            outcome,
        });
    }

    /// One try; the error is the reason that a dead letter would carry.
    async fn attempt(
        &self,
        produces: Stage,
        config: StageConfig,
        event: &Consumption,
    ) -> Result<Outcome, String> {
        let stream = aggregate_id(&event.payload)?;
        if self.faults.fate(&stream, event.stage) == Fate::Poison {
            return Err(format!("{} can't be processed", event.stage.event_type()));
        }
        let mut worked = None;
        for _ in 0..CONFLICTS_MAX {
            let events = self.store.load(&stream).await.map_err(|it| it.to_string())?;
            let payment = Payment::of(&events);
            if !self.naive {
                if payment.version == 0 {
                    return Ok(Outcome::Foreign);
                }
                if payment.reached >= Some(produces) {
                    return Ok(Outcome::AlreadyDone);
                }
                if payment.reached < Some(event.stage) {
                    return Err(format!("{stream} has not reached {}", event.stage.name()));
                }
            }
            let data = match worked.take() {
                Some(data) => data,
                None => self.work(produces, config, &stream, &payment).await?,
            };
            let appended = self
                .store
                .append(NewEvent {
                    stream: stream.clone(),
                    expected_version: payment.version,
                    stage: produces,
                    data: data.clone(),
                    occurred_unix_ns: self.anchor.unix_ns_at(now_ns()),
                })
                .await;
            match appended {
                Ok(()) => return Ok(Outcome::Appended),
                Err(AppendError::Conflict { .. }) if self.naive => {
                    return Ok(Outcome::ConflictIgnored);
                }
                Err(AppendError::Conflict { .. }) => worked = Some(data),
                Err(AppendError::Store(error)) => return Err(error.to_string()),
            }
        }
        Err(format!("{CONFLICTS_MAX} append conflicts in a row"))
    }

    /// The work before an event; its data.
    async fn work(
        &self,
        produces: Stage,
        config: StageConfig,
        stream: &str,
        payment: &Payment,
    ) -> Result<String, String> {
        let about = 0x776f_726b_0000_0000 | produces.index() as u64;
        let service_ns = config.service.sample_ns(random::draw(self.seed, stream, about));
        let servers = self.servers.iter().find(|(stage, _)| *stage == produces);
        let wait_ns = servers.map_or(service_ns, |(_, servers)| {
            let now_ns = now_ns();
            servers.end_ns(now_ns, service_ns).saturating_sub(now_ns)
        });
        tokio::time::sleep(Duration::from_nanos(wait_ns)).await;
        let idempotency_key = (!self.naive).then_some(stream);
        let third_parties = &self.third_parties;
        match produces {
            Stage::Created => {
                let reference = third_parties
                    .create(&payment.amount, &payment.currency, idempotency_key)
                    .await?;
                return Ok(Payment::created(&reference));
            }
            Stage::Settled => {
                let reference = payment.reference.as_deref().unwrap_or_default();
                third_parties.settle(reference, idempotency_key).await?;
            }
            Stage::Completed => third_parties.notify(stream, idempotency_key).await?,
            // The API produces it; no worker does.
            Stage::Initiated => {}
        }
        Ok("{}".into())
    }

    async fn give_up(&self, event: &Consumption, reason: String) -> Outcome {
        let (done, delivered) = oneshot::channel();
        let letter = Outgoing {
            key: event.key.clone(),
            stage: event.stage,
            message_id: event.message_id.clone(),
            payload: event.payload.clone(),
            purpose: Purpose::DeadLetter(reason),
        };
        // Waits for a full client queue on this thread: the third parties wait with it, and that
        // is what a broker that takes nothing more would do to them.
        let published = self.publisher.publish(&letter, Done::One(done)).is_ok();
        if published && delivered.await == Ok(true) {
            Outcome::DeadLettered
        } else {
            Outcome::GivenUp
        }
    }
}

fn servers(config: &DemoConfig) -> Vec<(Stage, Servers)> {
    let stages = [Stage::Created, Stage::Settled, Stage::Completed].into_iter();
    let of = |stage| Some((stage, Servers::new(config.consumer_of(stage)?.servers?)));
    stages.filter_map(of).collect()
}

/// The stream that an integration event is about.
fn aggregate_id(payload: &str) -> Result<String, String> {
    #[derive(Deserialize)]
    struct Payload {
        #[serde(rename = "aggregateId")]
        aggregate_id: String,
    }
    serde_json::from_str::<Payload>(payload)
        .map(|payload| payload.aggregate_id)
        .map_err(|error| format!("payload is not readable: {error}"))
}
