//! The order of several services, as far as blocks support it: separated pairs, and possible ranks.
//!
//! The input is one figure per service and block. All services share the blocks, so each pair is compared
//! directly within the block, not by way of a third service.
//!
//! # What is claimed
//! With a probability of at least 1 - alpha, every separated pair does differ: over all pairs together
//! (Holm), not per pair. The sets of ranks follow and hold simultaneously (M. Mogstad, J. Romano, A. Shaikh
//! and D. Wilhelm, "Inference for ranks with applications to mobility across neighbourhoods and academic
//! achievement across countries", Review of Economic Studies 91 (2024)).
//!
//! # What is not
//! Holm's proof does not cover the sign of a difference. A wrong sign needs two services that are almost
//! equal, and is then hardly more likely than a false separation.
//!
//! Services with overlapping sets of ranks are not necessarily equal or indistinguishable: see
//! [`Pair::separated`]. "Not separated" is not transitive, so no grouping of services can show it completely.

use crate::better::Better;
use crate::contrast::{Contrast, LEAST_STARTS, Prior};
use crate::error::{EstimateError, SeriesId, check_level};
use crate::sequential::Looks;
use crate::warning::Warning;
use crate::{holm, two_level};

/// Two services, `a` before `b` in the order given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// One service, by its index in the input.
    pub a: usize,
    /// The other service.
    pub b: usize,
    /// ln(a / b): the mean over starts, with a variance moderated by all pairs.
    pub contrast: Contrast,
    /// Unadjusted two-sided p-value.
    pub p: f64,
    /// The p-value adjusted for all pairs (Holm).
    pub p_adjusted: f64,
    /// Whether the two differ, adjusted for all pairs. The contrast shows which one is ahead.
    pub separated: bool,
}

/// The position of one service.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankPlace {
    /// The service, by its index in the input.
    pub service: usize,
    /// Log of its ratio to the geometric mean of all services. Places are sorted by it, the best first.
    pub log_score: f64,
    /// The best possible rank: 1 + the number of separated, better services.
    pub best: usize,
    /// The worst possible rank: the number of services that are not separated from it and worse.
    pub worst: usize,
}

/// The order of services, as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// All services, the best estimate first.
    pub places: Vec<RankPlace>,
    /// All pairs, in the order (0, 1), (0, 2), .., (1, 2), ..
    pub pairs: Vec<Pair>,
    /// Number of blocks.
    pub n: usize,
    /// Warnings about the whole ranking. Those about one service come with its estimate ([`crate::ratio`]).
    pub warnings: Vec<Warning>,
}

impl Ranking {
    /// The pair of two services, in either order.
    #[must_use]
    pub fn pair(&self, one: usize, other: usize) -> Option<&Pair> {
        let (a, b) = (one.min(other), one.max(other));
        self.pairs.iter().find(|pair| (pair.a, pair.b) == (a, b))
    }

    /// Keeps the separations of an earlier look.
    fn keep(&mut self, earlier: &Ranking, better: Better) {
        for (pair, before) in self.pairs.iter_mut().zip(&earlier.pairs) {
            pair.separated |= before.separated;
        }
        self.place_anew(better);
    }

    fn place_anew(&mut self, better: Better) {
        let order: Vec<usize> = self.places.iter().map(|place| place.service).collect();
        let mut scores = vec![0.0; order.len()];
        self.places.iter().for_each(|place| scores[place.service] = place.log_score);
        self.places = places(self, &order, &scores, better);
    }

    /// Whether two services differ.
    #[must_use]
    pub fn separated(&self, one: usize, other: usize) -> bool {
        self.pair(one, other).is_some_and(|pair| pair.separated)
    }
}

