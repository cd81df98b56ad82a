//! When the next request is due: pure functions of time and of a seed.
//!
//! The module knows neither clocks nor connections nor the end of the run, so it is tested by tables without
//! sleeping. A closed loop queries [`Think`] after every answer. An open loop queries a [`ArrivalSource`] and never
//! looks at the answers.

mod arrivals;
mod parse;
mod profile;
mod random;
mod think;

#[cfg(test)]
mod tests;

pub use arrivals::{ArrivalProcess, ArrivalSource, Arrivals};
pub use parse::SpecError;
pub use profile::{ProfileError, RateProfile};
pub use random::SplitMix64;
pub use think::Think;

/// How requests arrive.
#[derive(Debug, Clone, PartialEq)]
pub enum Schedule {
    /// Every connection sends its next request once the previous one is answered and it has thought.
    Closed {
        /// The time between an answer and the next request.
        think: Think,
    },
    /// Requests are due at instants of their own, whatever the server does.
    Open(Arrivals),
}

impl Schedule {
    /// A closed loop without think time: as fast as the server answers.
    pub const SATURATE: Schedule = Schedule::Closed { think: Think::None };

    /// Whether an answer is followed by the next request at once. The saturating loop then needs no draw.
    #[inline]
    pub(crate) fn is_immediate(&self) -> bool {
        matches!(self, Schedule::Closed { think } if think.is_none())
    }
}
