//! Variables and their values: `REPLICAS=1,2,4`.

use crate::errors::UsageError;

/// Most runs of a sweep.
const RUNS_MAX: usize = 200;

/// A variable and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Vary {
    name: String,
    values: Vec<String>,
}

/// Reads `NAME=A,B,C`.
pub(super) fn vary(text: &str) -> Result<Vary, String> {
    let (name, values) = text.split_once('=').ok_or("write NAME=A,B,C, such as REPLICAS=1,2,4")?;
    if !is_name(name) {
        return Err(format!("`{name}` is no name of a variable: letters, digits and `_`"));
    }
    let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
    if values.iter().any(String::is_empty) {
        return Err(format!("{name} has an empty value: write {name}=A,B,C"));
    }
    if values.iter().any(|value| value.contains('\0')) {
        return Err(format!("a value of {name} holds a zero byte"));
    }
    for (place, value) in values.iter().enumerate() {
        if values[..place].contains(value) {
            return Err(format!("{name} has the value {value} twice"));
        }
    }
    Ok(Vary { name: name.to_owned(), values })
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The variables' names; errs when one is given twice.
pub(super) fn names(varied: &[Vary]) -> Result<Vec<String>, UsageError> {
    let mut names: Vec<String> = Vec::new();
    for vary in varied {
        if names.contains(&vary.name) {
            return Err(UsageError::new(
                format!("--vary {} is given twice", vary.name),
                format!("write all its values at once: --vary {}=A,B,C", vary.name),
            ));
        }
        names.push(vary.name.clone());
    }
    Ok(names)
}

/// Every combination of values, the last variable changing fastest.
pub(super) fn combinations(varied: &[Vary]) -> Result<Vec<Vec<(String, String)>>, UsageError> {
    let runs = varied.iter().try_fold(1usize, |runs, vary| runs.checked_mul(vary.values.len()));
    if runs.is_none_or(|runs| runs > RUNS_MAX) {
        return Err(UsageError::new(
            format!("more than {RUNS_MAX} combinations of values"),
            "make several sweeps of it",
        ));
    }
    let mut all: Vec<Vec<(String, String)>> = vec![Vec::new()];
    for vary in varied {
        all = all
            .iter()
            .flat_map(|before| {
                vary.values.iter().map(|value| {
                    let mut values = before.clone();
                    values.push((vary.name.clone(), value.clone()));
                    values
                })
            })
            .collect();
    }
    Ok(all)
}

/// `REPLICAS=2, POLL=1s`.
pub(super) fn shown(values: &[(String, String)]) -> String {
    let all: Vec<String> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
    all.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_checked() {
        let two = vary("REPLICAS=1, 2").unwrap();
        assert_eq!((two.name.as_str(), two.values.len()), ("REPLICAS", 2));
        for wrong in ["REPLICAS", "=1", "1A=1", "A B=1", "A=", "A=1,,2", "A=1,1"] {
            assert!(vary(wrong).is_err(), "{wrong}");
        }
        let again = [two.clone(), two];
        assert!(names(&again).unwrap_err().to_string().contains("given twice"));
    }

    #[test]
    fn every_combination_is_made_once() {
        let varied = [vary("A=1,2").unwrap(), vary("B=x,y,z").unwrap()];
        let all = combinations(&varied).unwrap();
        let shown: Vec<String> = all.iter().map(|values| shown(values)).collect();
        assert_eq!(shown, ["A=1, B=x", "A=1, B=y", "A=1, B=z", "A=2, B=x", "A=2, B=y", "A=2, B=z"]);
        let many: Vec<String> = (0..201).map(|n| n.to_string()).collect();
        let many = vary(&format!("A={}", many.join(","))).unwrap();
        assert!(combinations(&[many]).is_err());
    }
}
