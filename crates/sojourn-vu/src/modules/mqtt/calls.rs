//! Calls that ask a broker for something: each there is twice, as one that waits for the answer and
//! as one whose promise is settled by it.

use std::rc::Rc;

use sojourn_script::js::prelude::Rest;
use sojourn_script::js::{self, Ctx, Exception, Object, Persistent, Promise, Value};

use super::super::{bytes, function};
use super::client::{Own, State, state};
use super::connection::{Connection, NOT_CONNECTED, Pending, Promises, Request, Settling};
use super::events::Failure;
use super::meters::Account;
use super::options::{self, CallOptions, Tags};

/// A call under way, and the number of its answer, if there will be one.
type Begun = (Rc<Connection>, Option<u32>);

/// How a method's arguments are read.
type Read<'js> = fn(&Ctx<'js>, &[Value<'js>]) -> js::Result<(Request, Tags)>;

/// All of them.
pub(super) fn methods<'js>(proto: &Object<'js>) -> js::Result<()> {
    both(proto, "publish", "publishAsync", publication)?;
    both(proto, "subscribe", "subscribeAsync", subscription)?;
    both(proto, "unsubscribe", "unsubscribeAsync", unsubscription)
}

/// A method that waits, and one that promises.
fn both<'js>(
    proto: &Object<'js>,
    name: &'static str,
    later: &'static str,
    read: Read<'js>,
) -> js::Result<()> {
    function(proto, name, move |ctx: Ctx<'js>, own: Own<'js>, given: Rest<Value<'js>>| {
        let request = read(&ctx, &given.0)?;
        state(&own).call(&ctx, own.0.as_inner(), name, request)
    })?;
    function(proto, later, move |ctx: Ctx<'js>, own: Own<'js>, given: Rest<Value<'js>>| {
        let request = read(&ctx, &given.0)?;
        state(&own).call_later(&ctx, later, request)
    })
}

impl State {
    pub(super) fn answered(
        &self,
        ctx: &Ctx<'_>,
        promises: &Promises,
        number: u32,
        refused: &[bool],
    ) -> js::Result<()> {
        let Some(call) = promises.take(number) else { return Ok(()) };
        let told = finish(&call.request, &call.account, refused);
        settle(ctx, call.settling, call.method, told, &call.account)
    }

    /// There will be no answers.
    pub(super) fn reject_all(
        &self,
        ctx: &Ctx<'_>,
        promises: &Promises,
        why: &str,
    ) -> js::Result<()> {
        for call in promises.take_all() {
            let told = Err(why.to_owned());
            settle(ctx, call.settling, call.method, told, &call.account)?;
        }
        Ok(())
    }

    /// Accounts for a call, and sends what it asks.
    fn begin(&self, request: &Request, tags: &Tags) -> (Account, Result<Begun, String>) {
        let account = self.account(tags);
        account.called();
        match request {
            Request::Publish { .. } => account.publishes(),
            Request::Subscribe { .. } => account.subscribes(),
            Request::Unsubscribe { .. } => {}
        }
        let current = self.current.borrow().clone();
        let sent = current.ok_or_else(|| NOT_CONNECTED.to_owned()).and_then(|connection| {
            let number = connection.send(request)?;
            Ok((connection, number))
        });
        (account, sent)
    }

    /// A call that waits for its answer.
    fn call<'js>(
        &self,
        ctx: &Ctx<'js>,
        object: &Object<'js>,
        method: &'static str,
        (request, tags): (Request, Tags),
    ) -> js::Result<()> {
        self.user.not_at_init(ctx, "speaking to an MQTT broker")?;
        let (account, begun) = self.begin(&request, &tags);
        let refused = match begun {
            Err(problem) => Err(problem),
            Ok((_, None)) => Ok(Vec::new()),
            Ok((connection, Some(number))) => {
                connection.wait_answered(number).ok_or_else(|| interrupted(ctx))?
            }
        };
        let told = refused.and_then(|refused| finish(&request, &account, &refused));
        self.report(ctx, object, method, told, &account)
    }

    /// A call whose promise is settled by its answer.
    fn call_later<'js>(
        &self,
        ctx: &Ctx<'js>,
        method: &'static str,
        (request, tags): (Request, Tags),
    ) -> js::Result<Promise<'js>> {
        self.user.not_at_init(ctx, "speaking to an MQTT broker")?;
        let (promise, resolve, reject) = ctx.promise()?;
        let settling = (Persistent::save(ctx, resolve), Persistent::save(ctx, reject));
        let (account, begun) = self.begin(&request, &tags);
        match begun {
            Err(problem) => settle(ctx, settling, method, Err(problem), &account)?,
            Ok((_, None)) => {
                let told = finish(&request, &account, &[]);
                settle(ctx, settling, method, told, &account)?;
            }
            Ok((connection, Some(number))) => {
                connection.keep(number, Pending { method, request, account, settling });
            }
        }
        Ok(promise)
    }
}

/// A request has its answer.
fn finish(request: &Request, account: &Account, refused: &[bool]) -> Result<(), String> {
    match request {
        Request::Publish { payload, .. } => account.sent(payload.len()),
        Request::Subscribe { filters, .. } => {
            let refused = filters.iter().zip(refused).find(|(_, is_refused)| **is_refused);
            if let Some((filter, _)) = refused {
                return Err(format!("the broker refuses the subscription to `{filter}`"));
            }
        }
        Request::Unsubscribe { .. } => {}
    }
    Ok(())
}

/// The user is to end.
pub(super) fn interrupted(ctx: &Ctx<'_>) -> js::Error {
    Exception::throw_internal(ctx, "interrupted")
}

fn settle(
    ctx: &Ctx<'_>,
    (resolve, reject): Settling,
    method: &'static str,
    told: Result<(), String>,
    account: &Account,
) -> js::Result<()> {
    match told {
        Ok(()) => resolve.restore(ctx)?.call::<_, ()>(()),
        Err(told) => {
            account.failed();
            let error = Failure { method, told }.to_js(ctx)?;
            reject.restore(ctx)?.call::<_, ()>((error,))
        }
    }
}

/// `(topic, payload, options)`.
fn publication<'js>(ctx: &Ctx<'js>, given: &[Value<'js>]) -> js::Result<(Request, Tags)> {
    let topic = options::topics(ctx, given.first())?.into_iter().next().unwrap_or_default();
    let payload = given.get(1).map(|payload| bytes::required(ctx, payload, "the payload"));
    let payload = payload.transpose()?.unwrap_or_default();
    let CallOptions { qos, retain, tags } = CallOptions::read(ctx, given.get(2))?;
    Ok((Request::Publish { topic, payload, qos, retain }, tags))
}

/// `(topics, options)`.
fn subscription<'js>(ctx: &Ctx<'js>, given: &[Value<'js>]) -> js::Result<(Request, Tags)> {
    let filters = options::topics(ctx, given.first())?;
    let CallOptions { qos, tags, .. } = CallOptions::read(ctx, given.get(1))?;
    Ok((Request::Subscribe { filters, qos }, tags))
}

/// `(topics, options)`.
fn unsubscription<'js>(ctx: &Ctx<'js>, given: &[Value<'js>]) -> js::Result<(Request, Tags)> {
    let filters = options::topics(ctx, given.first())?;
    let CallOptions { tags, .. } = CallOptions::read(ctx, given.get(1))?;
    Ok((Request::Unsubscribe { filters }, tags))
}
