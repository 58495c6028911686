//! `Reader` and `Consumer`: messages in.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Deserialize;
use sojourn_broker_kafka::client::{
    Answer, Beside, Message, Order, ReadError, Reader as Client, ReaderSettings, Taking,
};
use sojourn_clock::now_ns;
use sojourn_script::js::prelude::Opt;
use sojourn_script::js::{self, Array, Coerced, Ctx, Object, Value};

use super::super::function;
use super::config::{self, ReaderConfig};
use super::go_error::throw;
use super::messages;
use super::meters::{Account, Meters};
use super::waiting::{self, Waiting, interrupted};
use crate::user::User;

/// What `consume` is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Asked {
    limit: Option<f64>,
    max_messages: Option<f64>,
    nano_precision: Option<bool>,
    expect_timeout: Option<bool>,
}

struct Reader {
    user: Rc<User>,
    meters: Rc<Meters>,
    config: ReaderConfig,
    settings: ReaderSettings,
    /// Made when it is first used: a group has no members that never read.
    client: RefCell<Option<Rc<Client>>>,
    is_closed: Cell<bool>,
}

pub(super) fn make<'js>(
    ctx: &Ctx<'js>,
    user: &Rc<User>,
    meters: &Rc<Meters>,
    class: &'static str,
    given: Value<'js>,
) -> js::Result<Object<'js>> {
    let config: ReaderConfig = config::read(ctx, class, &given)?;
    let wrong = |problem: String| throw(ctx, &format!("{class}: {problem}"));
    let cluster = config.cluster().map_err(wrong)?;
    let source = config.source().map_err(wrong)?;
    let tokens = user.host.settings.kafka.tokens(&cluster).map_err(wrong)?;
    let reader = Rc::new(Reader {
        user: Rc::clone(user),
        meters: Rc::clone(meters),
        config,
        settings: ReaderSettings { kafka: cluster.kafka, tokens, source },
        client: RefCell::default(),
        is_closed: Cell::new(false),
    });
    let object = Object::new(ctx.clone())?;
    let this = Rc::clone(&reader);
    function(&object, "consume", move |ctx: Ctx<'js>, given: Opt<Value<'js>>| {
        let given = given.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
        this.consume(&ctx, &given)
    })?;
    let this = Rc::clone(&reader);
    function(
        &object,
        "seek",
        move |ctx: Ctx<'js>, partition: Coerced<f64>, offset: Coerced<f64>| {
            let order = Order::Seek(partition.0 as i32, offset.0 as i64);
            this.number(&ctx, "seek", order).map(|_| ())
        },
    )?;
    let this = Rc::clone(&reader);
    function(&object, "position", move |ctx: Ctx<'js>, partition: Opt<Coerced<f64>>| {
        let partition = partition.0.map_or(0, |partition| partition.0 as i32);
        this.number(&ctx, "position", Order::Position(partition)).map(|offset| offset as f64)
    })?;
    let this = Rc::clone(&reader);
    function(&object, "commitOffsets", move |ctx: Ctx<'js>| {
        this.number(&ctx, "commitOffsets", Order::Commit).map(|_| ())
    })?;
    let this = Rc::clone(&reader);
    function(&object, "stats", move |ctx: Ctx<'js>| {
        let is_used = this.client.borrow().is_some();
        let count = if is_used { this.number(&ctx, "stats", Order::Assigned)? } else { 0 };
        let stats = Object::new(ctx)?;
        stats.set("assignments", count as f64)?;
        Ok::<_, js::Error>(stats)
    })?;
    function(&object, "close", move |ctx: Ctx<'js>| reader.close(&ctx))?;
    Ok(object)
}

impl Reader {
    fn consume<'js>(&self, ctx: &Ctx<'js>, given: &Value<'js>) -> js::Result<Array<'js>> {
        self.user.not_at_init(ctx, "Consuming")?;
        let asked: Asked = config::read(ctx, "consume", given)?;
        let limit = asked.max_messages.or(asked.limit).unwrap_or(1.0).max(1.0);
        let taking = Taking {
            // Beyond what any number of messages may be.
            limit: limit as usize,
            wait_ns: self.config.wait_ns(),
            takes_fewer: asked.expect_timeout == Some(true),
            is_cancelled: Arc::new(AtomicBool::new(false)),
        };
        let is_cancelled = Arc::clone(&taking.is_cancelled);
        let began_ns = now_ns();
        let answer = self.ask(Order::Take(taking));
        let failed = |problem: String| (Err(ReadError::Failed(problem)), Beside::default());
        let (taken, beside) = match answer {
            Ok(Some(Answer::Taken(taken, beside))) => (taken, beside),
            Ok(Some(_)) => failed("another answer came".to_owned()),
            Ok(None) => {
                is_cancelled.store(true, Ordering::Release);
                return Err(interrupted(ctx));
            }
            Err(problem) => failed(problem),
        };
        self.account(&taken, beside, began_ns, asked.expect_timeout == Some(true), limit);
        match taken {
            Ok(taken) => messages::list(ctx, &taken, asked.nano_precision == Some(true)),
            Err(ReadError::Cancelled) => Err(interrupted(ctx)),
            Err(error) => {
                let told = format!("Unable to read messages., OriginalError: {error}");
                Err(throw(ctx, &told))
            }
        }
    }

