//! Results that scripts get as promises.

use sojourn_script::js::{self, Ctx, Error, Exception, IntoJs, Promise};

/// A promise of what is known already.
pub(super) fn of<'js, T: IntoJs<'js>>(
    ctx: &Ctx<'js>,
    result: js::Result<T>,
) -> js::Result<Promise<'js>> {
    let (promise, resolve, reject) = ctx.promise()?;
    match result {
        Ok(value) => resolve.call::<_, ()>((value,))?,
        Err(Error::Exception) => reject.call::<_, ()>((ctx.catch(),))?,
        Err(error) => {
            let error = Exception::from_message(ctx.clone(), &error.to_string())?;
            reject.call::<_, ()>((error,))?;
        }
    }
    Ok(promise)
}

/// Throws an error under this name.
pub(super) fn throw(ctx: &Ctx<'_>, name: &str, told: &str) -> Error {
    let made = Exception::from_message(ctx.clone(), told).and_then(|error| {
        error.as_object().set("name", name)?;
        Ok(error)
    });
    match made {
        Ok(error) => error.throw(),
        Err(error) => error,
    }
}
