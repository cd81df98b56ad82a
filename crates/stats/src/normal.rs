//! The cumulative normal distribution, which Rust's standard library lacks.

/// P(Z <= z) of the standard normal distribution, in double precision.
///
/// Source: J. F. Hart, Computer Approximations (Wiley 1968), algorithm 5666, in the form of G. West, "Better
/// approximations to cumulative normal functions", Wilmott Magazine (May 2005).
pub(crate) fn cdf(z: f64) -> f64 {
    let tail = upper_tail(z.abs());
    if z > 0.0 { 1.0 - tail } else { tail }
}

/// P(|Z| >= z), the two-sided tail. Not derived from [`cdf`], because `1 - cdf` loses all digits in the tail.
pub(crate) fn two_sided(z: f64) -> f64 {
    (2.0 * upper_tail(z.abs())).min(1.0)
}

/// P(Z >= z) for z >= 0.
fn upper_tail(z: f64) -> f64 {
    const NUMERATOR: [f64; 7] = [
        3.526_249_659_989_11e-2,
        0.700_383_064_443_688,
        6.373_962_203_531_65,
        33.912_866_078_383,
        112.079_291_497_871,
        221.213_596_169_931,
        220.206_867_912_376,
    ];
    const DENOMINATOR: [f64; 8] = [
        8.838_834_764_831_84e-2,
        1.755_667_163_182_64,
        16.064_177_579_207,
        86.780_732_202_946_1,
        296.564_248_779_674,
        637.333_633_378_831,
        793.826_512_519_948,
        440.413_735_824_752,
    ];
    let bell = (-z * z / 2.0).exp();
    if z < 50.0_f64.sqrt() {
        let horner = |terms: &[f64]| terms.iter().fold(0.0, |sum, term| sum * z + term);
        bell * horner(&NUMERATOR) / horner(&DENOMINATOR)
    } else {
        let fraction = z + 1.0 / (z + 2.0 / (z + 3.0 / (z + 4.0 / (z + 0.65))));
        bell / fraction / (2.0 * std::f64::consts::PI).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy 1.17.1: `scipy.stats.norm.cdf(z)`.
    const SCIPY: [(f64, f64); 8] = [
        (-8.0, 6.22096057427174e-16),
        (-3.95, 3.9075596597787456e-05),
        (-1.96, 0.024997895148220435),
        (-0.5, 0.3085375387259869),
        (0.0, 0.5),
        (0.3, 0.6179114221889526),
        (2.04, 0.9793248371339299),
        (6.0, 0.9999999990134123),
    ];

    #[test]
    fn agrees_with_scipy() {
        for (z, expected) in SCIPY {
            assert!((cdf(z) - expected).abs() <= 1e-8 * expected.min(1e-6), "z = {z}: {} {expected}", cdf(z));
        }
    }

    #[test]
    fn two_sided_is_twice_the_tail_and_never_above_one() {
        assert!((two_sided(1.96) - 2.0 * cdf(-1.96)).abs() < 1e-15);
        assert!(two_sided(0.0) <= 1.0);
        assert_eq!(two_sided(-3.0).to_bits(), two_sided(3.0).to_bits());
    }
}
