//! Arguments as k6 takes them: whatever is given becomes the type that is meant, and what is
//! missing, undefined or null is that type's empty value.

use sojourn_script::js::function::{FromParam, ParamRequirement, ParamsAccessor};
use sojourn_script::js::{Coerced, Ctx, FromJs, Result, Value};

/// A text.
#[derive(Debug, Default)]
pub(crate) struct Text(pub(crate) String);

/// A number; NaN for what is none.
#[derive(Debug, Default)]
pub(crate) struct Number(pub(crate) f64);

/// A number without its fraction; 0 for what is none.
#[derive(Debug, Default)]
pub(crate) struct Whole(pub(crate) i64);

/// Any value; undefined where it is missing.
pub(crate) struct Any<'js>(pub(crate) Value<'js>);

/// A value as what is meant, by the language's own rules; empty where there is none.
fn coerced<'js, T: Default>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<T>
where
    Coerced<T>: FromJs<'js>,
{
    if value.is_undefined() || value.is_null() {
        return Ok(T::default());
    }
    Ok(Coerced::from_js(ctx, value.clone())?.0)
}

/// A value as a text.
pub(crate) fn text<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<String> {
    coerced(ctx, value)
}

impl<'js> FromParam<'js> for Any<'js> {
    fn param_requirement() -> ParamRequirement {
        ParamRequirement::optional()
    }

    fn from_param<'a>(params: &mut ParamsAccessor<'a, 'js>) -> Result<Self> {
        if params.is_empty() {
            return Ok(Self(Value::new_undefined(params.ctx().clone())));
        }
        Ok(Self(params.arg()))
    }
}

impl<'js> FromParam<'js> for Text {
    fn param_requirement() -> ParamRequirement {
        ParamRequirement::optional()
    }

    fn from_param<'a>(params: &mut ParamsAccessor<'a, 'js>) -> Result<Self> {
        let ctx = params.ctx().clone();
        coerced(&ctx, &Any::from_param(params)?.0).map(Self)
    }
}

impl<'js> FromParam<'js> for Number {
    fn param_requirement() -> ParamRequirement {
        ParamRequirement::optional()
    }

    fn from_param<'a>(params: &mut ParamsAccessor<'a, 'js>) -> Result<Self> {
        let ctx = params.ctx().clone();
        coerced(&ctx, &Any::from_param(params)?.0).map(Self)
    }
}

impl<'js> FromParam<'js> for Whole {
    fn param_requirement() -> ParamRequirement {
        ParamRequirement::optional()
    }

    fn from_param<'a>(params: &mut ParamsAccessor<'a, 'js>) -> Result<Self> {
        // As a cast does: NaN is 0, what is too large the largest number.
        Number::from_param(params).map(|number| Self(number.0 as i64))
    }
}
