//! `Writer` and `Producer`: messages out, and their acknowledgements awaited.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use sojourn_broker_kafka::client::{Batch, Delivered, Producer, Record, Refused};
use sojourn_clock::{MILLISECOND_NS, now_ns};
use sojourn_script::js::prelude::This;
use sojourn_script::js::{self, Array, Ctx, Exception, Object, Value};

use super::super::function;
use super::access::Cluster;
use super::config::{self, WriterConfig};
use super::go_error::throw;
use super::messages::Outgoing;
use super::meters::{Account, Meters};
use super::partitions::{self, Balancer};
use super::waiting::{self, Waiting, interrupted};
use crate::user::User;

/// How long to wait when too many messages wait for the broker already.
const FULL_WAIT_NS: u64 = 2 * MILLISECOND_NS;
/// How long `flush` waits for the messages of all users.
const FLUSH_NS_MAX: u64 = 30_000 * MILLISECOND_NS;

struct Writer {
    user: Rc<User>,
    meters: Rc<Meters>,
    config: WriterConfig,
    cluster: Cluster,
    balancer: Balancer,
    producer: RefCell<Option<Arc<Producer>>>,
    is_closed: Cell<bool>,
}

pub(super) fn make<'js>(
    ctx: &Ctx<'js>,
    user: &Rc<User>,
    meters: &Rc<Meters>,
    class: &'static str,
    given: Value<'js>,
) -> js::Result<Object<'js>> {
    let mut own = None;
    if let Some(object) = given.as_object() {
        let balancer: Value<'js> = object.get("balancer")?;
        own = balancer.into_function();
    }
    let config: WriterConfig = config::read(ctx, class, &given)?;
    let cluster = config.cluster().map_err(|problem| throw(ctx, &format!("{class}: {problem}")))?;
    let start = user.number() as usize;
    let balancer = Balancer::new(config.balancer.as_deref(), own.is_some(), start);
    let writer = Rc::new(Writer {
        user: Rc::clone(user),
        meters: Rc::clone(meters),
        config,
        cluster,
        balancer,
        producer: RefCell::default(),
        is_closed: Cell::new(false),
    });
    let object = Object::new(ctx.clone())?;
    if let Some(own) = own {
        object.prop(partitions::FUNCTION, js::object::Property::from(own))?;
    }
    let this = Rc::clone(&writer);
    function(
        &object,
        "produce",
        move |ctx: Ctx<'js>, own: This<Object<'js>>, given: Value<'js>| {
            this.produce(&ctx, &own.0, &given)
        },
    )?;
    let this = Rc::clone(&writer);
    function(&object, "flush", move |ctx: Ctx<'js>| this.flush(&ctx))?;
    let this = Rc::clone(&writer);
    function(&object, "stats", move |ctx: Ctx<'js>| {
        let stats = Object::new(ctx)?;
        let producer = this.producer.borrow();
        stats.set("pending", producer.as_ref().map_or(0, |producer| producer.pending()))?;
        Ok::<_, js::Error>(stats)
    })?;
    function(&object, "close", move || {
        writer.is_closed.set(true);
        writer.producer.take();
    })?;
    Ok(object)
}

