//! A user's first part: the script's top level, with the timers that it has set, and its exports.

use std::rc::Rc;

use sojourn_clock::{SECOND_NS, now_ns};
use sojourn_script::js::{Ctx, Function, Object, Value};
use sojourn_script::{Inside, ScriptError, suspend};

use super::User;
use super::life::run_callbacks;
use crate::run::Exports;

/// How long timers may keep the script from beginning once its top level has ended, ns.
const TIMERS_NS_MAX: u64 = 60 * SECOND_NS;

/// Runs the top level and whatever that has begun; what the script exports.
pub(super) fn run<'js>(
    user: &Rc<User>,
    inside: &Inside<'_, 'js>,
) -> Result<Object<'js>, ScriptError> {
    let mut thrown = None;
    let evaluated = inside.evaluate(&mut || {
        turn(user, inside.ctx).unwrap_or_else(|error| {
            thrown = Some(inside.caught(error));
            false
        })
    });
    if let Some(thrown) = thrown {
        return Err(thrown);
    }
    let exports = evaluated?;
    end_timers(user, inside)?;
    if !user.host.settings.bundle_is_frozen() {
        *user.exports.borrow_mut() = Some(described(inside, &exports)?);
    }
    Ok(exports)
}

/// Waits until something has come and hands it on; false when nothing is outstanding.
fn turn(user: &User, ctx: &Ctx<'_>) -> sojourn_script::js::Result<bool> {
    loop {
        if user.cancelled.get() || !user.has_callbacks() {
            return Ok(false);
        }
        if let Some((callback, outcome)) = user.next_callback() {
            return callback(ctx, outcome).map(|()| true);
        }
        suspend();
    }
}

/// Timers belong to the top level: it has ended when they have.
fn end_timers(user: &User, inside: &Inside<'_, '_>) -> Result<(), ScriptError> {
    let until_ns = now_ns() + TIMERS_NS_MAX;
    inside.run_jobs();
    if user.has_callbacks() {
        // Whatever it waits for, it is woken then.
        user.host.set_timer(until_ns, user.index, user.operation());
    }
    run_callbacks(user, inside, || {
        if now_ns() < until_ns {
            return Ok(());
        }
        Err(ScriptError::other(&format!(
            "timers that the script's top level has set still run {} s after its end: a test can't \
             begin before them; end what setInterval has begun with clearInterval, or begin it in \
             a function",
            TIMERS_NS_MAX / SECOND_NS
        )))
    })
}

/// Finds what JSON has no word for in options: a function or a number that is not finite.
const UNFIT: &str = r#"
(function (options) {
    const look = (value, path, above) => {
        if (typeof value === "function") return `${path}: a function is no value of an option`;
        if (typeof value === "number" && !Number.isFinite(value)) {
            return `${path}: ${value} is no value of an option: it has to be a finite number`;
        }
        if (value === null || typeof value !== "object" || above.includes(value)) return undefined;
        for (const key of Object.keys(value)) {
            const found = look(value[key], `${path}.${key}`, [...above, value]);
            if (found !== undefined) return found;
        }
        return undefined;
    };
    return look(options, "options", []);
})
"#;

/// What is undefined becomes null, as in k6: a tag without a value is empty, anything else absent.
const UNDEFINED_AS_NULL: &str = "((key, value) => (value === undefined ? null : value))";

/// What the script exports.
fn described<'js>(inside: &Inside<'_, 'js>, exports: &Object<'js>) -> Result<Exports, ScriptError> {
    let describe = || {
        let mut found = Exports::default();
        for entry in exports.props::<String, Value<'js>>() {
            let (name, value) = entry?;
            if value.is_function() {
                found.functions.push(name);
            } else if name == "options" {
                let unfit: Function<'js> = inside.ctx.eval(UNFIT)?;
                found.unfit_option = unfit.call((value.clone(),))?;
                let as_null: Function<'js> = inside.ctx.eval(UNDEFINED_AS_NULL)?;
                let json = inside.ctx.json_stringify_replacer(value, as_null)?;
                found.options = json.map_or_else(|| Ok(String::new()), |json| json.to_string())?;
            }
        }
        Ok(found)
    };
    let found = describe().map_err(|error| inside.caught(error))?;
    if found.functions.is_empty() {
        return Err(ScriptError::other("no exported functions in script"));
    }
    Ok(found)
}
