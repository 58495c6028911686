//! What Go calls the types of values: k6's errors name them so.

use sojourn_script::js::prelude::This;
use sojourn_script::js::{Ctx, Function, Object, Result, Type, Value};

/// A date.
pub(crate) const TIME: &str = "time.Time";

/// An object without a type of its own.
pub(crate) const OBJECT: &str = "map[string]interface {}";

/// The type of a value as k6 sees it: `int64`, `[]interface {}`, `time.Time`.
pub(crate) fn name<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<String> {
    let known = match value.type_of() {
        Type::Undefined | Type::Null | Type::Uninitialized => "<nil>",
        Type::Int => "int64",
        Type::Float => return Ok(of_number(value.as_float().unwrap_or(f64::NAN)).to_owned()),
        Type::Bool => "bool",
        Type::String | Type::Symbol => "string",
        Type::BigInt => "*big.Int",
        Type::Array => "[]interface {}",
        Type::Function | Type::Constructor => "func(sobek.FunctionCall) sobek.Value",
        Type::Promise => "*sobek.Promise",
        _ => return Ok(of_tag(&tag(ctx, value)?)),
    };
    Ok(known.to_owned())
}

/// Whole numbers are floats to the engine too, where they were computed.
fn of_number(number: f64) -> &'static str {
    let is_negative_zero = number == 0.0 && number.is_sign_negative();
    let is_whole = number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0;
    if is_whole && !is_negative_zero { "int64" } else { "float64" }
}

/// The tag of an object: `Date`, `Uint8Array`, `Object`.
pub(crate) fn tag<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<String> {
    let class: Object<'js> = ctx.globals().get("Object")?;
    let prototype: Object<'js> = class.get("prototype")?;
    let show: Function<'js> = prototype.get("toString")?;
    let shown: String = show.call((This(value.clone()),))?;
    Ok(shown.trim_start_matches("[object ").trim_end_matches(']').to_owned())
}

fn of_tag(tag: &str) -> String {
    let known = match tag {
        "Array" | "Set" => "[]interface {}",
        "Map" => "[][2]interface {}",
        "Date" => TIME,
        "Number" => "int64",
        "Boolean" => "bool",
        "Function" => "func(sobek.FunctionCall) sobek.Value",
        "Promise" => "*sobek.Promise",
        "ArrayBuffer" => "sobek.ArrayBuffer",
        "Int8Array" => "[]int8",
        "Uint8Array" | "Uint8ClampedArray" => "[]uint8",
        "Int16Array" => "[]int16",
        "Uint16Array" => "[]uint16",
        "Int32Array" => "[]int32",
        "Uint32Array" => "[]uint32",
        "BigInt64Array" => "[]int64",
        "BigUint64Array" => "[]uint64",
        "Float32Array" => "[]float32",
        "Float64Array" => "[]float64",
        // Classes of k6's own, which it shows as whatever they are in Go.
        "Blob" => "Blob",
        _ => OBJECT,
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_whole_or_not() {
        assert_eq!(of_number(5.0), "int64");
        assert_eq!(of_number(-0.0), "float64");
        assert_eq!(of_number(1.5), "float64");
        assert_eq!(of_number(f64::NAN), "float64");
        assert_eq!(of_number(1e300), "float64");
    }
}
