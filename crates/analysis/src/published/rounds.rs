//! Which rounds of a cell count: for tables and for checks alike.

use tare_bench::grid::record::Figures;

/// The rounds that tell how fast the service is; none where that is fewer than half of them.
pub fn sound(by_round: &[(usize, Figures)]) -> Vec<&(usize, Figures)> {
    let sound: Vec<_> = by_round.iter().filter(|(_, figures)| figures.trouble().is_none()).collect();
    if 2 * sound.len() >= by_round.len() { sound } else { Vec::new() }
}
