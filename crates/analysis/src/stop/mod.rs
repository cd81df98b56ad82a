//! When a run has the answer to its question. A stopping rule is a function of the records alone, and looks only after the
//! blocks that the plan lists: a run that is resumed or replayed gets the same answer.

mod gate;
mod tiers;

pub use crate::series;
pub use gate::GateRule;
pub use tiers::TiersRule;

use tare_bench::{
    experiment::Rate,
    folder::Header,
    plan::Until,
    record::Record,
    schedule::{StopRule, searches::Searches},
};

/// The stopping rule of a plan.
#[derive(Debug)]
pub enum PlannedRule<'a> {
    Budget,
    Gate(Box<GateRule>),
    Tiers(Box<TiersRule>),
    /// Its searches set the rates, and take as many windows as the plan has.
    Search(Searches<'a>),
}

impl PlannedRule<'_> {
    /// For a run with this head.
    pub fn of(header: &Header) -> PlannedRule<'_> {
        match &header.plan.until {
            Until::Budget => PlannedRule::Budget,
            Until::Gate(_) => PlannedRule::Gate(Box::new(GateRule::new(header))),
            Until::Tiers(tiers) => PlannedRule::Tiers(Box::new(TiersRule::new(&header.plan, tiers))),
            Until::Search(slo) => PlannedRule::Search(Searches::new(slo)),
        }
    }
}

impl StopRule for PlannedRule<'_> {
    fn on_record(&mut self, record: &Record) {
        match self {
            PlannedRule::Budget => {}
            PlannedRule::Gate(rule) => rule.on_record(record),
            PlannedRule::Tiers(rule) => rule.on_record(record),
            PlannedRule::Search(rule) => rule.on_record(record),
        }
    }

    fn is_decided(&mut self) -> bool {
        match self {
            PlannedRule::Budget => false,
            PlannedRule::Gate(rule) => rule.is_decided(),
            PlannedRule::Tiers(rule) => rule.is_decided(),
            PlannedRule::Search(rule) => rule.is_decided(),
        }
    }

    fn rate(&mut self, row: usize, rate: Rate, capacity_per_second: f64) -> Option<f64> {
        match self {
            PlannedRule::Search(rule) => rule.rate(row, rate, capacity_per_second),
            _ => Some(rate.per_second(capacity_per_second)),
        }
    }
}
