//! Looking whenever one likes: a bet against "the centre is 0" that cannot grow, on average, where that is true.
//!
//! For runs without a planned end. Where the test of [`crate::sequential`] knows when it will be looked at, here
//! the value may be read after every block and the run ended at any: the probability that it ever reaches 1/alpha is at
//! most alpha (J. Ville, Étude critique de la notion de collectif, 1939). The price is width: see [`watch`].
//!
//! # The bet
//! A gambler starts with 1 and bets on the sign of each difference x, having seen its size |x| and all before it. If x is
//! symmetric about 0 given the past, the sign is a fair coin even so, and no scheme of bets has a gain to be expected
//! (A. Ramdas, J. Ruf, M. Larsson and W. Koolen, "Admissible anytime-valid sequential inference must rely on nonnegative
//! martingales", 2020; S. R. Howard, A. Ramdas, J. McAuliffe and J. Sekhon, "Time-uniform, nonparametric, nonasymptotic
//! confidence sequences", Annals of Statistics 49 (2021)). This one stakes tanh(k artanh u) of what it has, where u =
//! r/(i + 1) and r is the rank of |x| among the i sizes so far: the greater a difference, the likelier its sign is that
//! of the centre. With k = 1 the stake is Wilcoxon's rank score itself. The k that fits depends on how large the effect
//! is, so a fifth of the money plays with each of [`STRENGTHS`]. Ranks make it free of scale, and deaf to one wild block.
//!
//! Half of the money bets that the centre lies above, half below. Against a centre of c rather than 0 each stake is a
//! falling function of c, so what is ruled out on either side is a half-line, and the interval between is exact: no grid.

use crate::error::{EstimateError, check_level, check_sample};
use crate::signed_rank::{self, Estimate, Interval, Method};
use crate::warning;

/// How eagerly the five parts of the money bet: from effects of a fifth of the spread to those above it.
pub(crate) const STRENGTHS: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];

/// What a run of any length has shown so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Watch {
    /// The evidence against a centre of 0 now. 1 or less is none; a value of v is reached with a probability of at most 1/v
    /// where the centre is 0. May be infinite after hundreds of blocks that agree.
    pub value: f64,
    /// Number of blocks after which it first was at least 1/alpha: there is a difference, whatever comes later.
    pub separated_at: Option<usize>,
    /// The estimate from all blocks, with the interval of the centres that are not ruled out now: `None` until something is
    /// ruled out on both sides. The sides may come blocks apart, for ranks depend on the order in which sizes came: so
    /// `value` can have reached 1/alpha (the centre is above 0) while it is not known yet how far above.
    pub estimate: Estimate,
}

/// Reads a run of `diffs`, in the order in which they were measured, at an error probability of `alpha`.
///
/// May be asked after every block. The interval holds whenever one stops; it is about 1.6 times as wide as that of
/// [`signed_rank::interval`], which holds for one look only (1.8 times at 10 blocks). Five blocks cannot reach a value of
/// 20; seven or eight that all lie on one side do.
///
/// Of 4000 simulated runs of 200 blocks without a difference, looked at after each block, 3.4 to 3.8% ever reached 20
/// (normal, t3, 10% of blocks with ten times the spread, two layouts per process). A shift of 1 standard deviation was
/// found after 13 blocks (median; [`crate::sequential::Looks::standard`]: 15), of 0.5 after 36 (30), of 0.3 after 82, where
/// the planned looks find it in 44% of runs only. Takes time in proportion to n^2 log n.
///
/// Assumes that each difference is symmetric about the centre given those before it. Independent blocks are; drifting or
/// autocorrelated ones are not: with a correlation of 0.05, 0.1, 0.2 between neighbours false alarms are 4.7, 6.4 and 11.5%.
///
/// # Errors
/// An empty sample, a value that is not finite, an alpha that is not between 0 and 1.
pub fn watch(diffs: &[f64], alpha: f64) -> Result<Watch, EstimateError> {
    check_sample(diffs)?;
    check_level(alpha)?;
    let values = path(diffs);
    Ok(Watch {
        value: values.last().copied().unwrap_or(1.0),
        separated_at: reached(&values, alpha),
        estimate: Estimate {
            point: signed_rank::hodges_lehmann(diffs),
            interval: interval(diffs, alpha),
            n: diffs.len(),
            warnings: warning::inspect(diffs),
        },
    })
}

/// Number of blocks after which the evidence against a centre of 0 first was at least 1/`alpha`: [`watch`] without the
/// figures to show.
///
/// # Errors
/// Those of [`watch`].
pub fn separated_at(diffs: &[f64], alpha: f64) -> Result<Option<usize>, EstimateError> {
    check_sample(diffs)?;
    check_level(alpha)?;
    Ok(reached(&path(diffs), alpha))
}

fn reached(values: &[f64], alpha: f64) -> Option<usize> {
    values.iter().position(|&value| value >= 1.0 / alpha).map(|index| index + 1)
}

/// The evidence against a centre of 0 after each block: half of what the better of the two sides holds. (All the money
/// would be a little more; but then what is ruled out would not be two half-lines.) Expects finite values.
fn path(diffs: &[f64]) -> Vec<f64> {
    let bets = stakes(diffs, 0.0);
    let above = wealth(bets.iter().copied());
    let below = wealth(bets.iter().map(|bet| -bet));
    above.iter().zip(&below).map(|(above, below)| above.max(*below) / 2.0).collect()
}

