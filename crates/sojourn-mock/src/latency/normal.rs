//! The quantile function of the normal distribution.

/// The number that a standard normal variable stays below with probability `p`, in (0, 1); at the
/// ends plus or minus infinity.
///
/// M. J. Wichura, "Algorithm AS 241: the percentage points of the normal distribution", Applied
/// Statistics 37 (1988): rational approximations with a relative error of about 1e-16.
pub(super) fn quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        return q * ratio(&CENTRE, r);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    if tail <= 0.0 {
        return q.signum() * f64::INFINITY;
    }
    let r = (-tail.ln()).sqrt();
    let value = if r <= 5.0 { ratio(&NEAR, r - 1.6) } else { ratio(&FAR, r - 5.0) };
    q.signum() * value
}

/// Coefficients of a numerator and a denominator, lowest power first.
type Ratio = ([f64; 8], [f64; 8]);

fn ratio((above, below): &Ratio, x: f64) -> f64 {
    let polynomial = |coefficients: &[f64; 8]| {
        coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
    };
    polynomial(above) / polynomial(below)
}

const CENTRE: Ratio = (
    [
        3.387_132_872_796_366_5,
        133.141_667_891_784_38,
        1_971.590_950_306_551_3,
        13_731.693_765_509_46,
        45_921.953_931_549_87,
        67_265.770_927_008_7,
        33_430.575_583_588_13,
        2_509.080_928_730_122_7,
    ],
    [
        1.0,
        42.313_330_701_600_91,
        687.187_007_492_057_9,
        5_394.196_021_424_751,
        21_213.794_301_586_597,
        39_307.895_800_092_71,
        28_729.085_735_721_943,
        5_226.495_278_852_545,
    ],
);

const NEAR: Ratio = (
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        0.241_780_725_177_450_6,
        0.022_723_844_989_269_184,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        0.689_767_334_985_1,
        0.148_103_976_427_480_08,
        0.015_198_666_563_616_457,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
);

const FAR: Ratio = (
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        0.296_560_571_828_504_87,
        0.026_532_189_526_576_124,
        0.001_242_660_947_388_078_4,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        0.599_832_206_555_887_9,
        0.136_929_880_922_735_8,
        0.014_875_361_290_850_615,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_7e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
);

#[cfg(test)]
mod tests {
    use super::quantile;

    /// P(X ≤ x), by the series of the integral (converges for every x; terms fall below rounding).
    fn below(x: f64) -> f64 {
        let (mut term, mut sum, mut n) = (x, x, 1.0);
        while term.abs() > 1e-18 {
            n += 2.0;
            term *= x * x / n;
            sum += term;
        }
        0.5 + sum * (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
    }

    #[test]
    fn it_inverts_the_distribution_function() {
        for step in -60..=60 {
            let x = f64::from(step) / 10.0;
            let p = below(x);
            if p > 1e-9 && p < 1.0 - 1e-9 {
                // One rounding of p is that much of x where the density is low.
                let density = (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
                let allowed = 1e-13 + 1e-15 / density;
                assert!((quantile(p) - x).abs() < allowed, "{x}: {}", quantile(p));
            }
        }
    }

    #[test]
    fn published_percentage_points() {
        // A&S table 26.5 and the values that Wichura gives for testing.
        for (p, x) in [
            (0.25, -0.674_489_750_196_081_7),
            (0.001, -3.090_232_306_167_813_5),
            (1e-20, -9.262_340_089_798_407),
            (0.99, 2.326_347_874_040_841),
        ] {
            assert!((quantile(p) - x).abs() < 1e-12 * x.abs().max(1.0), "{p}: {}", quantile(p));
        }
        assert_eq!(quantile(0.5), 0.0);
        assert_eq!((quantile(0.0), quantile(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
    }
}
