//! Weighted least squares for the scalability law, with `sigma` and `kappa` not below 0.
//!
//! The start values are Gunther's: `n / X` is linear in `1 / lambda`, `sigma / lambda` and `kappa / lambda`.
//! Levenberg and Marquardt's steps then minimise the squares of X itself (D. W. Marquardt, "An algorithm for
//! least-squares estimation of nonlinear parameters", SIAM Journal on Applied Mathematics 11 (1963)). A
//! parameter below 0 is fixed at 0 and the rest is refitted. Two bounds give four fits, and the nearest valid
//! one wins.

use super::law::Law;

/// Most steps; a typical fit takes ten.
const STEPS_MAX: usize = 500;
/// The iteration ends when squares and parameters change by a smaller share than this.
const PRECISION: f64 = 1e-14;
/// Initial damping, and the damping at which a step is given up.
const DAMPING: f64 = 1e-3;
const DAMPING_MAX: f64 = 1e14;

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weighted {
    /// Number of threads, processors or users.
    pub n: f64,
    /// Throughput.
    pub value: f64,
    /// Weight of its squared residual: 1 / variance, or a constant.
    pub weight: f64,
}

/// The fitted parameters; others are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Free {
    pub sigma: bool,
    pub kappa: bool,
}

impl Free {
    pub(super) const ALL: Free = Free { sigma: true, kappa: true };
    /// At least one parameter fixed at its bound.
    const BOUND: [Free; 3] = [
        Free { sigma: true, kappa: false },
        Free { sigma: false, kappa: true },
        Free { sigma: false, kappa: false },
    ];

    /// Indices of the fitted parameters.
    fn places(self) -> Vec<usize> {
        [(0, true), (1, self.sigma), (2, self.kappa)]
            .iter()
            .filter(|(_, free)| *free)
            .map(|it| it.0)
            .collect()
    }

    pub(super) fn count(self) -> usize {
        self.places().len()
    }
}

/// The nearest law with `sigma` and `kappa` not below 0, and the fitted parameters, if points are positive.
pub(super) fn bounded(points: &[Weighted]) -> Option<(Law, Free)> {
    let keeps = |law: &Law| law.sigma >= 0.0 && law.kappa >= 0.0;
    if let Some(law) = fitted(points, Free::ALL).filter(keeps) {
        return Some((law, Free::ALL));
    }
    let found = Free::BOUND.iter().filter_map(|free| Some((fitted(points, *free)?, *free)));
    let found = found.filter(|(law, _)| keeps(law));
    found.min_by(|(one, _), (other, _)| squares(points, one).total_cmp(&squares(points, other)))
}

/// The nearest law with these parameters and any signs. Its denominator is positive at every point.
pub(super) fn fitted(points: &[Weighted], free: Free) -> Option<Law> {
    let places = free.places();
    let mut law = start(points, &places)?;
    let mut least = squares(points, &law);
    let mut damping = DAMPING;
    for _ in 0..STEPS_MAX {
        let Some(step) = step(points, &law, &places, damping) else { break };
        let next = moved(&law, &places, &step);
        let found = if is_valid(points, &next) { squares(points, &next) } else { f64::INFINITY };
        if found > least || !found.is_finite() {
            damping *= 4.0;
            if damping > DAMPING_MAX {
                break;
            }
            continue;
        }
        let is_last = is_near(&law, &next) && least - found <= PRECISION * least;
        (law, least, damping) = (next, found, (damping / 3.0).max(1e-15));
        if is_last {
            break;
        }
    }
    is_valid(points, &law).then_some(law)
}

pub(super) fn squares(points: &[Weighted], law: &Law) -> f64 {
    points.iter().map(|point| point.weight * (point.value - law.at(point.n)).powi(2)).sum()
}

/// Derivatives of the parameters by the value of each point: the rows of `(J' W J)^-1 J' W`. `None` if the
/// points do not determine them.
pub(super) fn influence(points: &[Weighted], law: &Law) -> Option<Vec<[f64; 3]>> {
    let places = Free::ALL.places();
    let normal = normal(points, law, &places);
    let of = |point: &Weighted| {
        let right: Vec<f64> = law.gradient(point.n).iter().map(|slope| slope * point.weight).collect();
        solve(&normal, &right)?.try_into().ok()
    };
    points.iter().map(of).collect()
}

