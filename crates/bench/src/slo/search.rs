//! The search for the highest rate that holds, within one fresh start: a state machine that is given what windows showed and
//! says which rate is next. Knows no clock, no service and no chance.
//!
//! A rate holds if, over all that was asked at it, no more than the allowed share was bad. The share is pooled over
//! windows and not voted on by them: a service that stands still for a tenth of a second every five is not fast in four
//! windows of five, it has a p99 of a tenth of a second. Since the share can only rise with the rate, windows at other rates
//! bear witness too (`isotonic`): a window that was good by luck is outweighed by bad ones below it.
//!
//! From [`FIRST`] of the closed-loop capacity the rate goes up by [`UP`] or down by [`DOWN`] until it has a good rate below it
//! and a bad one above, then to the geometric middle of the two; once these are within [`RESOLUTION`] whichever of them has
//! been tried less is tried again, and either may turn out to be the other kind.

use super::isotonic::{self, Observation};

/// Where a search begins, as a share of the closed-loop capacity.
pub const FIRST: f64 = 0.7;
/// How far it goes up at a time, before anything was bad.
pub(super) const UP: f64 = 1.2;
/// How far it goes down at a time, before anything was good.
pub(super) const DOWN: f64 = 0.5;
/// More than this many times the closed-loop capacity is not tried: what holds there is not bounded by the service.
pub(super) const CEILING: f64 = 1.1;
/// Less than this share of the closed-loop capacity is not tried: what does not hold there does not hold.
pub(super) const FLOOR: f64 = 0.01;
/// Rates that differ by less than this factor are as good as one.
pub(super) const RESOLUTION: f64 = 1.02;
/// After this many discarded windows in a row at one rate, the generator is held to be too slow for it.
const VOIDS_IN_ROW: usize = 2;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum WindowOutcome {
    /// Requests that were due, and how many of them were bad by each term of the SLO.
    Counted { due: u64, bad: Vec<u64> },
    /// The generator itself was late: the window says nothing about the service.
    Discarded,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Found {
    /// Between the highest rate that held and the lowest that did not.
    Between {
        held: f64,
        broke: f64,
    },
    /// All rates held, up to the highest that was tried.
    AtLeast(f64),
    /// None held, down to the lowest that was tried.
    Below(f64),
    Nothing,
}

impl Found {
    /// One rate for it: the geometric middle where it lies between two, else the bound.
    pub fn per_second(&self) -> Option<f64> {
        match *self {
            Found::Between { held, broke } => Some((held * broke).sqrt()),
            Found::AtLeast(rate) | Found::Below(rate) => Some(rate),
            Found::Nothing => None,
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
    /// The rate of the latest windows, if they were discarded, and how many.
    discarded_now: Option<(f64, usize)>,
}

impl Search {
    /// Of a service with this closed-loop capacity, for an SLO that allows these shares of bad requests, by this many windows
    /// that count.
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

    /// The rate of the next window; none once the search has ended.
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

    /// What the window at `per_second` showed.
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

    /// Whether there is no window left to try.
    pub fn is_over(&self) -> bool {
        self.next_rate().is_none()
    }

    /// Where it stands. Nothing, if discarded windows have left fewer than half of those that should count.
    pub fn found(&self) -> Found {
        match self.bounds() {
            _ if self.discarded_count >= self.windows && self.tried.len() * 2 < self.windows => {
                Found::Nothing
            }
            (None, None) => Found::Nothing,
            (Some(held), None) => Found::AtLeast(held),
            (None, Some(broke)) => Found::Below(broke),
            (Some(held), Some(broke)) => Found::Between { held, broke },
        }
    }

    /// Whether it was the generator that could go no faster.
    pub fn is_generator_bound(&self) -> bool {
        self.ceiling < rounded(CEILING * self.capacity)
    }

    pub fn counted(&self) -> usize {
        self.tried.len()
    }

    pub fn discarded(&self) -> usize {
        self.discarded_count
    }

    /// The highest rate that held and the lowest that did not, as far as is known now.
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
        // Every term has the same rates in the same order.
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
        // A ceiling that the generator has set was not reached: between it and what held there may be more.
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

    /// Windows at this very rate.
    fn times(&self, rate: f64) -> usize {
        self.tried.iter().filter(|(tried, ..)| *tried == rate).count()
    }
}

/// A rate that a journal gives back to the last digit, so that windows at one rate are known to be.
fn rounded(per_second: f64) -> f64 {
    (per_second * 100.0).round() / 100.0
}
