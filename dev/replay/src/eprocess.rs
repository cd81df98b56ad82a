//! Evidence that may be checked at any time: a bet against "the centre is 0" whose expected wealth does not
//! grow if that is true.
//!
//! It is compared with the planned looks of [`tare_stats::sequential`], which are fixed in advance. Here the
//! value may be read after every block, and the run ended at any. The probability that it ever reaches
//! 1/alpha is at most alpha (J. Ville, Étude critique de la notion de collectif, 1939), if each difference is
//! symmetric about the centre given the earlier ones. Independent blocks satisfy this; drifting or
//! autocorrelated ones do not.
//!
//! # The bet
//! A gambler starts with 1 and bets on the sign of each difference x. The size |x| and everything before it
//! are known. If x is symmetric about 0 given the past, the sign is still a fair coin, and no scheme of bets
//! has an expected gain (A. Ramdas, J. Ruf, M. Larsson and W. Koolen, "Admissible anytime-valid sequential
//! inference must rely on nonnegative martingales", 2020; S. R. Howard, A. Ramdas, J. McAuliffe and J.
//! Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences", Annals of Statistics 49
//! (2021)). The stake is the fraction tanh(k artanh u), where u = r/(i + 1) and r is the rank of |x| among
//! the i sizes so far: a large difference has more likely the sign of the centre. With k = 1 the stake is
//! Wilcoxon's rank score. The best k depends on the size of the effect, so each of [`STRENGTHS`] gets a fifth
//! of the money. Ranks make the bet independent of scale and robust to one extreme block. Half of the money
//! bets that the centre lies above, half below.

/// The boldness of the five parts of the money: from effects of a fifth of the spread to larger ones.
const STRENGTHS: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];

/// The number of blocks after which the evidence against a centre of 0 first reached 1/`alpha`. The
/// differences must be finite and in the order of measurement. Takes time proportional to n^2.
pub(crate) fn separated_at(diffs: &[f64], alpha: f64) -> Option<usize> {
    path(diffs).iter().position(|&value| value >= 1.0 / alpha).map(|index| index + 1)
}

/// The evidence against a centre of 0 after each block: half of the wealth of the better side.
fn path(diffs: &[f64]) -> Vec<f64> {
    let bets = stakes(diffs);
    let above = wealth(bets.iter().copied());
    let below = wealth(bets.iter().map(|bet| -bet));
    above.iter().zip(&below).map(|(above, below)| above.max(*below) / 2.0).collect()
}

/// sign(x) r/(i + 1) for each x, where r is the rank of |x| among the i so far.
fn stakes(diffs: &[f64]) -> Vec<f64> {
    let stake = |(index, diff): (usize, &f64)| {
        let so_far = &diffs[..=index];
        let rank = so_far.iter().filter(|other| other.abs() <= diff.abs()).count();
        let sign = if *diff == 0.0 { 0.0 } else { diff.signum() };
        sign * rank as f64 / (so_far.len() + 1) as f64
    };
    diffs.iter().enumerate().map(stake).collect()
}

