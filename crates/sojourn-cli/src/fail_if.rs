//! `-fail-if`: a condition that must not come true, as the threshold that must hold.
//!
//! A bare statistic is the response time's: `p99 > 50ms`. `success < 99%` is about the share of
//! requests answered with 2xx or 3xx. Anything else is a threshold's own language.

use sojourn_metrics::Threshold;

/// The threshold that holds as long as the condition does not.
pub(crate) fn threshold(condition: &str) -> Result<Threshold, String> {
    let wrong = |why: &str| {
        format!("`{condition}`: {why}; write a condition such as 'p99 > 50ms' or 'success < 99%'")
    };
    let at = condition.find(['<', '>', '=', '!']).ok_or_else(|| wrong("there is no comparison"))?;
    let (name, rest) = condition.split_at(at);
    let length = rest.find(|c| !"<>=!".contains(c)).unwrap_or(rest.len());
    let (operator, bound) = rest.split_at(length);
    let opposite = match operator {
        ">" => "<=",
        ">=" => "<",
        "<" => ">=",
        "<=" => ">",
        "==" => "!=",
        "!=" => "==",
        _ => return Err(wrong(&format!("`{operator}` is not a comparison"))),
    };
    let (name, bound) = (name.trim(), bound.trim());
    let text = match name {
        "success" => {
            let share = bound.strip_suffix('%').and_then(|bound| bound.trim().parse::<f64>().ok());
            let share = share.ok_or_else(|| wrong("success is compared with a percentage"))?;
            // The share of failures stands to the rest as the share of successes does not.
            format!("errors.rate {} {}%", mirrored(opposite), 100.0 - share)
        }
        _ if is_statistic(name) => format!("response.{name} {opposite} {bound}"),
        _ => format!("{name} {opposite} {bound}"),
    };
    let mut threshold = Threshold::parse(&text).map_err(|error| match error.hint {
        Some(hint) => wrong(&format!("{} ({hint})", error.message)),
        None => wrong(&error.message),
    })?;
    threshold.text = format!("not {}", condition.trim());
    Ok(threshold)
}

/// What a comparison becomes when both sides change their sign.
fn mirrored(operator: &str) -> &str {
    match operator {
        ">=" => "<=",
        ">" => "<",
        "<=" => ">=",
        "<" => ">",
        other => other,
    }
}

fn is_statistic(name: &str) -> bool {
    matches!(name, "mean" | "max" | "min" | "stddev")
        || name.strip_prefix('p').is_some_and(|q| q.parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(condition: &str) -> (String, f64) {
        let threshold = threshold(condition).unwrap();
        (format!("{:?}", threshold.comparison), threshold.bound)
    }

    #[test]
    fn conditions_become_their_opposites() {
        assert_eq!(parsed("p99 > 50ms"), ("LessOrEqual".to_owned(), 50e6));
        assert_eq!(parsed("p99.9>=1s"), ("Less".to_owned(), 1e9));
        assert_eq!(parsed("service.p50 > 1ms"), ("LessOrEqual".to_owned(), 1e6));
        assert_eq!(parsed("lag.p99 > 1ms"), ("LessOrEqual".to_owned(), 1e6));
        let (comparison, bound) = parsed("success < 99%");
        assert_eq!(comparison, "LessOrEqual");
        assert!((bound - 0.01).abs() < 1e-12);
        assert_eq!(parsed("missed > 0"), ("LessOrEqual".to_owned(), 0.0));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (condition, why) in [
            ("p99", "no comparison"),
            ("p99 => 5ms", "`=>` is not a comparison"),
            ("p99 > fast", "fast"),
            ("success < 5", "a percentage"),
            ("speed > 5", "speed"),
        ] {
            let error = threshold(condition).unwrap_err();
            assert!(error.contains(why), "{condition}: {error}");
        }
    }
}
