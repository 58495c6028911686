//! Quantiles of the normal distribution and of Student's t.

use std::f64::consts::FRAC_PI_2;

/// The value that a standard normal variable stays below with this probability, by Acklam's
/// rational approximation (relative error below 1.2e-9). Infinite at 0 and 1.
pub fn normal_quantile(probability: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969_683_028_665_376e1,
        2.209_460_984_245_205e2,
        -2.759_285_104_469_687e2,
        1.383_577_518_672_69e2,
        -3.066_479_806_614_716e1,
        2.506_628_277_459_239,
    ];
    const B: [f64; 5] = [
        -5.447_609_879_822_406e1,
        1.615_858_368_580_409e2,
        -1.556_989_798_598_866e2,
        6.680_131_188_771_972e1,
        -1.328_068_155_288_572e1,
    ];
    const C: [f64; 6] = [
        -7.784_894_002_430_293e-3,
        -3.223_964_580_411_365e-1,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 4] = [
        7.784_695_709_041_462e-3,
        3.224_671_290_700_398e-1,
        2.445_134_137_142_996,
        3.754_408_661_907_416,
    ];
    const TAIL: f64 = 0.024_25;
    let polynomial = |of: &[f64], x: f64| of.iter().fold(0.0, |sum, term| sum * x + term);
    let tail = |probability: f64| {
        let x = (-2.0 * probability.ln()).sqrt();
        polynomial(&C, x) / (polynomial(&D, x) * x + 1.0)
    };
    if probability <= 0.0 {
        f64::NEG_INFINITY
    } else if probability >= 1.0 {
        f64::INFINITY
    } else if probability < TAIL {
        tail(probability)
    } else if probability > 1.0 - TAIL {
        -tail(1.0 - probability)
    } else {
        let x = probability - 0.5;
        let square = x * x;
        polynomial(&A, square) * x / (polynomial(&B, square) * square + 1.0)
    }
}

/// The value that the magnitude of Student's t exceeds with probability `both_tails`, for so many
/// degrees of freedom (at least 1): Hill, Communications of the ACM 13 (1970), algorithm 396.
pub fn t_quantile(both_tails: f64, degrees: f64) -> f64 {
    let (n, tails) = (degrees.max(1.0), both_tails.clamp(1e-300, 1.0));
    if n < 2.0 {
        let angle = tails * FRAC_PI_2;
        return angle.cos() / angle.sin();
    }
    let a = 1.0 / (n - 0.5);
    let b = 48.0 / (a * a);
    let mut c = ((20_700.0 * a / b - 98.0) * a - 16.0) * a + 96.36;
    let d = ((94.5 / (b + c) - 3.0) / b + 1.0) * (a * FRAC_PI_2).sqrt() * n;
    let mut y = (d * tails).powf(2.0 / n);
    if y > 0.05 + a {
        let x = normal_quantile(tails / 2.0);
        y = x * x;
        if n < 5.0 {
            c += 0.3 * (n - 4.5) * (x + 0.6);
        }
        c += (((0.05 * d * x - 5.0) * x - 7.0) * x - 2.0) * x + b;
        y = (((((0.4 * y + 6.3) * y + 36.0) * y + 94.5) / c - y - 3.0) / b + 1.0) * x;
        y = (a * y * y).exp_m1();
    } else {
        let first = 1.0 / (((n + 6.0) / (n * y) - 0.089 * d - 0.822) * (n + 2.0) * 3.0);
        y = (first + 0.5 / (n + 4.0)) * y - 1.0;
        y = y * (n + 1.0) / (n + 2.0) + 1.0 / (d * tails).powf(2.0 / n);
    }
    (n * y).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_distribution_at_known_points() {
        for (probability, expected) in
            [(0.5, 0.0), (0.975, 1.959_964), (0.995, 2.575_829), (0.001, -3.090_232)]
        {
            assert!((normal_quantile(probability) - expected).abs() < 1e-6, "{probability}");
        }
    }

    #[test]
    fn student_t_at_points_of_the_printed_tables() {
        for (tails, degrees, expected) in [
            (0.05, 1.0, 12.706),
            (0.05, 2.0, 4.303),
            (0.05, 4.0, 2.776),
            (0.05, 9.0, 2.262),
            (0.05, 30.0, 2.042),
            (0.01, 5.0, 4.032),
            (0.01, 30.0, 2.750),
            (0.001, 9.0, 4.781),
            (0.001, 20.0, 3.850),
            (0.001, 60.0, 3.460),
            (0.001, 3.0, 12.924),
        ] {
            let value = t_quantile(tails, degrees);
            assert!((value / expected - 1.0).abs() < 1e-3, "{tails} {degrees}: {value}");
        }
    }
}