/// sign(x - centre) r/(i + 1) for each x, where r is the rank of |x - centre| among the i so far.
fn stakes(diffs: &[f64], centre: f64) -> Vec<f64> {
    let offsets: Vec<f64> = diffs.iter().map(|diff| diff - centre).collect();
    let stake = |(index, offset): (usize, &f64)| {
        let so_far = &offsets[..=index];
        let rank = so_far.iter().filter(|other| other.abs() <= offset.abs()).count();
        let sign = if *offset == 0.0 { 0.0 } else { offset.signum() };
        sign * rank as f64 / (so_far.len() + 1) as f64
    };
    offsets.iter().enumerate().map(stake).collect()
}

/// What a bet on positive signs holds after each block.
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

/// The centres that neither side has ruled out. Both wealths change at Walsh averages only, where signs turn or ranks
/// swap, and each rises or falls throughout: so the ends are found among the averages by bisection.
fn interval(diffs: &[f64], alpha: f64) -> Option<Interval> {
    let averages = signed_rank::walsh_averages(diffs);
    let enough = 2.0 / alpha;
    let last = |stakes: &mut dyn Iterator<Item = f64>| wealth(stakes).last().copied().unwrap_or(1.0);
    let above = |centre: f64| last(&mut stakes(diffs, centre).into_iter()) >= enough;
    let below = |centre: f64| last(&mut stakes(diffs, centre).into_iter().map(|stake| -stake)) >= enough;
    // Gap g lies below average g; the outermost gaps reach to infinity, where the bets no longer change.
    let inside = |gap: usize| match gap {
        0 => averages[0] - 1.0,
        gap if gap == averages.len() => averages[gap - 1] + 1.0,
        gap => f64::midpoint(averages[gap - 1], averages[gap]),
    };
    let low = first(averages.len() + 1, |gap| !above(inside(gap)));
    let high = first(averages.len() + 1, |gap| below(inside(gap)));
    // `low` gaps are ruled out from the left, and all from gap `high` on from the right.
    let (low, high) = (low.checked_sub(1)?, high);
    (high < averages.len() + 1).then(|| Interval {
        low: averages[low],
        high: averages[high - 1],
        attained: 1.0 - alpha,
        method: Method::EProcess,
    })
}

/// The least index below `count` at which `holds` does, which holds from there on; `count` where it nowhere does.
fn first(count: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut from, mut to) = (0, count);
    while from < to {
        let middle = usize::midpoint(from, to);
        if holds(middle) { to = middle } else { from = middle + 1 }
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bet_with_known_gains() {
        // The first difference has rank 1 of 1, so u = 1/2; the second, smaller, 1/3; the third, greatest, 3/4.
        assert_eq!(stakes(&[2.0, -1.0, 5.0], 0.0), [0.5, -1.0 / 3.0, 0.75]);
        assert_eq!(stakes(&[0.0, 0.0], 0.0), [0.0, 0.0]);
        // Where the strength is 1 the stake is u itself.
        let gain = |strength: f64, u: f64| 1.0 + (strength * u.atanh()).tanh();
        let expected = STRENGTHS.map(|k| gain(k, 0.5) * gain(k, -1.0 / 3.0)).iter().sum::<f64>() / 5.0;
        assert!((wealth([0.5, -1.0 / 3.0].into_iter())[1] - expected).abs() < 1e-12);
        assert!((gain(1.0, 0.5) - 1.5).abs() < 1e-12);
    }

    /// A martingale, exactly: over all assignments of signs the mean of each side's wealth is 1, whatever the sizes.
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
        let sum: f64 = (0..all).map(|signs| wealth(stakes(&flipped(signs), 0.0).into_iter())[7]).sum();
        assert!((sum / all as f64 - 1.0).abs() < 1e-12, "{sum}");
    }

    #[test]
    fn blocks_that_agree_convince_in_the_end() {
        let rising: Vec<f64> = (1..=12).map(|i| 1.0 + f64::from(i * 7 % 13) / 100.0).collect();
        let found = watch(&rising, 0.05).unwrap();
        assert_eq!(found.separated_at, Some(7), "{:?}", path(&rising));
        assert!(found.estimate.interval.unwrap().low > 1.0 - 1e-12);
        // Sizes that rise have the greatest ranks there are, so no five blocks can say more than these.
        assert_eq!(separated_at(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.05), Ok(None));
        assert_eq!(watch(&rising[..5], 0.05).unwrap().estimate.interval, None);
    }

    #[test]
    fn the_interval_is_what_the_bet_has_not_ruled_out() {
        let wave: Vec<f64> = (0..25).map(|i| f64::from(i * 37 % 61) / 10.0).collect();
        let found = watch(&wave, 0.05).unwrap().estimate.interval.unwrap();
        let value = |centre: f64| {
            let moved: Vec<f64> = wave.iter().map(|x| x - centre).collect();
            watch(&moved, 0.05).unwrap().value
        };
        assert!(value(found.low + 1e-9) < 20.0 && value(found.high - 1e-9) < 20.0);
        assert!(value(found.low - 1e-9) >= 20.0 && value(found.high + 1e-9) >= 20.0);
    }

    #[test]
    fn one_side_can_be_ruled_out_before_the_other() {
        // Seen from 0 these sizes grow, and each bet is the highest; seen from above they shrink, and so do the bets.
        let growing = [0.96, 0.75, 1.19, 1.35, 1.6, 2.99, 2.76];
        let found = watch(&growing, 0.05).unwrap();
        assert!(found.value >= 20.0 && found.estimate.interval.is_none(), "{found:?}");
    }

    #[test]
    fn no_difference_is_no_evidence() {
        let found = watch(&[0.0; 30], 0.05).unwrap();
        assert_eq!((found.value, found.separated_at), (0.5, None));
        assert_eq!(watch(&[], 0.05), Err(EstimateError::Empty));
        assert_eq!(watch(&[1.0], 0.0), Err(EstimateError::Level { value: 0.0 }));
        assert!(watch(&[1.0; 2000][..400], 0.05).unwrap().value > 1e30);
    }
}
