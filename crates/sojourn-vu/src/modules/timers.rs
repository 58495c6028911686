//! `k6/timers` and the same functions as globals.

use std::rc::Rc;

use sojourn_script::js::prelude::Rest;
use sojourn_script::js::{self, Ctx, Exception, Function, Object, Persistent, Value};

use super::coerced::{Any, Number, Whole};
use super::function;
use crate::user::User;

type Kept = Persistent<Function<'static>>;
type Arguments = Vec<Persistent<Value<'static>>>;

pub(super) fn make<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    set(&module, user)?;
    Ok(module)
}

/// Sets the four functions.
pub(crate) fn set<'js>(object: &Object<'js>, user: &Rc<User>) -> js::Result<()> {
    for (name, is_repeated) in [("setTimeout", false), ("setInterval", true)] {
        let user = Rc::clone(user);
        function(
            object,
            name,
            move |ctx: Ctx<'js>, call: Any<'js>, ms: Number, rest: Rest<Value<'js>>| {
                let call = callable(&ctx, name, call.0)?;
                let every_ns = (ms.0.max(0.0) * 1e6) as u64;
                let save = |value| Persistent::save(&ctx, value);
                let timer = Timer {
                    user: Rc::clone(&user),
                    setter: name,
                    every_ns,
                    is_repeated,
                    call: Persistent::save(&ctx, call),
                    arguments: rest.0.into_iter().map(save).collect(),
                };
                let number = user.timers.number();
                timer.set(number);
                Ok::<_, js::Error>(number)
            },
        )?;
    }
    for name in ["clearTimeout", "clearInterval"] {
        let user = Rc::clone(user);
        function(object, name, move |number: Whole| {
            let pending = u32::try_from(number.0).ok();
            if let Some(operation) = pending.and_then(|number| user.timers.remove(number)) {
                user.forget(operation);
            }
        })?;
    }
    Ok(())
}

fn callable<'js>(ctx: &Ctx<'js>, name: &str, call: Value<'js>) -> js::Result<Function<'js>> {
    let is_missing = call.is_null() || call.is_undefined();
    call.into_function().ok_or_else(|| {
        let told = format!("{name}'s callback isn't a callable function");
        match is_missing {
            true => Exception::throw_message(ctx, &told),
            false => Exception::throw_type(ctx, &told),
        }
    })
}

struct Timer {
    user: Rc<User>,
    /// The function that set it.
    setter: &'static str,
    every_ns: u64,
    is_repeated: bool,
    call: Kept,
    arguments: Arguments,
}

impl Timer {
    /// Sets it for the first or the next time.
    fn set(self, number: u32) {
        let user = Rc::clone(&self.user);
        let operation = user.operation();
        user.timers.insert(number, self.setter, operation);
        let at_ns = sojourn_clock::now_ns() + self.every_ns;
        user.host.set_timer(at_ns, user.index, operation);
        user.when_done(operation, Box::new(move |ctx, _| self.fire(ctx, number)));
    }

    fn fire(self, ctx: &Ctx<'_>, number: u32) -> js::Result<()> {
        let call = self.call.clone().restore(ctx)?;
        let mut arguments = js::function::Args::new(ctx.clone(), self.arguments.len());
        for argument in &self.arguments {
            arguments.push_arg(argument.clone().restore(ctx)?)?;
        }
        // Before the call, so that the call can clear it.
        if self.is_repeated {
            self.set(number);
        } else {
            self.user.timers.remove(number);
        }
        call.call_arg::<()>(arguments)
    }
}
