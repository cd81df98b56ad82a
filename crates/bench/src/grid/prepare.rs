//! Before a sequential experiment is measured: every row is built, and proved against each contract of the points that it takes part in.

use std::{collections::BTreeMap, io, path::Path, sync::atomic::AtomicBool};

use super::{
    Cell, Layout,
    plan::{Counted, GridPlan},
};
use crate::run::{
    plan::Exclusion,
    prepare::{self, Candidate},
};
use tare_host::process::Supervisor;
use tare_service::{
    build::Builder,
    catalogue::{Row, Service},
    contract::Contract,
    footprint::{Footprint, Kept, Releases},
    settings::ServiceSettings,
};

/// Builds the rows of `plan` and enters the reported versions; rows that cannot be built are excluded. `after` is called with
/// the name of each.
pub fn build_all(
    plan: &mut GridPlan,
    rows: &mut [Row],
    builder: &Builder,
    supervisor: &Supervisor,
    interrupt: &AtomicBool,
    after: impl Fn(&str) + Sync,
) {
    let planned = plan.rows.iter_mut().map(|row| &mut row.planned);
    prepare::build_all(planned, rows, builder, supervisor, interrupt, after);
    if plan.layout == Layout::Makespan {
        for (planned, row) in plan.rows.iter_mut().zip(rows.iter()) {
            planned.counted = Counted::of(&row.service, builder);
        }
    }
}

impl Counted {
    /// Of the service as it was built last; its own code only where it was not.
    fn of(service: &Service, builder: &Builder) -> Counted {
        let last = builder.last(service);
        let nothing = (&Releases::default(), &Kept::new(Path::new("")));
        let aspects = Footprint::read(service, last.as_ref(), nothing.0, nothing.1);
        Counted {
            packages_direct: aspects.dependencies.direct,
            packages_total: aspects.dependencies.total,
            code_lines: aspects.code.map(|code| code.lines),
            build_s: aspects.build.map(|cost| cost.seconds),
        }
    }
}

/// Proves the rows of `plan` that were built. One that fails is excluded, or, where it is measured as it was published, keeps
/// what is wrong with it.
pub fn verify_all(
    plan: &mut GridPlan,
    rows: &[Row],
    contracts: &BTreeMap<String, Contract>,
    supervisor: &Supervisor,
    run: &Path,
    interrupt: &AtomicBool,
    after: impl Fn(&str) + Sync,
) -> io::Result<()> {
    let mut wanted: BTreeMap<(usize, &str), ServiceSettings> = BTreeMap::new();
    for (place, point) in plan.points.iter().enumerate() {
        for row in plan.members(point) {
            let service_settings = plan.service_settings(Cell { round: 0, point: place, row });
            wanted.entry((row, &point.contract)).or_insert(service_settings);
        }
    }
    let mut candidates = Vec::new();
    for ((row, contract), service_settings) in &wanted {
        let (row, label) = (*row, plan.rows[*row].planned.label.as_str());
        let Some(contract) = contracts.get(*contract) else { continue };
        candidates.push(Candidate { row, label, service: &rows[row].service, contract, service_settings });
    }
    let found = prepare::verify_each(&candidates, plan.seed, supervisor, run, interrupt, after)?;
    for (row, excluded) in found.into_iter().filter_map(|(row, excluded)| Some((row, excluded?))) {
        let row = &mut plan.rows[row];
        if row.as_published && excluded.why == Exclusion::AgainstItsContract {
            row.complaint = Some(excluded.reason);
        } else {
            row.planned.excluded = Some(excluded);
        }
    }
    Ok(())
}
