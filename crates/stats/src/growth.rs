//! Detects a quantity that grows with the work done, such as the memory of a leaking process.
//!
//! A heap also grows in steps until it has its size, and a collector shrinks it. So a course counts as growth
//! only if it rose in most steps, fell in none, and rose about as fast in its second half as in its first.

/// Fewest points of a course.
pub const POINTS_MIN: usize = 6;
/// Least slope of the second half, relative to the first; growth that levels off has less.
const SECOND_HALF_MIN: f64 = 0.5;
/// Least share of rising steps.
const STEPS_SHARE_MIN: f64 = 0.6;

/// The smallest growth that is reported.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Least {
    /// From the first point to the last, as a share of the first.
    pub share: f64,
    /// The same, in the unit of the quantity.
    pub amount: u64,
}

/// The growth from the first point of a course to its last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// Growth per unit of work.
    pub per_work: f64,
    /// Units of work.
    pub work: u64,
    /// The quantity at the first point.
    pub from: u64,
    /// The quantity at the last point.
    pub to: u64,
}

/// The growth of a course: points of work done so far and quantity. Absent below `least`.
#[must_use]
pub fn growth(course: &[(u64, u64)], least: Least) -> Option<Growth> {
    let (first, middle, last) = match course {
        [first, .., last] if course.len() >= POINTS_MIN => (*first, course[course.len() / 2], *last),
        _ => return None,
    };
    let rose = course.windows(2).filter(|pair| pair[1].1 > pair[0].1).count();
    let fell = course.windows(2).any(|pair| pair[1].1 < pair[0].1);
    let slope = |from: (u64, u64), to: (u64, u64)| {
        to.1.saturating_sub(from.1) as f64 / to.0.saturating_sub(from.0).max(1) as f64
    };
    let amount = last.1.saturating_sub(first.1);
    let is_much = amount >= least.amount && amount as f64 >= least.share * first.1 as f64;
    let goes_on = slope(middle, last) >= SECOND_HALF_MIN * slope(first, middle);
    let is_steady = rose as f64 >= STEPS_SHARE_MIN * (course.len() - 1) as f64;
    (is_much && goes_on && is_steady && !fell).then(|| Growth {
        per_work: slope(first, last),
        work: last.0.saturating_sub(first.0),
        from: first.1,
        to: last.1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: Least = Least { share: 0.2, amount: 4 };

    /// Points at equal distances of work.
    fn of(quantities: &[u64]) -> Option<Growth> {
        let course: Vec<(u64, u64)> =
            (0..).step_by(1_000).zip(quantities.iter().copied()).collect::<Vec<(u64, u64)>>();
        growth(&course, LEAST)
    }

    #[test]
    fn what_rises_with_the_work_is_growth_and_nothing_else_is() {
        let found = of(&[10, 12, 14, 16, 18, 20]).unwrap();
        assert_eq!(found, Growth { per_work: 0.002, work: 5_000, from: 10, to: 20 });
        let table: [(&str, &[u64]); 7] = [
            ("stays", &[40; 8]),
            ("levels off", &[20, 30, 38, 44, 46, 47, 48, 49]),
            ("one step", &[20, 20, 20, 20, 40, 40, 40, 40]),
            ("a collector", &[20, 25, 30, 35, 20, 25, 30, 35]),
            ("by a small share", &[100, 101, 102, 103, 104, 105]),
            ("too short", &[10, 20, 30, 40, 50]),
            ("nothing", &[]),
        ];
        for (name, course) in table {
            assert_eq!(of(course), None, "{name}");
        }
    }
}
