//! The demo's own consumer: one Kafka client that hands each event to its stage's queue.
//!
//! The published system has a queue per consumer class, so a slow stage does not hold up another.
//! Here each stage has a bounded queue of its own; only when one is full does the client wait, and
//! all stages with it, which is counted.

use crate::common::Common;
use crate::counters::bump;
use crate::error::DemoError;
use crate::publisher::{HANDED_HEADER, MESSAGE_ID_HEADER, TYPE_HEADER};
use crate::stage::Stage;
use crate::truth_record::{Outcome, Record};
use rdkafka::consumer::BaseConsumer;
use rdkafka::message::{BorrowedMessage, Headers, Message};
use sojourn_broker::{BrokerError, Consumer, RawMessage, Sink};
use sojourn_clock::{SECOND_NS, now_ns};
use std::time::Duration;
use tokio::sync::mpsc;

/// Events that wait in front of a stage.
const QUEUE_EVENTS: usize = 100_000;
/// How long the client waits for a message before it looks whether to stop.
const POLL: Duration = Duration::from_millis(100);
/// How long another broker has to let the consumer take part.
const JOIN_NS_MAX: u64 = 20 * SECOND_NS;
/// Events taken from another broker before they are committed together.
const BATCH_MAX: usize = 1_000;

/// An event to be consumed.
#[derive(Clone, Debug)]
pub(crate) struct Consumption {
    pub(crate) key: String,
    /// The stage that the event reached.
    pub(crate) stage: Stage,
    pub(crate) message_id: String,
    pub(crate) payload: String,
}

/// The stages' queues.
#[derive(Clone)]
pub(crate) struct Intake {
    queues: [mpsc::Sender<Consumption>; 3],
    common: Common,
}

/// The queues' other ends, for the events that reached initiated, created and settled.
pub(crate) type Outtake = [mpsc::Receiver<Consumption>; 3];

impl Intake {
    pub(crate) fn new(common: Common) -> (Self, Outtake) {
        let queue = || mpsc::channel(QUEUE_EVENTS);
        let ((one, from_one), (two, from_two), (three, from_three)) = (queue(), queue(), queue());
        let intake = Self { queues: [one, two, three], common };
        (intake, [from_one, from_two, from_three])
    }

    /// Puts an event in front of its stage; waits while the queue is full, until the demo stops.
    pub(crate) fn offer(&self, mut event: Consumption) {
        let Some(queue) = self.queues.get(event.stage.index()) else {
            return self.end_of_journey(event);
        };
        let mut waited = false;
        loop {
            match queue.try_send(event) {
                Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => return,
                Err(mpsc::error::TrySendError::Full(returned)) => event = returned,
            }
            if !waited {
                bump(&self.common.counters.queue_waits);
                waited = true;
            }
            if self.common.stop.wait_ms(1) {
                return;
            }
        }
    }

    /// `PaymentCompleted` is only taken note of.
    fn end_of_journey(&self, event: Consumption) {
        bump(&self.common.counters.consumed);
        self.common.truth.note(|| {
            let now_ns = now_ns();
            Record::Consumed {
                start_ns: now_ns,
                end_ns: now_ns,
                key: event.key,
                stage: event.stage,
                message_id: event.message_id,
                tries: 1,
                outcome: Outcome::EndOfJourney,
            }
        });
    }
}

/// Polls the client until the demo stops; a thread's body.
pub(crate) fn run(consumer: &BaseConsumer, intake: &Intake, common: &Common) {
    let problems = &common.problems;
    while !common.stop.is_raised() {
        match consumer.poll(POLL) {
            None => {}
            Some(Err(error)) => problems.report(format!("consumer: {error}")),
            Some(Ok(message)) => match read(&message) {
                Ok(Some(event)) => intake.offer(event),
                Ok(None) => {}
                Err(problem) => problems.report(format!("consumer: message {problem}, skipped")),
            },
        }
    }
}

