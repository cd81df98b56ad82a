//! Fits a share that cannot fall with the rate to noisy windows (isotonic regression). Numbers only.
//!
//! Source: M. Ayer, H. D. Brunk, G. M. Ewing, W. T. Reid and E. Silverman, "An empirical distribution
//! function for sampling with incomplete information", Annals of Mathematical Statistics 26 (1955): pools
//! neighbours in wrong order. It beats the last steps of an up-and-down search: M. Stylianou and N. Flournoy,
//! "Dose finding using the biased coin up-and-down design and isotonic regression", Biometrics 58 (2002).

/// Observations at one place: their number, and how many were bad.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Observation {
    /// The place, such as a rate.
    pub at: f64,
    pub all: f64,
    pub bad: f64,
}

/// The distinct places in rising order, with the non-decreasing shares that fit the observations best.
pub(super) fn fit(observations: &[Observation]) -> Vec<(f64, f64)> {
    let mut sorted = observations.to_vec();
    sorted.sort_by(|a, b| a.at.total_cmp(&b.at));
    // Pools of places with a common share: the counts, and the places.
    let mut pools: Vec<(f64, f64, Vec<f64>)> = Vec::new();
    for Observation { at, all, bad } in sorted {
        match pools.last_mut() {
            Some((pool_all, pool_bad, places)) if places.last() == Some(&at) => {
                *pool_all += all;
                *pool_bad += bad;
            }
            _ => pools.push((all, bad, vec![at])),
        }
        merge(&mut pools);
    }
    let shares = pools.into_iter().flat_map(|(all, bad, places)| {
        let share = share(all, bad);
        places.into_iter().map(move |at| (at, share))
    });
    shares.collect()
}

fn merge(pools: &mut Vec<(f64, f64, Vec<f64>)>) {
    while let [.., (all, bad, _), (last_all, last_bad, _)] = &pools[..] {
        if share(*all, *bad) <= share(*last_all, *last_bad) {
            return;
        }
        let (last_all, last_bad, last_places) = pools.pop().expect("there are two");
        let (all, bad, places) = pools.last_mut().expect("there were two");
        *all += last_all;
        *bad += last_bad;
        places.extend(last_places);
    }
}

/// A window without requests has no bad ones.
fn share(all: f64, bad: f64) -> f64 {
    if all > 0.0 { bad / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(observations: &[(f64, f64, f64)]) -> Vec<(f64, f64)> {
        let counted: Vec<_> =
            observations.iter().map(|&(at, all, bad)| Observation { at, all, bad }).collect();
        fit(&counted)
    }

    #[test]
    fn what_rises_is_left_as_it_is() {
        let rising = [(3.0, 10.0, 9.0), (1.0, 10.0, 0.0), (2.0, 10.0, 5.0)];
        assert_eq!(fitted(&rising), [(1.0, 0.0), (2.0, 0.5), (3.0, 0.9)]);
        assert_eq!(fitted(&[]), []);
    }

    #[test]
    fn what_falls_is_pooled_by_weight() {
        assert_eq!(fitted(&[(1.0, 30.0, 3.0), (2.0, 10.0, 0.0)]), [(1.0, 0.075), (2.0, 0.075)]);
        // The third lowers the second, and both together lower the first.
        let chain = [(1.0, 10.0, 5.0), (2.0, 10.0, 6.0), (3.0, 10.0, 1.0), (4.0, 10.0, 9.0)];
        assert_eq!(fitted(&chain), [(1.0, 0.4), (2.0, 0.4), (3.0, 0.4), (4.0, 0.9)]);
    }

    #[test]
    fn windows_at_one_rate_are_one_place() {
        assert_eq!(fitted(&[(2.0, 10.0, 4.0), (2.0, 30.0, 0.0)]), [(2.0, 0.1)]);
        assert_eq!(fitted(&[(2.0, 0.0, 0.0)]), [(2.0, 0.0)]);
    }
}
