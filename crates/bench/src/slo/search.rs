//! The search for the highest rate that holds, within one fresh start. A state machine: it receives the
//! results of windows and picks the next rate. It uses no clock, service or randomness.
//!
//! A rate holds if the share of bad requests, over all requests at it, is within the limit. The share is
//! pooled over windows, which do not vote: a service that stalls for 0.1 s every five seconds is not fast in
//! four windows of five; its p99 is 0.1 s. The share cannot fall with the rate, so windows at other rates
//! count too (`isotonic`): bad windows at lower rates outweigh a lucky good one.
//!
//! From [`FIRST`] of the closed-loop capacity the rate rises by [`UP`] or falls by [`DOWN`] until a good rate
//! lies below and a bad one above. Then it moves to their geometric mean. Once they are within
//! [`RESOLUTION`], the one with fewer windows is tried again, and its result may change.

use super::isotonic::{self, Observation};

/// First rate, as a share of the closed-loop capacity.
pub const FIRST: f64 = 0.7;
/// Step upwards, before anything was bad.
pub(super) const UP: f64 = 1.2;
/// Step downwards, before anything was good.
pub(super) const DOWN: f64 = 0.5;
/// Highest rate, as a share of the closed-loop capacity: if it holds, the service is not the limit.
pub(super) const CEILING: f64 = 1.1;
/// Lowest rate, as a share of the closed-loop capacity: if it fails, lower ones fail too.
pub(super) const FLOOR: f64 = 0.01;
/// Rates within this factor count as equal.
pub(super) const RESOLUTION: f64 = 1.02;
/// After this number of consecutive discarded windows at one rate, the generator counts as too slow for it.
const VOIDS_IN_ROW: usize = 2;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum WindowOutcome {
    /// Requests that were due, and the bad ones by each term of the SLO.
    Counted { due: u64, bad: Vec<u64> },
    /// The generator was late: the window is no evidence about the service.
    Discarded,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FoundRate {
    /// Between the highest rate that held and the lowest that failed.
    Between {
        held: f64,
        broke: f64,
    },
    /// All rates held, up to the highest one tried.
    AtLeast(f64),
    /// No rate held, down to the lowest one tried.
    Below(f64),
    Nothing,
}

impl FoundRate {
    /// A single rate: the geometric mean of both bounds, or the only bound.
    pub fn per_second(&self) -> Option<f64> {
        match *self {
            FoundRate::Between { held, broke } => Some((held * broke).sqrt()),
            FoundRate::AtLeast(rate) | FoundRate::Below(rate) => Some(rate),
            FoundRate::Nothing => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    capacity: f64,
    allowed: Vec<f64>,
    windows: usize,
    ceiling: f64,
    tried: Vec<(f64, u64, Vec<u64>)>,
    discarded_count: usize,
    /// The rate and number of the latest windows, if they were discarded.
    discarded_now: Option<(f64, usize)>,
}

impl Search {
    /// A search with this closed-loop capacity, allowed shares of bad requests, and counted windows.
    pub(crate) fn new(capacity_per_second: f64, allowed: Vec<f64>, windows: usize) -> Search {
        let capacity = capacity_per_second.max(1.0);
        let ceiling = rounded(CEILING * capacity);
        Search {
            capacity,
            allowed,
            windows,
            ceiling,
            tried: Vec::new(),
            discarded_count: 0,
            discarded_now: None,
        }
    }

    /// The rate of the next window; absent once the search has ended.
    pub(crate) fn next_rate(&self) -> Option<f64> {
        if self.tried.len() >= self.windows || self.discarded_count >= self.windows {
            return None;
        }
        self.wanted().map(rounded)
    }

    fn wanted(&self) -> Option<f64> {
        match self.bounds() {
            (None, None) => Some((FIRST * self.capacity).min(self.ceiling * FIRST)),
            (None, Some(broke)) => self.downwards(broke),
            (Some(held), None) => self.upwards(held),
            (Some(held), Some(broke)) if broke / held > RESOLUTION => Some((held * broke).sqrt()),
            (Some(held), Some(broke)) => {
                Some(if self.times(held) < self.times(broke) { held } else { broke })
            }
        }
    }

    /// Adds the result of a window at `per_second`.
    pub(crate) fn add(&mut self, per_second: f64, outcome: WindowOutcome) {
        match outcome {
            WindowOutcome::Counted { due, bad } => {
                self.discarded_now = None;
                self.tried.push((per_second, due, bad));
            }
            WindowOutcome::Discarded => {
                self.discarded_count += 1;
                let before =
                    self.discarded_now.filter(|(rate, _)| *rate == per_second).map_or(0, |(_, count)| count);
                self.discarded_now = Some((per_second, before + 1));
                if before + 1 >= VOIDS_IN_ROW && self.times(per_second) == 0 {
                    self.ceiling = self.ceiling.min(per_second);
                }
            }
        }
    }

    /// Whether the search has ended.
    pub fn is_over(&self) -> bool {
        self.next_rate().is_none()
    }

    /// The result so far. Nothing, if discarded windows left fewer than half of the planned ones.
    pub fn found(&self) -> FoundRate {
        match self.bounds() {
            _ if self.discarded_count >= self.windows && self.tried.len() * 2 < self.windows => {
                FoundRate::Nothing
            }
            (None, None) => FoundRate::Nothing,
            (Some(held), None) => FoundRate::AtLeast(held),
            (None, Some(broke)) => FoundRate::Below(broke),
            (Some(held), Some(broke)) => FoundRate::Between { held, broke },
        }
    }

    /// Whether the generator limited the rate.
    pub fn is_generator_bound(&self) -> bool {
        self.ceiling < rounded(CEILING * self.capacity)
    }

    pub fn counted(&self) -> usize {
        self.tried.len()
    }

    pub fn discarded(&self) -> usize {
        self.discarded_count
    }

    /// The highest rate that held and the lowest that failed, so far.
    fn bounds(&self) -> (Option<f64>, Option<f64>) {
        let holds = |term: usize| -> Vec<(f64, bool)> {
            let counted = |(rate, due, bad): &(f64, u64, Vec<u64>)| Observation {
                at: *rate,
                all: *due as f64,
                bad: bad.get(term).map_or(0.0, |bad| *bad as f64),
            };
            let counted: Vec<Observation> = self.tried.iter().map(counted).collect();
            let allowed = self.allowed[term];
            isotonic::fit(&counted).into_iter().map(|(rate, share)| (rate, share <= allowed)).collect()
        };
        let terms: Vec<Vec<(f64, bool)>> = (0..self.allowed.len()).map(holds).collect();
        // All terms have the same rates in the same order.
        let all_hold = |index: usize| terms.iter().all(|term| term[index].1);
        let rates: Vec<f64> =
            terms.first().map_or_else(Vec::new, |term| term.iter().map(|(rate, _)| *rate).collect());
        let broke = (0..rates.len()).find(|index| !all_hold(*index)).unwrap_or(rates.len());
        (broke.checked_sub(1).map(|held| rates[held]), rates.get(broke).copied())
    }

    fn upwards(&self, held: f64) -> Option<f64> {
        let next = held * UP;
        if next < self.ceiling {
            return Some(next);
        }
        // The generator's ceiling was not reached: the capacity may lie between it and `held`.
        match self.is_generator_bound() {
            true if self.ceiling / held > RESOLUTION => Some((held * self.ceiling).sqrt()),
            false if held < self.ceiling => Some(self.ceiling),
            _ => (self.times(held) < 2).then_some(held),
        }
    }

    fn downwards(&self, broke: f64) -> Option<f64> {
        let floor = rounded(FLOOR * self.capacity);
        match broke * DOWN {
            next if next > floor => Some(next),
            _ if broke > floor => Some(floor),
            _ => (self.times(broke) < 2).then_some(broke),
        }
    }

    /// Number of windows at exactly this rate.
    fn times(&self, rate: f64) -> usize {
        self.tried.iter().filter(|(tried, ..)| *tried == rate).count()
    }
}

/// A rate that survives a round trip through the journal, so that equal rates stay equal.
fn rounded(per_second: f64) -> f64 {
    (per_second * 100.0).round() / 100.0
}