/// Waits until another broker's consumer takes part in its group: what is published before that
/// might never reach it.
pub(crate) fn join(
    consumer: &mut dyn Consumer,
    intake: &Intake,
    common: &Common,
) -> Result<(), DemoError> {
    let deadline_ns = now_ns() + JOIN_NS_MAX;
    let mut offered = Offered { intake, common };
    while consumer.assigned() == 0 {
        consumer.consume(1, POLL, &mut offered)?;
        if now_ns() > deadline_ns {
            let error = BrokerError::new("the demo's consumer was given nothing to consume")
                .with_hint("is another demo taking its messages from the same broker?");
            return Err(error.into());
        }
    }
    Ok(())
}

/// The same by another broker's consumer, which commits what it has handed over.
pub(crate) fn run_carried(mut consumer: Box<dyn Consumer>, intake: &Intake, common: &Common) {
    let mut offered = Offered { intake, common };
    while !common.stop.is_raised() {
        let taken = consumer.consume(BATCH_MAX, POLL, &mut offered);
        let done = taken.and_then(|taken| if taken > 0 { consumer.commit() } else { Ok(()) });
        if let Err(error) = done {
            common.problems.report(format!("consumer: {error}"));
            // What is wrong may pass; meanwhile the processor is not for this.
            if common.stop.wait_ms(100) {
                break;
            }
        }
    }
    consumer.leave();
}

/// Hands each message to its stage's queue.
struct Offered<'a> {
    intake: &'a Intake,
    common: &'a Common,
}

impl Sink for Offered<'_> {
    fn message(&mut self, message: &RawMessage<'_>) {
        match read_carried(message) {
            Ok(Some(event)) => self.intake.offer(event),
            Ok(None) => {}
            Err(problem) => {
                self.common.problems.report(format!("consumer: message {problem}, skipped"));
            }
        }
    }
}

/// The same from another broker's message: it may have no key, which stands in the payload too.
fn read_carried(message: &RawMessage<'_>) -> Result<Option<Consumption>, &'static str> {
    if message.header(HANDED_HEADER).is_some() {
        return Ok(None);
    }
    let text = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(str::to_owned);
    let payload = text(message.payload).ok_or("without a payload")?;
    let body: Option<serde_json::Value> = serde_json::from_str(&payload).ok();
    let of_body = |name: &str| Some(body.as_ref()?.get(name)?.as_str()?.to_owned());
    let event_type = message.header(TYPE_HEADER).and_then(text).or_else(|| of_body("type"));
    let stage =
        event_type.as_deref().and_then(Stage::of_event_type).ok_or("without a known type")?;
    Ok(Some(Consumption {
        stage,
        key: of_body("aggregateId").ok_or("without a key")?,
        message_id: message.header(MESSAGE_ID_HEADER).and_then(text).unwrap_or_default(),
        payload,
    }))
}

/// An event from a message; none when it was handed over before.
fn read(message: &BorrowedMessage<'_>) -> Result<Option<Consumption>, &'static str> {
    let (mut event_type, mut message_id) = (None, None);
    for header in message.headers().into_iter().flat_map(Headers::iter) {
        match header.key {
            TYPE_HEADER => event_type = header.value,
            MESSAGE_ID_HEADER => message_id = header.value,
            HANDED_HEADER => return Ok(None),
            _ => {}
        }
    }
    let text = |bytes| std::str::from_utf8(bytes).ok().map(str::to_owned);
    let stage = event_type
        .and_then(|bytes| std::str::from_utf8(bytes).ok())
        .and_then(Stage::of_event_type)
        .ok_or("without a known type")?;
    Ok(Some(Consumption {
        stage,
        key: message.key().and_then(text).ok_or("without a key")?,
        message_id: message_id.and_then(text).unwrap_or_default(),
        payload: message.payload().and_then(text).ok_or("without a payload")?,
    }))
}