    /// Samples of a call.
    fn account(
        &self,
        taken: &Result<Vec<Message>, ReadError>,
        beside: Beside,
        began_ns: u64,
        takes_fewer: bool,
        limit: f64,
    ) {
        let topics = self.config.topics();
        let (account, meters) = (Account::new(&self.user, &topics), &self.meters);
        let (messages, failed) = match taken {
            Ok(messages) => (messages.as_slice(), None),
            Err(error) => (&[][..], Some(error)),
        };
        let bytes: usize = messages.iter().map(Message::bytes).sum();
        let is_late = matches!(failed, Some(ReadError::TimedOut { .. }))
            || takes_fewer && failed.is_none() && (messages.len() as f64) < limit;
        account.add(meters.reader_fetches, 1.0);
        account.add(meters.reader_messages, messages.len() as f64);
        account.add(meters.reader_bytes, bytes as f64);
        account.add(meters.reader_fetch_size, messages.len() as f64);
        account.add(meters.reader_fetch_bytes, bytes as f64);
        account.add(meters.reader_errors, f64::from(u8::from(failed.is_some())));
        account.add(meters.reader_timeouts, f64::from(u8::from(is_late)));
        account.add(meters.reader_rebalances, beside.rebalances as f64);
        account.add(meters.reader_queue_length, beside.waiting as f64);
        account.add(meters.reader_queue_capacity, f64::from(config::QUEUE_MAX));
        account.add_ns(meters.reader_read_time, now_ns().saturating_sub(began_ns));
        if let Some(first) = messages.first() {
            // What was there already has not been waited for.
            account.add_ns(meters.reader_wait_time, first.at_ns.saturating_sub(began_ns));
        }
        if let Some(last) = messages.last() {
            let next = last.offset + 1;
            account.add(meters.reader_offset, next as f64);
            account.add(meters.reader_lag, (last.high_watermark - next).max(0) as f64);
        }
        let (least, most) = self.config.bytes();
        account.add(meters.reader_bytes_min, f64::from(least));
        account.add(meters.reader_bytes_max, f64::from(most));
        account.add_ns(meters.reader_wait_max, self.config.wait_ns());
    }

    /// An order that comes to a number, or to nothing.
    fn number(&self, ctx: &Ctx<'_>, method: &str, order: Order) -> js::Result<i64> {
        self.user.not_at_init(ctx, method)?;
        let failed = |problem: String| throw(ctx, &format!("{method}: {problem}"));
        match self.ask(order).map_err(failed)?.ok_or_else(|| interrupted(ctx))? {
            Answer::Number(number) => number.map_err(failed),
            Answer::Done(done) => done.map(|()| 0).map_err(failed),
            Answer::Taken(..) => Err(failed("another answer came".to_owned())),
        }
    }

    /// Asks the reader's thread and waits; `None` if the user is to end first.
    fn ask(&self, order: Order) -> Result<Option<Answer>, String> {
        let client = self.client()?;
        let waiting = Waiting::new(&self.user);
        let link = Arc::clone(&waiting.link);
        let reply = Box::new(move |answer: Answer| waiting::tell(&link, answer));
        match client.ask(order, reply) {
            Ok(()) => Ok(waiting.answer()),
            Err(problem) => {
                waiting.forget();
                Err(problem)
            }
        }
    }

    fn client(&self) -> Result<Rc<Client>, String> {
        if self.is_closed.get() {
            return Err("the reader is closed".to_owned());
        }
        if let Some(client) = &*self.client.borrow() {
            return Ok(Rc::clone(client));
        }
        let client = Client::new(self.settings.clone()).map_err(super::shared::told)?;
        let client = Rc::new(client);
        self.user.host.settings.kafka.note_reader(client.handle());
        *self.client.borrow_mut() = Some(Rc::clone(&client));
        Ok(client)
    }

    /// Leaves the group, if it is in one.
    fn close(&self, ctx: &Ctx<'_>) -> js::Result<()> {
        if self.is_closed.get() || self.client.borrow().is_none() {
            self.is_closed.set(true);
            return Ok(());
        }
        let closed = self.ask(Order::Close);
        self.is_closed.set(true);
        self.client.take();
        match closed {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(interrupted(ctx)),
            Err(problem) => Err(throw(ctx, &format!("close: {problem}"))),
        }
    }
}