impl Writer {
    fn produce<'js>(
        &self,
        ctx: &Ctx<'js>,
        own: &Object<'js>,
        given: &Value<'js>,
    ) -> js::Result<()> {
        self.user.not_at_init(ctx, "Producing")?;
        let messages = self.read(ctx, given)?;
        let begun_ns = now_ns();
        let mut sending = Sending::new(&self.user, &messages);
        let sent = self.send(ctx, own, &messages, &mut sending);
        // What was sent is waited for and accounted for, whatever else has happened.
        let is_whole = sending.wait();
        let error = self.account(&sending, &messages, begun_ns);
        sent?;
        match (is_whole, error) {
            (false, _) => Err(interrupted(ctx)),
            (true, Some(error)) => Err(throw(ctx, &failed(&error))),
            (true, None) => Ok(()),
        }
    }

    fn read<'js>(&self, ctx: &Ctx<'js>, given: &Value<'js>) -> js::Result<Vec<Outgoing>> {
        let list = given.as_object().map(|given| given.get::<_, Value<'js>>("messages"));
        let list = list.transpose()?.and_then(Value::into_array);
        let list: Array<'js> = list.ok_or_else(|| {
            Exception::throw_type(ctx, "produce() takes { messages: [{ key, value, … }] }")
        })?;
        let topic = self.config.topic.as_deref().filter(|topic| !topic.is_empty());
        let message = |message: js::Result<Object<'js>>| Outgoing::read(ctx, &message?, topic);
        list.iter().map(message).collect()
    }

    /// Sends the messages. Only what the script itself throws is an error: the rest is accounted
    /// for.
    fn send<'js>(
        &self,
        ctx: &Ctx<'js>,
        own: &Object<'js>,
        messages: &[Outgoing],
        sending: &mut Sending,
    ) -> js::Result<()> {
        let producer = match self.producer() {
            Ok(producer) => producer,
            Err(problem) => {
                messages.iter().for_each(|message| sending.refuse(&message.topic, &problem));
                return Ok(());
            }
        };
        let Sending { topics, refused, .. } = &mut *sending;
        for topic in topics.keys() {
            if let Err(problem) = self.look_up(ctx, &producer, topic)? {
                refused.insert(topic.clone(), problem);
            }
        }
        let deadline_ns = now_ns().saturating_add(self.config.write_timeout_ns());
        for message in messages {
            if let Some(problem) = sending.refused.get(&message.topic).cloned() {
                sending.refuse(&message.topic, &problem);
                continue;
            }
            let count = producer.known_partitions(&message.topic);
            let partition = self.balancer.choose(ctx, own, message, count)?;
            let record = Record {
                topic: &message.topic,
                partition,
                key: message.key.as_deref(),
                value: message.value.as_deref(),
                headers: &message.headers,
                time_ms: message.time_ms,
            };
            let (batch, part) = (sending.batch(), sending.part(&message.topic));
            loop {
                match producer.send(&record, &batch, part) {
                    Ok(()) => break,
                    Err(Refused::Failed(problem)) => {
                        sending.refuse(&message.topic, &problem);
                        break;
                    }
                    Err(Refused::Full) if now_ns() >= deadline_ns => {
                        sending.refuse(&message.topic, "too many messages wait for the broker");
                        break;
                    }
                    Err(Refused::Full) => pause(&self.user, ctx)?,
                }
            }
        }
        Ok(())
    }

    fn producer(&self) -> Result<Arc<Producer>, String> {
        if self.is_closed.get() {
            return Err("the writer is closed".to_owned());
        }
        if let Some(producer) = &*self.producer.borrow() {
            return Ok(Arc::clone(producer));
        }
        let producer = self.user.host.settings.kafka.producer(&self.cluster)?;
        *self.producer.borrow_mut() = Some(Arc::clone(&producer));
        Ok(producer)
    }

    /// Asks the broker for a topic where that matters: it must be there already, or its partitions
    /// must be counted. The inner error says why nothing can be sent to it.
    fn look_up(
        &self,
        ctx: &Ctx<'_>,
        producer: &Arc<Producer>,
        topic: &str,
    ) -> js::Result<Result<(), String>> {
        let is_made = self.config.auto_create_topic == Some(true);
        if is_made && !self.balancer.counts_partitions() {
            return Ok(Ok(()));
        }
        if producer.known_partitions(topic).is_some() {
            return Ok(Ok(()));
        }
        let (asked, name) = (Arc::clone(producer), topic.to_owned());
        let found = waiting::blocking(ctx, &self.user, move || asked.partitions(&name))?;
        Ok(match found {
            Ok(Some(_)) => Ok(()),
            Ok(None) if is_made => Ok(()),
            Ok(None) => Err(format!(
                "[3] Unknown Topic Or Partition: there is no topic \"{topic}\", and \
                 autoCreateTopic is not set"
            )),
            Err(problem) => Err(problem),
        })
    }

    /// Samples of what has come of a call; the first error.
    fn account(&self, sending: &Sending, messages: &[Outgoing], begun_ns: u64) -> Option<String> {
        let mut first = None;
        let delivered = sending.batch.take();
        for (topic, part) in &sending.topics {
            let mut own = delivered.get(*part).cloned().unwrap_or_default();
            if let Some((count, problem)) = sending.failures.get(topic) {
                own.failed += count;
                own.error.get_or_insert_with(|| problem.clone());
            }
            let count = messages.iter().filter(|message| message.topic == *topic).count();
            self.add_samples(topic, count, &own, begun_ns);
            first = first.or(own.error);
        }
        first
    }

    fn add_samples(&self, topic: &str, count: usize, own: &Delivered, begun_ns: u64) {
        let (account, meters) = (Account::new(&self.user, topic), &self.meters);
        account.add(meters.writer_writes, 1.0);
        account.add(meters.writer_messages, own.took_ns.len() as f64);
        account.add(meters.writer_bytes, own.acked_bytes as f64);
        account.add(meters.writer_errors, own.failed as f64);
        account.add(meters.writer_batch_size, count as f64);
        account.add(meters.writer_batch_bytes, own.acked_bytes as f64);
        for took_ns in &own.took_ns {
            account.add_ns(meters.writer_write_time, *took_ns);
        }
        if own.last_ns > 0 {
            account.add_ns(meters.writer_batch_time, own.last_ns.saturating_sub(begun_ns));
        }
        let config = &self.config;
        account.add(meters.writer_acks, f64::from(config.acks()));
        account.add(meters.writer_async, 0.0);
        account.add_ns(meters.writer_write_timeout, config.write_timeout_ns());
        if let Some(attempts) = config.max_attempts {
            account.add(meters.writer_attempts_max, f64::from(attempts));
        }
        if let Some(size) = config.batch_size {
            account.add(meters.writer_batch_max, f64::from(size));
        }
        if let Some(span) = config.batch_timeout {
            account.add_ns(meters.writer_batch_timeout, span.0);
        }
        if let Some(span) = config.read_timeout {
            account.add_ns(meters.writer_read_timeout, span.0);
        }
    }

    /// Waits until nothing waits for the broker that anybody has sent by this producer.
    fn flush(&self, ctx: &Ctx<'_>) -> js::Result<()> {
        self.user.not_at_init(ctx, "Flushing")?;
        let Some(producer) = self.producer.borrow().clone() else { return Ok(()) };
        let deadline_ns = now_ns() + FLUSH_NS_MAX;
        while producer.pending() > 0 {
            if now_ns() > deadline_ns {
                let told = format!("{} messages still wait after 30 s", producer.pending());
                return Err(throw(ctx, &failed(&told)));
            }
            pause(&self.user, ctx)?;
        }
        Ok(())
    }
}

