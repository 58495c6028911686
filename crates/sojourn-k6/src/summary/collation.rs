//! The order in which summaries list names: that of people, not of bytes.

use std::cmp::Ordering;

/// ASCII's signs in the order of the Unicode Collation Algorithm's default table; digits and
/// letters follow.
const SIGNS: &str = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";

/// Signs before digits before letters; the case of letters matters only between names that are
/// otherwise the same, small letters first. Beyond ASCII the order is that of code points.
pub(super) fn compare(a: &str, b: &str) -> Ordering {
    let weights = |text: &str| text.chars().map(weight).collect::<Vec<_>>();
    let cases = |text: &str| text.chars().map(|c| c.is_uppercase()).collect::<Vec<_>>();
    weights(a).cmp(&weights(b)).then_with(|| cases(a).cmp(&cases(b)))
}

fn weight(next: char) -> u32 {
    // Above the few signs, and below whatever is not ASCII.
    const DIGITS_AND_LETTERS: u32 = 0x80;
    match SIGNS.find(next) {
        Some(at) => at as u32,
        None if next.is_ascii() => DIGITS_AND_LETTERS + u32::from(next.to_ascii_lowercase()),
        None => 2 * DIGITS_AND_LETTERS + u32::from(next.to_lowercase().next().unwrap_or(next)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_k6() {
        let expected = [
            "__a", "_a", "_A", "a_", "a_1", "a_b", "A_b", "a1", "a1_b", "a1{a:1}", "a1{x_:1}",
            "a1{x:1}", "a1{X:1}", "a1{x1:1}", "a12", "a1b", "a2", "aa", "Aa", "ab", "aB", "Ab",
            "AB", "ab_c", "ab1", "abc", "aBc", "ABd", "b1", "B1", "rate_1", "rate_1_0", "rate_10",
            "rate10", "z1", "Z1",
        ];
        let mut sorted = expected;
        sorted.reverse();
        sorted.sort_by(|a, b| compare(a, b));
        assert_eq!(sorted, expected);
    }
}