/// Ranks services by `values[service][block]`, positive figures of common blocks, at an error probability of
/// `alpha` over all pairs.
///
/// Each pair is tested by Student's t over its blocks, with a variance moderated by all pairs
/// ([`crate::contrast`]). This has power from four blocks on; rank tests have none before the twelfth.
///
/// While a run is in progress, call this at the looks only, with [`crate::sequential::Look::spent`] as alpha,
/// and keep earlier separations ([`rank_at_looks`]). The errors of Holm at the looks add up to at most alpha.
///
/// The percentage of runs that separate identical services with different noise levels (log-normal, sd 0.5):
///
/// | noise | services (runs) | 4 | 6 | 8 | 12 | at looks |
/// |---|--:|--:|--:|--:|--:|--:|
/// | normal | 3 (24000) | 5.0 | 4.6 | 4.6 | 4.4 | 3.0 |
/// | normal | 6 (6000) | 2.2 | 3.3 | 3.7 | 3.7 | 2.9 |
/// | normal | 12 (1500) | 1.1 | 2.5 | 3.5 | 3.4 | 1.9 |
/// | normal | 30 (240) | 0.0 | 2.5 | 2.5 | 4.2 | 1.2 |
/// | one-sided | 3 (24000) | 5.6 | 6.4 | 6.4 | 6.2 | 5.3 |
/// | one-sided | 6 (6000) | 2.8 | 4.3 | 4.9 | 5.2 | 4.3 |
/// | one-sided | 12 (1500) | 0.9 | 2.9 | 5.2 | 5.4 | 3.1 |
/// | one-sided | 30 (240) | 0.4 | 1.7 | 2.5 | 6.2 | 2.1 |
/// | blocks like their neighbours, 0.3 | 3 (24000) | 10.8 | 13.4 | 14.5 | 15.8 | 12.5 |
/// | blocks like their neighbours, 0.3 | 6 (6000) | 10.5 | 16.4 | 17.8 | 20.0 | 17.5 |
/// | blocks like their neighbours, 0.3 | 12 (1500) | 7.2 | 17.7 | 22.0 | 22.9 | 19.3 |
/// | blocks like their neighbours, 0.3 | 30 (240) | 3.8 | 13.3 | 21.7 | 29.6 | 23.8 |
///
/// One-sided noise of different levels is the hardest case: the difference of two services is skewed.
///
/// # Errors
/// Fewer than two services, no blocks or different numbers of blocks, a value that is not finite and
/// positive, or an alpha that is not between 0 and 1.
pub fn rank<V: AsRef<[f64]>>(values: &[V], better: Better, alpha: f64) -> Result<Ranking, EstimateError> {
    check_level(alpha)?;
    ranked(logarithms(values)?, None, better, alpha)
}

/// Ranks services that may keep a process for several blocks: `processes[service][block]` identifies it. Such
/// pairs are tested over independent starts ([`two_level::by_start`]), others as in [`rank`].
///
/// # Errors
/// The errors of [`rank`], and process numbers that do not match the values.
pub fn rank_by_start<V: AsRef<[f64]>>(
    values: &[V],
    processes: &[Vec<usize>],
    better: Better,
    alpha: f64,
) -> Result<Ranking, EstimateError> {
    check_level(alpha)?;
    let logs = logarithms(values)?;
    let expected = logs[0].len();
    let found = |service: usize| processes.get(service).map_or(0, Vec::len);
    match (0..logs.len()).find(|service| found(*service) != expected) {
        Some(index) => Err(EstimateError::BlocksDiffer { index, found: found(index), expected }),
        None => ranked(logs, Some(processes), better, alpha),
    }
}

fn ranked(
    logs: Vec<Vec<f64>>,
    processes: Option<&[Vec<usize>]>,
    better: Better,
    alpha: f64,
) -> Result<Ranking, EstimateError> {
    let pairs = pairs(&logs, processes, alpha)?;
    let scores = scores(&pairs, logs.len());
    let mut order: Vec<usize> = (0..logs.len()).collect();
    // A stable sort: services with equal scores keep their order.
    order.sort_by(|&a, &b| better.oriented(scores[b]).total_cmp(&better.oriented(scores[a])));
    let n = logs[0].len();
    let mut ranking = Ranking { places: Vec::new(), pairs, n, warnings: Vec::new() };
    if n < LEAST_STARTS {
        ranking.warnings.push(Warning::TooFewBlocks { n, needed: LEAST_STARTS });
    }
    ranking.places = places(&ranking, &order, &scores, better);
    Ok(ranking)
}

