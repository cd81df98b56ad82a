//! When a campaign has found out what it was asked. Every judge is a function of the records alone, and looks only where
//! the plan says: a campaign that is resumed or replayed gets the same answer.

mod gate;
pub mod series;
mod tiers;

pub use gate::UntilGate;
pub use tiers::{Standing, UntilTiers};

use tare_bench::run::{campaign::Judge, folder::Header, record::Record, until::Until};

/// The judge that a plan asks for.
#[derive(Debug)]
pub enum Jury {
    /// Nobody: the budget ends it.
    Nobody,
    /// See [`UntilGate`].
    Gate(Box<UntilGate>),
    /// See [`UntilTiers`].
    Tiers(Box<UntilTiers>),
}

impl Jury {
    /// For a run with this head.
    pub fn of(header: &Header) -> Jury {
        match &header.plan.until {
            Until::Budget => Jury::Nobody,
            Until::Gate(_) => Jury::Gate(Box::new(UntilGate::new(header))),
            Until::Tiers(tiers) => Jury::Tiers(Box::new(UntilTiers::new(&header.plan, tiers))),
        }
    }
}

impl Judge for Jury {
    fn heard(&mut self, record: &Record) {
        match self {
            Jury::Nobody => {}
            Jury::Gate(judge) => judge.heard(record),
            Jury::Tiers(judge) => judge.heard(record),
        }
    }

    fn is_decided(&mut self) -> bool {
        match self {
            Jury::Nobody => false,
            Jury::Gate(judge) => judge.is_decided(),
            Jury::Tiers(judge) => judge.is_decided(),
        }
    }
}
