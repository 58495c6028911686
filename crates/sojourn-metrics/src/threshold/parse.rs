//! Reading a threshold's text.

use super::{
    Comparison, Statistic, Threshold, ThresholdError,
    bound::Bound,
    poison::FIGURES,
    subject::{STEP_TRENDS, Subject, single_words},
};

const STATISTICS: &[(&str, Statistic)] = &[
    ("mean", Statistic::Mean),
    ("max", Statistic::Max),
    ("min", Statistic::Min),
    ("stddev", Statistic::Stddev),
    ("rate", Statistic::Rate),
    ("count", Statistic::Count),
];

const COMPARISONS: &[(&str, Comparison)] = &[
    ("<", Comparison::Less),
    ("<=", Comparison::LessOrEqual),
    (">", Comparison::Greater),
    (">=", Comparison::GreaterOrEqual),
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
];

pub(super) fn parse(text: &str) -> Result<Threshold, ThresholdError> {
    let (name, operator, bound) = split(text)?;
    let comparison = comparison(operator)?;
    let (mut subject, statistic) = subject(name)?;
    let bound = Bound::parse(bound.text, bound.at)?;
    if bound.is_percentage() {
        // `lost < 0.1%` means the share.
        let share = [subject.as_slice(), &["share"]].concat();
        if Subject::of(&share).is_some_and(|share| share.is_value()) {
            subject = share;
        }
    }
    // `subject` was resolved above; the share that replaced it was too.
    let unit = Subject::of(&subject).map(|subject| subject.unit(statistic));
    let unit = unit.ok_or_else(|| unknown(name))?;
    Ok(Threshold {
        text: text.to_owned(),
        subject: subject.into_iter().map(str::to_owned).collect(),
        statistic,
        comparison,
        bound: bound.value(unit)?,
        abort: false,
    })
}

/// A piece of the text and where it stands.
#[derive(Clone, Copy, Debug)]
struct Piece<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Piece<'a> {
    fn trimmed(self) -> Self {
        let start = self.text.trim_start();
        Self { text: start.trim_end(), at: self.at + self.text.len() - start.len() }
    }

    fn error(self, message: String, hint: Option<String>) -> ThresholdError {
        ThresholdError { message, range: self.at..self.at + self.text.len(), hint }
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        let (before, after) = self.text.split_at(at);
        let after = Self { text: after, at: self.at + at };
        (Self { text: before, at: self.at }, after)
    }
}

/// Name, comparison, bound.
fn split(text: &str) -> Result<(Piece<'_>, Piece<'_>, Piece<'_>), ThresholdError> {
    const FORM: &str = "write NAME COMPARISON BOUND, such as `journey.payment.p99 < 25s`";
    let whole = Piece { text, at: 0 };
    let is_operator = |c: char| matches!(c, '<' | '>' | '=' | '!');
    let Some(start) = text.find(is_operator) else {
        let message = if text.trim().is_empty() {
            "the threshold is empty".to_owned()
        } else {
            "there is no comparison".to_owned()
        };
        return Err(whole.error(message, Some(FORM.into())));
    };
    let (name, rest) = whole.split_at(start);
    let end = rest.text.find(|c| !is_operator(c)).unwrap_or(rest.text.len());
    let (operator, bound) = rest.split_at(end);
    let (name, bound) = (name.trimmed(), bound.trimmed());
    if name.text.is_empty() {
        return Err(
            operator.error("there is no name before the comparison".into(), Some(FORM.into()))
        );
    }
    if bound.text.is_empty() {
        return Err(
            operator.error("there is no bound after the comparison".into(), Some(FORM.into()))
        );
    }
    Ok((name, operator, bound))
}

fn comparison(operator: Piece<'_>) -> Result<Comparison, ThresholdError> {
    let known = COMPARISONS.iter().find(|&&(text, _)| text == operator.text);
    known.map(|&(_, comparison)| comparison).ok_or_else(|| {
        let meant = match operator.text {
            "=" => "write `==`",
            "=<" => "write `<=`",
            "=>" => "write `>=`",
            "<>" => "write `!=`",
            _ => "use <, <=, >, >=, == or !=",
        };
        operator.error(format!("`{}` is not a comparison", operator.text), Some(meant.into()))
    })
}

/// The subject's parts and the statistic of a dotted name.
fn subject(name: Piece<'_>) -> Result<(Vec<&str>, Statistic), ThresholdError> {
    let parts: Vec<&str> = name.text.split('.').collect();
    if parts.iter().any(|part| part.is_empty()) {
        return Err(name.error("a part of the name is empty".into(), None));
    }
    // A number by itself first: `errors.rate` is one, not the rate of `errors`.
    if Subject::of(&parts).is_some_and(|subject| subject.is_value()) {
        return Ok((parts, Statistic::Value));
    }
    let (subject, statistic) = split_statistic(name, &parts)?;
    match Subject::of(subject) {
        Some(known) if known.is_value() => Err(name.error(
            format!("`{}` is a single number and has no statistics", subject.join(".")),
            Some(format!("write `{}`", subject.join("."))),
        )),
        Some(_) => Ok((subject.to_vec(), statistic)),
        None => Err(unknown(Piece { text: &name.text[..subject.join(".").len()], at: name.at })),
    }
}

