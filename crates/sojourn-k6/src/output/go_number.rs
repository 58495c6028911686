//! Numbers as Go writes them.

use std::fmt::Write as _;

/// As Go's `encoding/json`: the shortest digits that read back the same, with an exponent below
/// 1e-6 and from 1e21 on. JSON has no infinities; they are written as the greatest number there is.
pub(crate) fn push_json(out: &mut String, value: f64) {
    let value = if value.is_infinite() { f64::MAX.copysign(value) } else { value };
    let size = value.abs();
    // Writing to a string does not fail.
    let _never = if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{value:e}");
        match text.split_once('e') {
            Some((digits, exponent)) if !exponent.starts_with('-') => {
                write!(out, "{digits}e+{exponent}")
            }
            _ => write!(out, "{text}"),
        }
    } else {
        write!(out, "{value}")
    };
}

/// As Go's `%f`: six digits after the point.
pub(crate) fn push_fixed(out: &mut String, value: f64) {
    // Writing to a string does not fail.
    let _never = if value.is_infinite() {
        write!(out, "{}", if value > 0.0 { "+Inf" } else { "-Inf" })
    } else {
        write!(out, "{value:.6}")
    };
}
