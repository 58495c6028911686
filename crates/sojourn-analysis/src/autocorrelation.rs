//! How much neighbouring values resemble each other.

/// The lag-1 autocorrelation of values about a mean of zero; `None` where they do not vary: what
/// is left then are rounding errors.
pub(crate) fn lag_1(values: &[f64]) -> Option<f64> {
    let squares: f64 = values.iter().map(|value| value * value).sum();
    let products: f64 = values.windows(2).map(|pair| pair[0] * pair[1]).sum();
    (squares >= 1e-18).then(|| products / squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_that_are_alike_or_opposed_and_values_that_do_not_vary() {
        let alike: Vec<f64> = (0..100).map(|k| if k < 50 { 1.0 } else { -1.0 }).collect();
        assert!(lag_1(&alike).is_some_and(|r| r > 0.9));
        let opposed: Vec<f64> = (0..100).map(|k| if k % 2 == 0 { 1.0 } else { -1.0 }).collect();
        assert!(lag_1(&opposed).is_some_and(|r| r < -0.9));
        assert_eq!(lag_1(&[1e-12; 9]), None);
    }
}