/// Ranks services at planned looks: each look reached is tested as in [`rank`], with its own level and
/// blocks, and separations persist. Places are those of the last look.
///
/// # Errors
/// The errors of [`rank`].
pub fn rank_at_looks<V: AsRef<[f64]>>(
    values: &[V],
    better: Better,
    looks: &Looks,
) -> Result<Ranking, EstimateError> {
    let n = values.first().map_or(0, |values| values.as_ref().len());
    let mut found: Option<Ranking> = None;
    for look in looks.all().iter().filter(|look| (LEAST_STARTS..=n).contains(&look.n)) {
        // A series of another length stays unchanged, and `rank` refuses it.
        let until = |values: &V| match values.as_ref() {
            values if values.len() == n => values[..look.n].to_vec(),
            values => values.to_vec(),
        };
        let mut ranking = rank(&values.iter().map(until).collect::<Vec<_>>(), better, look.spent)?;
        if let Some(earlier) = found {
            ranking.keep(&earlier, better);
        }
        found = Some(ranking);
    }
    if let Some(ranking) = found {
        return Ok(ranking);
    }
    let mut ranking = rank(values, better, looks.alpha())?;
    let needed = looks.first().map_or(n + 1, |look| look.n);
    ranking.warnings = vec![Warning::TooFewBlocks { n, needed }];
    ranking.pairs.iter_mut().for_each(|pair| pair.separated = false);
    ranking.place_anew(better);
    Ok(ranking)
}

fn logarithms<V: AsRef<[f64]>>(values: &[V]) -> Result<Vec<Vec<f64>>, EstimateError> {
    if values.len() < 2 {
        return Err(EstimateError::TooFewSeries { found: values.len(), needed: 2 });
    }
    let expected = values[0].as_ref().len();
    if expected == 0 {
        return Err(EstimateError::Empty);
    }
    let logs = |(index, values): (usize, &V)| {
        let found = values.as_ref().len();
        if found == expected {
            crate::ratio::logarithms(values.as_ref(), SeriesId::Service(index))
        } else {
            Err(EstimateError::BlocksDiffer { index, found, expected })
        }
    };
    values.iter().enumerate().map(logs).collect()
}

fn pairs(
    logs: &[Vec<f64>],
    processes: Option<&[Vec<usize>]>,
    alpha: f64,
) -> Result<Vec<Pair>, EstimateError> {
    let places = (0..logs.len()).flat_map(|a| (a + 1..logs.len()).map(move |b| (a, b)));
    let contrasts = places.map(|(a, b)| Ok(((a, b), contrast(logs, processes, a, b)?)));
    let contrasts: Vec<((usize, usize), Contrast)> = contrasts.collect::<Result<_, EstimateError>>()?;
    let prior = Prior::of(contrasts.iter().map(|(_, contrast)| contrast));
    let moderated = contrasts.iter().map(|(places, contrast)| (places, contrast.moderated(prior.as_ref())));
    let pair = |(&(a, b), contrast): (&(usize, usize), Contrast)| Pair {
        a,
        b,
        contrast,
        p: contrast.p_value(),
        p_adjusted: 1.0,
        separated: false,
    };
    let mut pairs: Vec<Pair> = moderated.map(pair).collect();
    let adjusted = holm::adjust(&pairs.iter().map(|pair| pair.p).collect::<Vec<_>>());
    for (pair, p_adjusted) in pairs.iter_mut().zip(adjusted) {
        pair.p_adjusted = p_adjusted;
        pair.separated = p_adjusted <= alpha;
    }
    Ok(pairs)
}