/// The wealth of a bet on positive signs after each block.
fn wealth(stakes: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut parts = [1.0 / STRENGTHS.len() as f64; STRENGTHS.len()];
    let step = |stake: f64| {
        for (part, strength) in parts.iter_mut().zip(STRENGTHS) {
            *part *= 1.0 + (strength * stake.atanh()).tanh();
        }
        parts.iter().sum()
    };
    stakes.map(step).collect()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::models::{INDEPENDENT, Model};

    fn value(diffs: &[f64]) -> f64 {
        *path(diffs).last().unwrap()
    }

    #[test]
    fn a_bet_with_known_gains() {
        // The first difference has rank 1 of 1, so u = 1/2; the smaller second 1/3; the largest third 3/4.
        assert_eq!(stakes(&[2.0, -1.0, 5.0]), [0.5, -1.0 / 3.0, 0.75]);
        assert_eq!(stakes(&[0.0, 0.0]), [0.0, 0.0]);
        // With strength 1 the stake is u itself.
        let gain = |strength: f64, u: f64| 1.0 + (strength * u.atanh()).tanh();
        let expected = STRENGTHS.map(|k| gain(k, 0.5) * gain(k, -1.0 / 3.0)).iter().sum::<f64>() / 5.0;
        assert!((wealth([0.5, -1.0 / 3.0].into_iter())[1] - expected).abs() < 1e-12);
        assert!((gain(1.0, 0.5) - 1.5).abs() < 1e-12);
    }

    /// An exact martingale: over all signs the mean wealth of each side is 1, whatever the sizes.
    #[test]
    fn the_mean_over_all_signs_is_one() {
        let sizes = [3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.0, 3.5];
        let all = 1 << sizes.len();
        let flipped = |signs: usize| -> Vec<f64> {
            sizes
                .iter()
                .enumerate()
                .map(|(i, size)| if signs >> i & 1 == 1 { -size } else { *size })
                .collect()
        };
        let sum: f64 = (0..all).map(|signs| wealth(stakes(&flipped(signs)).into_iter())[7]).sum();
        assert!((sum / all as f64 - 1.0).abs() < 1e-12, "{sum}");
    }

    /// ```python
    /// def side(x):
    ///     k = np.array([.25, .5, 1, 2, 4]); m = np.full(5, .2); out = []
    ///     for i in range(len(x)):
    ///         u = np.sign(x[i]) * stats.rankdata(np.abs(x[:i+1]), method='max')[i] / (i + 2)
    ///         m = m * (1 + np.tanh(k * np.arctanh(u))); out.append(m.sum())
    ///     return np.array(out)
    /// def value(x): return np.maximum(side(x), side(-x)) / 2
    /// ```
    #[test]
    fn it_agrees_with_numpy() {
        // The same values as in the golden tests of `tare-stats`.
        let ten =
            [-0.14571, -0.14502, -0.14992, -0.05354, -0.10281, -0.09359, -0.132, -0.15439, -0.1601, -0.14208];
        assert!((value(&ten) / 97.505_291_88 - 1.0).abs() < 1e-7, "{}", value(&ten));
        assert!((value(&ten[..5]) - 4.600_409_66).abs() < 1e-7, "{}", value(&ten[..5]));
    }

    #[test]
    fn blocks_that_agree_convince_in_the_end() {
        let rising: Vec<f64> = (1..=12).map(|i| 1.0 + f64::from(i * 7 % 13) / 100.0).collect();
        assert_eq!(separated_at(&rising, 0.05), Some(7), "{:?}", path(&rising));
        let falling: Vec<f64> = rising.iter().map(|value| -1000.0 * value).collect();
        assert_eq!(separated_at(&falling, 0.05), Some(7), "either side, at any scale");
        // Increasing sizes have the highest possible ranks, so no five blocks can give more evidence.
        assert_eq!(separated_at(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.05), None);
        assert!(value(&[1.0; 400]) > 1e30);
    }

    /// The drift of the fifth model is the most that a plain interval tolerates too.
    #[test]
    fn it_bears_being_watched_for_200_blocks() {
        const COUNT: usize = 300;
        for (name, model) in INDEPENDENT.into_iter().chain([("drift", Model::Drift(0.05))]) {
            let mut random = ChaCha8Rng::seed_from_u64(0x7a5e);
            let mut is_alarm = || separated_at(&model.blocks(200, &mut random), 0.05).is_some();
            let alarms = (0..COUNT).filter(|_| is_alarm()).count() as f64 / COUNT as f64;
            assert!(alarms <= 0.05, "{name}: {alarms}");
        }
    }

    #[test]
    fn no_difference_is_no_evidence() {
        assert_eq!((value(&[0.0; 30]), separated_at(&[0.0; 30], 0.05)), (0.5, None));
    }
}
