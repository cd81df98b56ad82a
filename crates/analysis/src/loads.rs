//! The loads of a run, one table for each. What a table is made of is the run as if it had that load only.

use tare_bench::{experiment::LoadSetting, run::folder::Kept};

use crate::{
    checks::{Check, of_table},
    report::{self, Report},
};

/// What the services did under one load.
#[derive(Debug, Clone)]
pub struct AtLoad {
    /// Its place in the plan.
    pub place: usize,
    pub load: LoadSetting,
    pub report: Report,
}

/// All loads of a run in the order of the plan.
pub fn compute(kept: &Kept) -> Vec<AtLoad> {
    let loads = kept.header.plan.loads.iter().enumerate();
    let at = |(place, load): (usize, &LoadSetting)| AtLoad {
        place,
        load: load.clone(),
        report: report::compute(&kept.at_load(place)),
    };
    loads.map(at).collect()
}

/// That each row has figures under every load. If there is one load, its name is no part of the check's.
pub fn checks(loads: &[AtLoad]) -> Vec<Check> {
    let named = |at: &AtLoad| {
        let name = |check: Check| match loads.len() {
            1 => check,
            _ => Check { name: format!("{} at {}", check.name, at.load.label()), ..check },
        };
        of_table(&at.report).into_iter().map(name).collect::<Vec<_>>()
    };
    loads.iter().flat_map(named).collect()
}
