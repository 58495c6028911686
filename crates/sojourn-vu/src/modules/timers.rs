//! `k6/timers` and the same functions as globals.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use sojourn_script::js::prelude::{Opt, Rest};
use sojourn_script::js::{self, Ctx, Function, Object, Persistent, Value};

use super::function;
use crate::host::OperationId;
use crate::user::User;

/// Operations by the number that the script knows a timer by.
type Known = Rc<RefCell<HashMap<u32, OperationId>>>;
type Kept = Persistent<Function<'static>>;
type Arguments = Vec<Persistent<Value<'static>>>;

pub(super) fn make<'js>(ctx: &Ctx<'js>, user: &Rc<User>) -> js::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    set(&module, user)?;
    Ok(module)
}

/// Sets the four functions.
pub(crate) fn set<'js>(object: &Object<'js>, user: &Rc<User>) -> js::Result<()> {
    let known = Known::default();
    for (name, is_repeated) in [("setTimeout", false), ("setInterval", true)] {
        let (user, known) = (Rc::clone(user), Rc::clone(&known));
        function(
            object,
            name,
            move |ctx: Ctx<'js>, call: Function<'js>, ms: Opt<f64>, rest: Rest<Value<'js>>| {
                let every_ns = (ms.0.unwrap_or(0.0).max(0.0) * 1e6) as u64;
                let save = |value| Persistent::save(&ctx, value);
                let timer = Timer {
                    user: Rc::clone(&user),
                    known: Rc::clone(&known),
                    every_ns,
                    is_repeated,
                    call: Persistent::save(&ctx, call),
                    arguments: rest.0.into_iter().map(save).collect(),
                };
                let number = user.operation();
                timer.set(number);
                number
            },
        )?;
    }
    for name in ["clearTimeout", "clearInterval"] {
        let (user, known) = (Rc::clone(user), Rc::clone(&known));
        function(object, name, move |number: Opt<Option<u32>>| {
            let number = number.0.flatten().unwrap_or(0);
            if let Some(operation) = known.borrow_mut().remove(&number) {
                user.forget(operation);
            }
        })?;
    }
    Ok(())
}

struct Timer {
    user: Rc<User>,
    known: Known,
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
        self.known.borrow_mut().insert(number, operation);
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
            self.known.borrow_mut().remove(&number);
        }
        call.call_arg::<()>(arguments)
    }
}
