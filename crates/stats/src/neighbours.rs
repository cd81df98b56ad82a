//! Adjusts a measurement for the state of the machine at its moment, estimated from its neighbours in time.
//!
//! Many series are measured in turns, in random order, on a machine whose state changes. A disturbance that
//! raised the values before and after a value probably raised that value too, and is no property of its
//! series. This is the nearest-neighbour adjustment of field trials, with the machine in place of the soil:
//! J. S. Papadakis, "Méthode statistique pour des expériences sur champ", Bulletin de l'Institut
//! d'Amélioration des Plantes à Salonique 23 (1937); M. S. Bartlett, "Nearest neighbour models in the
//! analysis of field experiments", JRSS B 40 (1978).
//!
//! The covariate of a value is the weighted mean deviation of up to four neighbours on either side, each from
//! the median of its own series. One slope for all values is the part that carries over. The order is random,
//! so no series has better neighbours except by chance, and the adjustment removes that chance. So it favours
//! no series; for unrelated neighbours the slope is about 0. Values of the same series are no neighbours, so
//! that effects of a series on itself remain.

use std::collections::BTreeMap;

use crate::summary::median;

/// Caps deviations: an even higher value tells no more about its neighbours.
const DEVIATION_MAX: f64 = 0.5;
/// Weights of the neighbours on either side, from the nearest: each is 0.7 times the previous one. For a
/// state that lasts 3 to 20 places they remove nearly as much as the true covariance model, and they do no
/// harm if it lasts longer (`--example evidence -- neighbours`). Papadakis uses one neighbour on either side.
/// Literal values, because powers may differ in the last digit between builds.
const WEIGHTS: [f64; 4] = [0.7, 0.49, 0.343, 0.2401];

/// Smaller differences between covariates are rounding: logarithms are below 50, with 15 digits.
const COVARIATE_DIFFERENCE_MIN: f64 = 1e-12;

/// One value at its place in time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// Which series it belongs to.
    pub series: usize,
    /// Its logarithm.
    pub log: f64,
}

/// The part of each logarithm that its neighbours explain, to be subtracted. `None` or a non-finite value
/// marks a place without a valid value, which is no neighbour either. The parts average 0.
#[must_use]
pub fn explained(values: &[Option<Moment>]) -> Vec<f64> {
    let values: Vec<Option<Moment>> =
        values.iter().map(|value| value.filter(|moment| moment.log.is_finite())).collect();
    let deviations = deviations(&values);
    let mut covariates: Vec<f64> =
        (0..values.len()).map(|place| covariate(place, &values, &deviations)).collect();
    centre(&mut covariates, |place| values[place].is_some());
    let slope = slope(&values, &deviations, &covariates);
    covariates.iter().map(|covariate| slope * covariate).collect()
}

/// The deviation of each value from the median of its series.
fn deviations(values: &[Option<Moment>]) -> Vec<f64> {
    let mut series: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for moment in values.iter().flatten() {
        series.entry(moment.series).or_default().push(moment.log);
    }
    let middles: BTreeMap<usize, f64> =
        series.iter().filter_map(|(number, logs)| Some((*number, median(logs).ok()?))).collect();
    let of = |moment: &Moment| moment.log - middles.get(&moment.series).copied().unwrap_or(moment.log);
    let bounded = |value: &Option<Moment>| {
        value.as_ref().map_or(0.0, |moment| of(moment).clamp(-DEVIATION_MAX, DEVIATION_MAX))
    };
    values.iter().map(bounded).collect()
}

/// The weighted mean deviation of the neighbours that belong to other series.
fn covariate(place: usize, values: &[Option<Moment>], deviations: &[f64]) -> f64 {
    let Some(own) = values[place] else { return 0.0 };
    let is_other = |at: &usize| values.get(*at).copied().flatten().is_some_and(|it| it.series != own.series);
    let (mut sum, mut weights) = (0.0, 0.0);
    for (nearer, weight) in WEIGHTS.iter().enumerate() {
        let beside = [place.checked_sub(nearer + 1), Some(place + nearer + 1)];
        for other in beside.into_iter().flatten().filter(is_other) {
            (sum, weights) = (sum + weight * deviations[other], weights + weight);
        }
    }
    if weights > 0.0 { sum / weights } else { 0.0 }
}

/// Subtracts the mean of the counted values.
fn centre(values: &mut [f64], counts: impl Fn(usize) -> bool) {
    let counted = (0..values.len()).filter(|place| counts(*place));
    let (sum, count) = counted.fold((0.0, 0_usize), |(sum, count), place| (sum + values[place], count + 1));
    for place in (0..values.len()).filter(|place| counts(*place)) {
        values[place] -= sum / count as f64;
    }
}

