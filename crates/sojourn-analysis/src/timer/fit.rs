//! How well the usual distributions of waiting and working explain samples: the log-likelihood per
//! sample at each family's best parameters.

use super::shape::Shape;

/// The greatest log-likelihood per sample among exponential, normal, log-normal, gamma and Weibull.
pub(super) fn best(shape: &Shape) -> f64 {
    let mean = shape.mean_of(|x| x);
    // In units of the mean: powers of nanoseconds overflow no float.
    let scaled = Shape {
        points: shape.points.iter().map(|&(x, count)| (x / mean, count)).collect(),
        n: shape.n,
    };
    let mean_log = scaled.mean_of(f64::ln);
    let fits = [
        exponential(),
        normal(scaled.mean_of(|x| (x - 1.0).powi(2))),
        normal(scaled.mean_of(|x| (x.ln() - mean_log).powi(2))) - mean_log,
        gamma(mean_log),
        weibull(&scaled, mean_log),
    ];
    fits.into_iter().filter(|fit| !fit.is_nan()).fold(f64::NEG_INFINITY, f64::max) - mean.ln()
}

/// Of samples whose mean is one.
fn exponential() -> f64 {
    -1.0
}

fn normal(variance: f64) -> f64 {
    -0.5 * (2.0 * std::f64::consts::PI * std::f64::consts::E * variance.max(1e-18)).ln()
}

/// Of samples whose mean is one. The shape by Minka's approximation and two steps of Newton's
/// method ("Estimating a Gamma distribution", 2002).
fn gamma(mean_log: f64) -> f64 {
    let s = (-mean_log).max(1e-9);
    let mut k = (3.0 - s + ((s - 3.0).powi(2) + 24.0 * s).sqrt()) / (12.0 * s);
    for _ in 0..2 {
        let (digamma, trigamma) = psi(k);
        let gradient = (mean_log + k.ln() - digamma) / (k * k * (1.0 / k - trigamma));
        k = 1.0 / (1.0 / k + gradient);
    }
    (k - 1.0) * mean_log - k + k * k.ln() - ln_gamma(k)
}

/// The shape by Newton's method on the profile likelihood.
fn weibull(shape: &Shape, mean_log: f64) -> f64 {
    let spread = shape.mean_of(|x| (x.ln() - mean_log).powi(2)).sqrt();
    // Of a Weibull variable, the logarithm's deviation is π / (√6 k).
    let mut k = 1.282_549_8 / spread.max(1e-6);
    for _ in 0..6 {
        let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
        for &(x, count) in &shape.points {
            let log = x.ln();
            let power = (k * log).exp() * count;
            sum += power;
            first += power * log;
            second += power * log * log;
        }
        let (first, second) = (first / sum, second / sum);
        let value = first - 1.0 / k - mean_log;
        let slope = second - first * first + 1.0 / (k * k);
        k = (k - value / slope).max(k / 4.0);
    }
    let power = shape.mean_of(|x| (k * x.ln()).exp());
    k.ln() - power.ln() + (k - 1.0) * mean_log - 1.0
}

/// Digamma and trigamma: recurrence up to 10, then the asymptotic series (Abramowitz and Stegun,
/// 6.3.18 and 6.4.12).
fn psi(mut x: f64) -> (f64, f64) {
    let (mut digamma, mut trigamma) = (0.0, 0.0);
    while x < 10.0 {
        digamma -= 1.0 / x;
        trigamma += 1.0 / (x * x);
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    digamma +=
        x.ln() - 0.5 / x - inverse * (1.0 / 12.0 - inverse * (1.0 / 120.0 - inverse / 252.0));
    trigamma += 1.0 / x
        + 0.5 * inverse
        + inverse / x * (1.0 / 6.0 - inverse * (1.0 / 30.0 - inverse / 42.0));
    (digamma, trigamma)
}

/// The logarithm of the gamma function: recurrence up to 10, then Stirling's series (Abramowitz and
/// Stegun, 6.1.41).
fn ln_gamma(mut x: f64) -> f64 {
    let mut product = 1.0;
    while x < 10.0 {
        product *= x;
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    (x - 0.5) * x.ln() - x
        + 0.5 * (2.0 * std::f64::consts::PI).ln()
        + (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse / 1_260.0)) / x
        - product.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_functions_at_known_points() {
        let euler = 0.577_215_664_901_533;
        assert!((psi(1.0).0 + euler).abs() < 1e-9);
        assert!((psi(1.0).1 - std::f64::consts::PI.powi(2) / 6.0).abs() < 1e-7);
        assert!((psi(0.5).0 + euler + 2.0 * std::f64::consts::LN_2).abs() < 1e-9);
        assert!(ln_gamma(1.0).abs() < 1e-9 && ln_gamma(2.0).abs() < 1e-9);
        assert!((ln_gamma(5.0) - 24f64.ln()).abs() < 1e-9);
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-9);
    }

    #[test]
    fn each_family_reaches_the_entropy_of_its_own_samples() {
        // Samples at the quantiles of a distribution: the likelihood per sample is minus its
        // entropy. Exponential with mean 3: 1 + ln 3. Weibull with shape 2 and scale 1: 1 + γ/2 −
        // ln 2.
        let n = 20_000;
        let at = |quantile: &dyn Fn(f64) -> f64| Shape {
            points: (0..n).map(|k| (quantile((f64::from(k) + 0.5) / f64::from(n)), 1.0)).collect(),
            n: f64::from(n),
        };
        let exponential = best(&at(&|q| -3.0 * (1.0 - q).ln()));
        assert!((exponential + 1.0 + 3f64.ln()).abs() < 1e-3, "{exponential}");
        let weibull = best(&at(&|q| (-(1.0 - q).ln()).sqrt()));
        let entropy = 1.0 + 0.577_215_664_9 / 2.0 - std::f64::consts::LN_2;
        assert!((weibull + entropy).abs() < 1e-3, "{weibull} {entropy}");
    }
}
