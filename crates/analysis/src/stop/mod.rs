//! Stopping rules: when a run has answered its question. A rule depends on the records only, and looks only
//! after planned blocks, so that a resumed or replayed run gets the same answer.

mod apart;
mod gate;
mod precision;
mod ranks;

use apart::ApartRule;
use gate::GateRule;
use precision::PrecisionRule;
use ranks::RanksRule;

use tare_bench::{
    experiment::Rate,
    folder::Header,
    plan::Until,
    record::Record,
    schedule::{StopRule, searches::Searches},
};

/// The stopping rule of a plan.
#[expect(missing_debug_implementations, reason = "a trait object has none")]
pub struct PlannedRule<'a>(Box<dyn StopRule + 'a>);

impl PlannedRule<'_> {
    /// For a run with this head.
    pub fn of(header: &Header) -> PlannedRule<'_> {
        PlannedRule(match &header.plan.until {
            Until::Budget => Box::new(()),
            Until::Precision(precision) => Box::new(PrecisionRule::new(header, *precision)),
            Until::Gate(_) => Box::new(GateRule::new(header)),
            Until::Apart(_) => Box::new(ApartRule::new(header)),
            Until::Ranks(ranks) => Box::new(RanksRule::new(header, ranks)),
            // Its searches set the rates, and take the planned number of windows.
            Until::Search(slo) => Box::new(Searches::new(slo)),
        })
    }
}

impl StopRule for PlannedRule<'_> {
    fn on_record(&mut self, record: &Record) {
        self.0.on_record(record);
    }

    fn is_decided(&mut self) -> bool {
        self.0.is_decided()
    }

    fn rate(&mut self, row: usize, rate: Rate, capacity_per_second: f64) -> Option<f64> {
        self.0.rate(row, rate, capacity_per_second)
    }
}
