//! Numbers as Go writes them.

use std::fmt::Write as _;

/// As Go's `encoding/json`: the shortest digits that read back the same, with an exponent below
/// 1e-6 and from 1e21 on. `value` is finite.
pub(crate) fn push_json(out: &mut String, value: f64) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_go_does() {
        for (value, json, fixed) in [
            (0.0, "0", "0.000000"),
            (-2.5, "-2.5", "-2.500000"),
            (1e-6, "0.000001", "0.000001"),
            (1.5e-7, "1.5e-7", "0.000000"),
            (1e20, "100000000000000000000", "100000000000000000000.000000"),
            (1e21, "1e+21", "1000000000000000000000.000000"),
            (-2.5e21, "-2.5e+21", "-2500000000000000000000.000000"),
        ] {
            let (mut one, mut other) = (String::new(), String::new());
            push_json(&mut one, value);
            push_fixed(&mut other, value);
            assert_eq!((one.as_str(), other.as_str()), (json, fixed));
        }
        let mut out = String::new();
        push_fixed(&mut out, f64::INFINITY);
        push_fixed(&mut out, f64::NEG_INFINITY);
        assert_eq!(out, "+Inf-Inf");
    }
}
