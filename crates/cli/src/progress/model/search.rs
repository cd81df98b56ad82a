//! Where the search of a row is: between which rates its capacity lies.

use tare_analysis::figures::rate;
use tare_bench::{schedule::searches::Searches, slo::Found};

/// `window 3: 84.0 k .. 101 k`: between the highest rate that held and the lowest that did not.
pub(crate) fn state(searches: &Searches, row: usize) -> Option<String> {
    let search = searches.of(row).last()?.search.as_ref()?;
    if search.is_over() {
        return Some("found".to_owned());
    }
    let window = format!("window {}", search.counted() + search.discarded());
    Some(match search.found() {
        Found::Between { held, broke } => format!("{window}: {} .. {}", rate(held), rate(broke)),
        Found::AtLeast(held) => format!("{window}: {} or more", rate(held)),
        Found::Below(broke) => format!("{window}: below {}", rate(broke)),
        Found::Nothing => window,
    })
}
