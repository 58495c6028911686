//! `consumer(name, where)`: what a script takes as a member of a group, one member for each user.

use std::rc::Rc;

use sojourn_clock::SECOND_NS;
use sojourn_script::js::prelude::Opt;
use sojourn_script::js::{self, Array, Ctx, Object, Value};

use super::{declare, duration_ns, function, json, message, only_running, text, throw};
use crate::journeys::{Answer, Asked, Came, Taken};
use crate::user::{Outcome, User};

/// How long a message is waited for unless the script says.
const TIMEOUT_NS: u64 = SECOND_NS;
/// Most messages of one call.
const MESSAGES_MAX: f64 = 10_000.0;

/// A consumer as one user has it.
struct Consumer {
    user: Rc<User>,
    name: String,
    number: usize,
}

pub(super) fn make<'js>(
    user: &Rc<User>,
    ctx: &Ctx<'js>,
    name: Option<&Value<'js>>,
    written: Option<Value<'js>>,
) -> js::Result<Object<'js>> {
    user.only_at_init(ctx, "consumer()")?;
    let name =
        name.and_then(text).ok_or_else(|| throw(ctx, "consumer(): its name is to be a text"))?;
    let written = json(ctx, written)?;
    let shared = &user.host.settings.journeys;
    let number = declare(user, ctx, |files, is_frozen| {
        shared.consumers().declare(&name, written, is_frozen, files, &shared.connectors)
    })?;
    let object = Object::new(ctx.clone())?;
    object.set("name", name.as_str())?;
    let this = Rc::new(Consumer { user: Rc::clone(user), name, number });
    let own = Rc::clone(&this);
    function(
        &object,
        "take",
        move |ctx: Ctx<'js>, most: Opt<Value<'js>>, timeout: Opt<Value<'js>>| {
            own.take(&ctx, most.0.as_ref(), timeout.0.as_ref())
        },
    )?;
    let own = Rc::clone(&this);
    function(&object, "commit", move |ctx: Ctx<'js>| own.commit(&ctx))?;
    let own = Rc::clone(&this);
    function(&object, "assigned", move |ctx: Ctx<'js>| own.assigned(&ctx))?;
    function(&object, "leave", move |ctx: Ctx<'js>| this.leave(&ctx))?;
    Ok(object)
}

impl Consumer {
    fn take<'js>(
        &self,
        ctx: &Ctx<'js>,
        most: Option<&Value<'js>>,
        timeout: Option<&Value<'js>>,
    ) -> js::Result<Array<'js>> {
        only_running(&self.user, ctx, "take()", true)?;
        let messages_max = match most.filter(|most| !most.is_undefined()) {
            None => 1,
            Some(most) => messages_max(ctx, most)?,
        };
        let timeout_ns = match timeout.filter(|timeout| !timeout.is_undefined()) {
            None => TIMEOUT_NS,
            Some(timeout) => duration_ns(ctx, timeout, "timeout")?,
        };
        let came = self.ask(ctx, "take()", Asked::Take { messages_max, timeout_ns })?;
        let Came::Taken(taken) = came else { return Err(self.unasked(ctx, "take()")) };
        let list = Array::new(ctx.clone())?;
        for (at, taken) in taken.iter().enumerate() {
            list.set(at, self.message(ctx, taken)?)?;
        }
        Ok(list)
    }

    fn message<'js>(&self, ctx: &Ctx<'js>, taken: &Taken) -> js::Result<Object<'js>> {
        let object = message::object(&self.user, ctx, taken.stamp_ns, &taken.headers, &taken.body)?;
        let key = taken.key.as_deref().map(String::from_utf8_lossy);
        match key {
            Some(key) => object.set("key", key.as_ref())?,
            None => object.set("key", Value::new_null(ctx.clone()))?,
        }
        object.set("topic", taken.topic.as_str())?;
        Ok(object)
    }

    fn commit(&self, ctx: &Ctx<'_>) -> js::Result<()> {
        only_running(&self.user, ctx, "commit()", true)?;
        if self.user.memberships.of(self.number).is_none() {
            return Err(self.told(ctx, "commit()", "this user has taken nothing: take() is first"));
        }
        self.ask(ctx, "commit()", Asked::Commit).map(drop)
    }

    fn assigned(&self, ctx: &Ctx<'_>) -> js::Result<f64> {
        only_running(&self.user, ctx, "assigned()", true)?;
        if self.user.memberships.of(self.number).is_none() {
            return Ok(0.0);
        }
        match self.ask(ctx, "assigned()", Asked::Assigned)? {
            Came::Number(number) => Ok(number as f64),
            Came::Taken(_) | Came::Done => Err(self.unasked(ctx, "assigned()")),
        }
    }

    fn leave(&self, ctx: &Ctx<'_>) -> js::Result<()> {
        only_running(&self.user, ctx, "leave()", true)?;
        if self.user.memberships.of(self.number).is_none() {
            return Ok(());
        }
        let left = self.ask(ctx, "leave()", Asked::Leave);
        self.user.memberships.end(self.number);
        left.map(drop)
    }

    /// Asks the user's member, which is made if there is none, and waits: for this user alone.
    fn ask(&self, ctx: &Ctx<'_>, what: &str, asked: Asked) -> js::Result<Came> {
        let Self { user, number, .. } = self;
        let shared = &user.host.settings.journeys;
        let member = match user.memberships.of(*number) {
            Some(member) => member,
            None => {
                let made = shared.consumers().make(*number, &shared.connectors);
                let added = made.and_then(|consumer| shared.members.add(consumer));
                let member = added.map_err(|problem| self.told(ctx, what, &problem))?;
                user.memberships.add(*number, member)
            }
        };
        let operation = user.operation();
        let reply = user.host.answers.reply(user.index, operation);
        member.ask(asked, reply).map_err(|problem| self.told(ctx, what, &problem))?;
        match user.wait_or_throw(ctx, operation) {
            Ok(Outcome::Answer(Answer::Member(came))) => {
                came.map_err(|problem| self.told(ctx, what, &problem))
            }
            Ok(_) => Err(self.unasked(ctx, what)),
            Err(interrupted) => {
                // What it takes now nobody gets: it leaves, so that this comes again.
                user.memberships.end(*number);
                Err(interrupted)
            }
        }
    }

    fn told(&self, ctx: &Ctx<'_>, what: &str, problem: &str) -> js::Error {
        throw(ctx, &format!("{what} of the consumer \"{}\": {problem}", self.name))
    }

    fn unasked(&self, ctx: &Ctx<'_>, what: &str) -> js::Error {
        self.told(ctx, what, "another answer came than was asked for")
    }
}

fn messages_max<'js>(ctx: &Ctx<'js>, most: &Value<'js>) -> js::Result<usize> {
    let number = most.as_number().filter(|number| number.fract() == 0.0);
    match number.filter(|number| (1.0..=MESSAGES_MAX).contains(number)) {
        Some(number) => Ok(number as usize),
        None => {
            let told = format!("take(): how many messages is a number from 1 to {MESSAGES_MAX}");
            Err(throw(ctx, &told))
        }
    }
}