fn contrast(
    logs: &[Vec<f64>],
    processes: Option<&[Vec<usize>]>,
    a: usize,
    b: usize,
) -> Result<Contrast, EstimateError> {
    let diffs: Vec<f64> = logs[a].iter().zip(&logs[b]).map(|(a, b)| a - b).collect();
    match processes {
        Some(of) => Contrast::of(&two_level::by_start(&diffs, &of[a], &of[b])?),
        None => Contrast::of_values(&diffs),
    }
}

fn scores(pairs: &[Pair], services: usize) -> Vec<f64> {
    let mut scores = vec![0.0; services];
    for pair in pairs {
        scores[pair.a] += pair.contrast.point / services as f64;
        scores[pair.b] -= pair.contrast.point / services as f64;
    }
    scores
}

fn places(ranking: &Ranking, order: &[usize], scores: &[f64], better: Better) -> Vec<RankPlace> {
    let place = |&service: &usize| {
        let ahead = |pair: &&Pair| (pair.a == service) == (better.oriented(pair.contrast.point) > 0.0);
        let separated = ranking.pairs.iter().filter(|pair| pair.separated);
        let mine = separated.filter(|pair| pair.a == service || pair.b == service);
        let (worse, better): (Vec<&Pair>, Vec<&Pair>) = mine.partition(ahead);
        let (best, worst) = (1 + better.len(), order.len() - worse.len());
        RankPlace { service, log_score: scores[service], best, worst }
    };
    order.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `levels` times a disturbance common to each block, with a little noise per service.
    fn measured(levels: &[f64], blocks: u32, own: f64) -> Vec<Vec<f64>> {
        let wobble =
            |service: usize, block: u32| f64::from((block * 37 + service as u32 * 53) % 61) / 61.0 - 0.5;
        let value = |service: usize, level: f64, block: u32| {
            level * (1.0 + 0.3 * wobble(9, block)) * (1.0 + own * wobble(service, block))
        };
        let series = |(service, &level)| (0..blocks).map(|block| value(service, level, block)).collect();
        levels.iter().enumerate().map(series).collect()
    }

    #[test]
    fn services_far_apart_have_a_rank_each() {
        let values = measured(&[50.0, 100.0, 75.0], 20, 0.02);
        let found = rank(&values, Better::Higher, 0.05).unwrap();
        let table: Vec<_> = found.places.iter().map(|p| (p.service, p.best, p.worst)).collect();
        assert_eq!(table, [(1, 1, 1), (2, 2, 2), (0, 3, 3)]);
        let table: Vec<_> =
            rank(&values, Better::Lower, 0.05).unwrap().places.iter().map(|p| p.service).collect();
        assert_eq!(table, [0, 2, 1]);
        assert_eq!(found.warnings, []);
    }

    #[test]
    fn identical_services_share_all_ranks() {
        let found =
            rank(&[[3.0, 4.0, 5.0].repeat(5), [3.0, 4.0, 5.0].repeat(5)], Better::Higher, 0.05).unwrap();
        assert!(found.places.iter().all(|place| (place.best, place.worst) == (1, 2)));
        assert_eq!((found.pairs[0].p, found.pairs[0].separated), (1.0, false));
    }

    /// 0 and 2 are separated, 1 from neither: no grouping represents this, and the sets of ranks overlap.
    #[test]
    fn not_separated_is_not_transitive() {
        let mut values = measured(&[1.010, 1.0, 0.990], 12, 0.001);
        // The second service is noisy.
        for (block, value) in values[1].iter_mut().enumerate() {
            *value *= 1.0 + 0.05 * [-1.0, 1.0][block % 2];
        }
        let found = rank(&values, Better::Higher, 0.05).unwrap();
        assert!(
            found.separated(2, 0) && !found.separated(0, 1) && !found.separated(1, 2),
            "{:#?}",
            found.pairs
        );
        let table: Vec<_> = found.places.iter().map(|p| (p.service, p.best, p.worst)).collect();
        assert_eq!(table, [(0, 1, 2), (1, 1, 3), (2, 2, 3)]);
    }

    #[test]
    fn what_a_look_has_separated_stays_separated() {
        let looks = Looks::planned(&[10, 20, 40], 0.05).unwrap();
        let are_separated =
            |values: &[Vec<f64>]| rank_at_looks(values, Better::Higher, &looks).unwrap().separated(0, 1);
        let mut values = measured(&[100.0, 110.0], 40, 0.01);
        assert!(!are_separated(&values.iter().map(|v| v[..9].to_vec()).collect::<Vec<_>>()));
        assert!(are_separated(&values.iter().map(|v| v[..20].to_vec()).collect::<Vec<_>>()));
        // The two are indistinguishable from then on.
        let first = values[0].clone();
        for (block, value) in values[1].iter_mut().enumerate().skip(20) {
            *value = first[block] * if block % 2 == 0 { 0.8 } else { 1.25 };
        }
        assert!(are_separated(&values));
        assert!(!rank(&values, Better::Higher, 0.001).unwrap().separated(0, 1));
        let uneven = [vec![1.0; 20], vec![1.0; 10]];
        assert!(matches!(
            rank_at_looks(&uneven, Better::Higher, &looks),
            Err(EstimateError::BlocksDiffer { .. })
        ));
    }

    #[test]
    fn a_process_that_lasts_is_one_observation() {
        // The rows are 2% apart in each block; the second row's four processes are off by 1 or 2%.
        let mut values = measured(&[100.0, 102.0, 102.0], 12, 0.002);
        for (block, value) in values[1].iter_mut().enumerate() {
            *value *= 1.0 + 0.02 * [1.0, -1.0, 0.5, -0.5][block / 3];
        }
        let fresh: Vec<usize> = (0..12).collect();
        let lasting: Vec<usize> = fresh.iter().map(|block| block / 3).collect();
        let rank =
            |processes: &[Vec<usize>]| rank_by_start(&values, processes, Better::Higher, 0.05).unwrap();
        let found = rank(&[fresh.clone(), lasting, fresh.clone()]);
        assert!(found.separated(0, 2) && !found.separated(0, 1), "{:#?}", found.pairs);
        let counted_as_blocks = rank(&[fresh.clone(), fresh.clone(), fresh.clone()]);
        assert!(counted_as_blocks.separated(0, 1));
        assert_eq!(counted_as_blocks, super::rank(&values, Better::Higher, 0.05).unwrap());
        let short = rank_by_start(&values, &[fresh.clone(), fresh], Better::Higher, 0.05);
        assert_eq!(short, Err(EstimateError::BlocksDiffer { index: 2, found: 0, expected: 12 }));
    }

    #[test]
    fn one_block_separates_nothing_and_six_do() {
        let levels = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        let found = rank(&measured(&levels, 1, 0.01), Better::Higher, 0.05).unwrap();
        assert_eq!(found.warnings, [Warning::TooFewBlocks { n: 1, needed: 2 }]);
        assert!(found.places.iter().all(|place| (place.best, place.worst) == (1, 8)));
        let found = rank(&measured(&levels, 6, 0.01), Better::Higher, 0.05).unwrap();
        assert_eq!(found.warnings, []);
        assert!(found.places.iter().all(|place| place.best == place.worst), "{:#?}", found.places);
    }

    #[test]
    fn what_cannot_be_ranked_is_named() {
        let refused = |values: &[Vec<f64>]| rank(values, Better::Higher, 0.05).unwrap_err();
        assert_eq!(refused(&[vec![1.0]]), EstimateError::TooFewSeries { found: 1, needed: 2 });
        assert_eq!(refused(&[vec![], vec![]]), EstimateError::Empty);
        let ragged = EstimateError::BlocksDiffer { index: 1, found: 1, expected: 2 };
        assert_eq!(refused(&[vec![1.0, 2.0], vec![1.0]]), ragged);
        let zero = refused(&[vec![1.0], vec![0.0]]);
        assert!(
            matches!(zero, EstimateError::NotPositive { series: SeriesId::Service(1), index: 0, .. }),
            "{zero}"
        );
    }
}