/// The last part, or the last two of `p99.9`, as a statistic.
fn split_statistic<'p, 'a>(
    name: Piece<'_>,
    parts: &'p [&'a str],
) -> Result<(&'p [&'a str], Statistic), ThresholdError> {
    for length in [2, 1] {
        let Some(at) = parts.len().checked_sub(length).filter(|&at| at > 0) else {
            continue;
        };
        let (subject, last) = parts.split_at(at);
        let word = last.join(".");
        if let Some(&(_, statistic)) = STATISTICS.iter().find(|&&(text, _)| text == word) {
            return Ok((subject, statistic));
        }
        let percent = word.strip_prefix('p').filter(|digits| {
            digits.starts_with(|c: char| c.is_ascii_digit())
                && digits.chars().all(|c| c.is_ascii_digit() || c == '.')
        });
        // In decimals: 99.9 / 100 is not the double nearest to 0.999.
        let quantile = percent.and_then(|digits| format!("{digits}e-2").parse::<f64>().ok());
        if let Some(quantile) = quantile {
            if quantile > 1.0 {
                let at = name.at + name.text.len() - word.len();
                let stated = Piece { text: &name.text[name.text.len() - word.len()..], at };
                return Err(stated.error(
                    format!("`{word}` is above the hundredth percentile"),
                    Some("percentiles go from p0 to p100, such as p99.9".into()),
                ));
            }
            return Ok((subject, Statistic::Quantile(quantile)));
        }
    }
    Err(no_statistic(name, parts))
}

fn no_statistic(name: Piece<'_>, parts: &[&str]) -> ThresholdError {
    let (last, before) = match parts.split_last() {
        Some((last, before)) if !before.is_empty() => (*last, before),
        _ => return unknown(name),
    };
    // Something known before a last part that is none: a statistic misspelt, else one left out.
    let known = Subject::of(before).is_some_and(|subject| !subject.is_value());
    let meant = closest(last, STATISTICS.iter().map(|&(word, _)| word));
    let whole_is_known = Subject::of(parts).is_some_and(|subject| !subject.is_value());
    if known && (meant.is_some() || !whole_is_known) {
        let hint = match meant {
            Some(word) => format!("did you mean `{word}`?"),
            None => "statistics are p50 to p99.99, mean, max, min, stddev, rate and count".into(),
        };
        let place = Piece { text: last, at: name.at + name.text.len() - last.len() };
        return place.error(format!("`{last}` is not a statistic"), Some(hint));
    }
    if whole_is_known {
        return name.error(
            format!("`{}` needs a statistic", name.text),
            Some(format!("such as `{}.p99`", name.text)),
        );
    }
    unknown(name)
}

/// Nothing is called so: says what is, or what comes close.
fn unknown(name: Piece<'_>) -> ThresholdError {
    let parts: Vec<&str> = name.text.split('.').collect();
    let (first, last) = (parts[0], parts[parts.len() - 1]);
    let steps = || STEP_TRENDS.iter().map(|&(word, _)| word);
    let heads = ["journey", "stage", "branch", "step", "lag", "errors", "backlog", "poison"];
    let (word, at, meant) = match first {
        "journey" => (first, 0, None),
        "stage" => {
            let figures =
                ["hop", "since_start", "first_member", "reached", "duplicates", "deliveries"];
            (last, name.text.len() - last.len(), closest(last, figures))
        }
        "poison" => {
            let figures = FIGURES.iter().map(|&(word, _)| word);
            (last, name.text.len() - last.len(), closest(last, figures))
        }
        "step" => (last, name.text.len() - last.len(), closest(last, steps())),
        _ => (first, 0, closest(first, single_words().chain(heads))),
    };
    let hint = match (meant, first) {
        (Some(meant), _) => format!("did you mean `{meant}`?"),
        (None, "journey") => "write `journey.NAME.p99`".into(),
        (None, "stage") => "write `stage.NAME.hop.p95` or `stage.NAME.since_start.p95`".into(),
        (None, "branch") => "write `branch.NAME.ratio` or `branch.NAME.p95`".into(),
        (None, "step") => "write `step.NAME.response.p95` or `step.NAME.service.p95`".into(),
        (None, "poison") => {
            "write `poison.contained`, `poison.lost` or `poison.containment.p99`".into()
        }
        (None, "errors") => "write `errors.rate` or `errors.count`".into(),
        (None, "backlog") => "write `backlog.slope`".into(),
        (None, _) => "names begin with journey, stage, step or lag, or are counts such as lost, \
                      duplicates or errors.rate"
            .into(),
    };
    let place = Piece { text: word, at: name.at + at };
    place.error(format!("nothing to measure is called `{}`", name.text), Some(hint))
}

/// The candidate that differs from `word` by the fewest slips, if by few.
fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let slips = |candidate: &&str| strsim::damerau_levenshtein(word, candidate);
    let best = candidates.into_iter().min_by_key(slips)?;
    (slips(&best) <= 1 + word.len() / 4).then_some(best)
}