fn is_valid(points: &[Weighted], law: &Law) -> bool {
    law.lambda > 0.0
        && law.lambda.is_finite()
        && points.iter().all(|point| law.denominator(point.n) > 0.0 && law.at(point.n).is_finite())
}

fn is_near(one: &Law, other: &Law) -> bool {
    let pairs = one.parameters().into_iter().zip(other.parameters());
    pairs.into_iter().all(|(one, other)| (one - other).abs() <= 1e-12 * (one.abs() + other.abs()) + 1e-18)
}

/// Start values by the linear form; if invalid, Amdahl's law without contention.
fn start(points: &[Weighted], places: &[usize]) -> Option<Law> {
    let terms = |n: f64| {
        let all = [1.0, n - 1.0, n * (n - 1.0)];
        places.iter().map(|place| all[*place]).collect::<Vec<f64>>()
    };
    let size = places.len();
    let (mut normal, mut right) = (vec![vec![0.0; size]; size], vec![0.0; size]);
    for point in points {
        // The variance of n / X is n^2 / X^4 times that of X.
        let weight = point.weight * point.value.powi(4) / point.n.powi(2);
        let terms = terms(point.n);
        for row in 0..size {
            right[row] += weight * terms[row] * point.n / point.value;
            for column in 0..size {
                normal[row][column] += weight * terms[row] * terms[column];
            }
        }
    }
    let linear = solve(&normal, &right).and_then(|found| {
        let mut parameters = [0.0; 3];
        places.iter().zip(&found).for_each(|(place, value)| parameters[*place] = *value);
        let [inverse, sigma, kappa] = parameters;
        let law = Law::of([1.0 / inverse, sigma / inverse, kappa / inverse]);
        is_valid(points, &law).then_some(law)
    });
    let first = points.first()?;
    let straight = Law::of([first.value / first.n, 0.0, 0.0]);
    linear.or_else(|| is_valid(points, &straight).then_some(straight))
}

fn moved(law: &Law, places: &[usize], step: &[f64]) -> Law {
    let mut parameters = law.parameters();
    places.iter().zip(step).for_each(|(place, change)| parameters[*place] += change);
    Law::of(parameters)
}

fn step(points: &[Weighted], law: &Law, places: &[usize], damping: f64) -> Option<Vec<f64>> {
    let mut normal = normal(points, law, places);
    (0..places.len()).for_each(|place| normal[place][place] *= 1.0 + damping);
    let right: Vec<f64> = places
        .iter()
        .map(|place| {
            let of = |point: &Weighted| {
                point.weight * law.gradient(point.n)[*place] * (point.value - law.at(point.n))
            };
            points.iter().map(of).sum()
        })
        .collect();
    solve(&normal, &right)
}

/// `J' W J`.
fn normal(points: &[Weighted], law: &Law, places: &[usize]) -> Vec<Vec<f64>> {
    let sum = |row: usize, column: usize| {
        let of = |point: &Weighted| {
            let slopes = law.gradient(point.n);
            point.weight * slopes[row] * slopes[column]
        };
        points.iter().map(of).sum()
    };
    places.iter().map(|row| places.iter().map(|column| sum(*row, *column)).collect()).collect()
}

/// Solves a symmetric system by elimination with pivoting. `None` without a unique solution.
fn solve(matrix: &[Vec<f64>], right: &[f64]) -> Option<Vec<f64>> {
    let size = right.len();
    let scales: Vec<f64> = (0..size).map(|place| matrix[place][place].sqrt()).collect();
    if scales.iter().any(|scale| !scale.is_finite() || *scale <= 0.0) {
        return None;
    }
    let row = |row: usize| {
        let scaled = (0..size).map(|column| matrix[row][column] / scales[row] / scales[column]);
        scaled.chain([right[row] / scales[row]]).collect::<Vec<f64>>()
    };
    let mut rows: Vec<Vec<f64>> = (0..size).map(row).collect();
    for place in 0..size {
        let largest = (place..size).max_by(|a, b| rows[*a][place].abs().total_cmp(&rows[*b][place].abs()))?;
        rows.swap(place, largest);
        let top = rows[place].clone();
        if top[place].abs() < 1e-14 {
            return None;
        }
        for (other, row) in rows.iter_mut().enumerate() {
            let times = if other == place { 0.0 } else { row[place] / top[place] };
            row.iter_mut().zip(&top).for_each(|(value, above)| *value -= times * above);
        }
    }
    Some((0..size).map(|place| rows[place][size] / rows[place][place] / scales[place]).collect())
}