/// Least squares within series, independent of their levels. The slope is limited to 0 to 1.
fn slope(values: &[Option<Moment>], deviations: &[f64], covariates: &[f64]) -> f64 {
    let mut places: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (place, moment) in values.iter().enumerate().filter_map(|(place, value)| Some((place, (*value)?))) {
        places.entry(moment.series).or_default().push(place);
    }
    let (mut product, mut square) = (0.0, 0.0);
    for places in places.values() {
        let mean = |of: &[f64]| places.iter().map(|place| of[*place]).sum::<f64>() / places.len() as f64;
        let (x, y) = (mean(covariates), mean(deviations));
        for place in places {
            product += (covariates[*place] - x) * (deviations[*place] - y);
            square += (covariates[*place] - x).powi(2);
        }
    }
    // Covariates that are equal except for rounding have no slope.
    let least = values.len() as f64 * COVARIATE_DIFFERENCE_MIN.powi(2);
    if square > least { (product / square).clamp(0.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng, seq::SliceRandom};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// An approximately standard normal value.
    fn normal(random: &mut ChaCha8Rng) -> f64 {
        (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
    }

    /// 12 series in 24 random rounds, on a machine with this correlation of its state between places.
    fn block(correlation: f64, random: &mut ChaCha8Rng) -> Vec<Option<Moment>> {
        let (mut state, mut values) = (normal(random), Vec::new());
        for _ in 0..24 {
            let mut order: Vec<usize> = (0..12).collect();
            order.shuffle(random);
            for series in order {
                state = correlation * state + (1.0 - correlation * correlation).sqrt() * normal(random);
                let log = series as f64 + 0.12 * state + 0.06 * normal(random);
                values.push(Some(Moment { series, log }));
            }
        }
        values
    }

    /// The mean of a series minus its true value: as measured, and adjusted.
    fn errors(values: &[Option<Moment>], series: usize) -> [f64; 2] {
        let parts = explained(values);
        let of = |adjusted: bool| {
            let own = values.iter().zip(&parts).filter_map(|(value, part)| Some((value.as_ref()?, part)));
            let own = own.filter(|(moment, _)| moment.series == series);
            let logs: Vec<f64> =
                own.map(|(moment, part)| moment.log - if adjusted { *part } else { 0.0 }).collect();
            logs.iter().sum::<f64>() / logs.len() as f64 - series as f64
        };
        [of(false), of(true)]
    }

    /// Differences of two series over 400 blocks: mean and standard deviation, as measured and adjusted.
    fn differences(correlation: f64) -> [(f64, f64); 2] {
        let mut random = ChaCha8Rng::seed_from_u64(11);
        let blocks: Vec<[f64; 2]> = (0..400)
            .map(|_| {
                let values = block(correlation, &mut random);
                let ([one, one_adjusted], [other, other_adjusted]) = (errors(&values, 3), errors(&values, 7));
                [one - other, one_adjusted - other_adjusted]
            })
            .collect();
        [0, 1].map(|which| {
            let mean = blocks.iter().map(|block| block[which]).sum::<f64>() / 400.0;
            let squares = blocks.iter().map(|block| (block[which] - mean).powi(2)).sum::<f64>();
            (mean, (squares / 399.0).sqrt())
        })
    }

    #[test]
    fn a_state_that_lasts_for_several_places_is_taken_out_and_no_series_gains() {
        let [(_, before), (mean, after)] = differences(0.8);
        assert!((0.75..0.86).contains(&(after / before)), "{after} of {before}");
        assert!(mean.abs() < 3.0 * after / 20.0, "{mean}, {after}");
    }

    #[test]
    fn without_a_common_state_almost_nothing_changes() {
        let [(_, before), (mean, after)] = differences(0.0);
        assert!((after / before - 1.0).abs() < 0.02, "{after} of {before}");
        assert!(mean.abs() < 3.0 * after / 20.0);
    }

    #[test]
    fn gaps_and_values_without_a_logarithm_are_no_neighbours() {
        let moment = |series, log| Some(Moment { series, log });
        let values = [moment(0, 1.0), moment(1, f64::NAN), None, moment(0, 1.2), moment(1, 2.0)];
        let parts = explained(&values);
        assert_eq!(parts.len(), 5);
        assert!(parts.iter().all(|part| part.is_finite()), "{parts:?}");
        assert_eq!((parts[1], parts[2]), (0.0, 0.0));
        assert_eq!(explained(&[]), Vec::<f64>::new());
        assert_eq!(
            explained(&[moment(0, 1.0), moment(0, 2.0)]),
            [0.0, 0.0],
            "a series is not its own neighbour"
        );
    }

    /// Series 2 has one other neighbour, at its own median: all covariates are 0 except for rounding.
    #[test]
    fn rounding_has_no_slope() {
        let logs = [(2, 0.7685517271577583), (2, 0.7163893043853438), (0, 0.0), (2, 0.0)];
        let with = |shift: f64| -> Vec<Option<Moment>> {
            let log = |series: usize, log: f64| log + if series == 2 { shift } else { 0.0 };
            logs.iter()
                .map(|(series, own)| Some(Moment { series: *series, log: log(*series, *own) }))
                .collect()
        };
        for shift in [0.0, 2.353875266960054, -1.0, 0.1] {
            assert_eq!(explained(&with(shift)), [0.0; 4], "{shift}");
        }
    }

    proptest::proptest! {
        /// The level of a series changes no part, and the parts add up to 0.
        #[test]
        fn levels_do_not_matter(logs in proptest::collection::vec((0_usize..4, -1.0..1.0_f64), 2..60), shift in -3.0..3.0_f64) {
            let with = |shift: f64| -> Vec<Option<Moment>> {
                logs.iter()
                    .map(|(series, log)| {
                        Some(Moment { series: *series, log: log + if *series == 2 { shift } else { 0.0 } })
                    })
                    .collect()
            };
            let (parts, moved) = (explained(&with(0.0)), explained(&with(shift)));
            for (one, other) in parts.iter().zip(&moved) {
                proptest::prop_assert!((one - other).abs() < 1e-9);
            }
            proptest::prop_assert!(parts.iter().sum::<f64>().abs() < 1e-9);
            proptest::prop_assert!(parts.iter().all(|part| part.abs() <= 2.0 * DEVIATION_MAX));
        }
    }
}