fn failed(problem: &str) -> String {
    format!("Error writing messages., OriginalError: {problem}")
}

/// Suspends the user for a little.
fn pause(user: &User, ctx: &Ctx<'_>) -> js::Result<()> {
    let operation = user.operation();
    user.host.set_timer(now_ns() + FULL_WAIT_NS, user.index, operation);
    user.wait_or_throw(ctx, operation).map(|_| ())
}

/// One call of `produce` under way.
struct Sending {
    waiting: Option<Waiting>,
    batch: Arc<Batch>,
    /// Each topic's part of the batch.
    topics: BTreeMap<String, usize>,
    /// Topics that nothing can be sent to, and why.
    refused: BTreeMap<String, String>,
    /// Messages that were not even taken, by topic, and why the first of them was not.
    failures: BTreeMap<String, (u64, String)>,
}

impl Sending {
    fn new(user: &Rc<User>, messages: &[Outgoing]) -> Self {
        let mut topics = BTreeMap::new();
        for message in messages {
            let next = topics.len();
            topics.entry(message.topic.clone()).or_insert(next);
        }
        let waiting = Waiting::new(user);
        let link = Arc::clone(&waiting.link);
        let batch = Batch::new(topics.len(), Box::new(move || waiting::tell(&link, ())));
        let (refused, failures) = (BTreeMap::new(), BTreeMap::new());
        Self { waiting: Some(waiting), batch, topics, refused, failures }
    }

    fn batch(&self) -> Arc<Batch> {
        Arc::clone(&self.batch)
    }

    fn part(&self, topic: &str) -> usize {
        self.topics.get(topic).copied().unwrap_or(0)
    }

    fn refuse(&mut self, topic: &str, problem: &str) {
        let failure = self.failures.entry(topic.to_owned());
        failure.or_insert_with(|| (0, problem.to_owned())).0 += 1;
    }

    /// Waits for everything sent; false if the user is to end first.
    fn wait(&mut self) -> bool {
        let Some(waiting) = self.waiting.take() else { return true };
        match self.batch.seal() {
            true => {
                waiting.forget();
                true
            }
            false => waiting.answer::<()>().is_some(),
        }
    }
}
