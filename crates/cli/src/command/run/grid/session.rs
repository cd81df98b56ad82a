//! A sequential experiment from its plan to its table: build, verify, measure, keep.

use std::sync::{Arc, atomic::Ordering};

use anyhow::{Context, ensure};
use tare_analysis::published;
use tare_bench::{
    grid::{bench::Bench, plan::GridPlan, prepare, schedule},
    run::{
        folder::{Header, Kept, RunFolder},
        plan::PlannedRow,
        record::Record,
    },
};
use tare_report::Document;

use super::{dry, progress::GridProgress};
use crate::command::{report::page, run::session::Session};

impl Session<'_> {
    /// A new run of a sequential experiment.
    pub fn run_sequential(&mut self, mut plan: GridPlan, began: jiff::Timestamp) -> anyhow::Result<Document> {
        let builder = self.workspace.builder();
        self.progress.say("building");
        let Session { rows, supervisor, interrupt, progress, .. } = &mut *self;
        let done = |name: &str| progress.say(&format!("built {name}"));
        prepare::build_all(&mut plan, rows, &builder, supervisor, interrupt, done);
        let proved = |label: &str| self.progress.say(&format!("verified {label}"));
        let contracts = &self.workspace.contracts;
        let (supervisor, interrupt) = (&self.supervisor, &self.interrupt);
        prepare::verify_all(&mut plan, &self.rows, contracts, supervisor, &self.run, interrupt, proved)
            .with_context(|| format!("cannot write to {}", self.run.display()))?;
        // What was not verified must not be resumed as if it had been.
        ensure!(
            !self.interrupt.load(Ordering::Relaxed),
            "interrupted before anything was measured: nothing is kept"
        );
        self.tell_excluded(plan.rows.iter().map(|row| &row.planned));
        let header = self.header(plan, began);
        let rows: Vec<&PlannedRow> = header.plan.rows.iter().map(|row| &row.planned).collect();
        let journal = self.begin(&header, &rows)?;
        self.progress.keep(&format!("measuring for about {}", dry::expected(&header.plan)));
        self.measure_grid(&header, journal, &[])
    }

    /// The rest of one that was cut off.
    pub fn go_on_with_grid(&mut self, kept: &Kept<GridPlan>) -> anyhow::Result<Document> {
        self.is_not_measured_now()?;
        let run = self.run.display();
        let is_complete = published::compute(kept).is_complete();
        ensure!(!is_complete, "{run}: nothing is left to do; `tare show {run}` prints its table");
        let rows: Vec<&PlannedRow> = kept.header.plan.rows.iter().map(|row| &row.planned).collect();
        self.same_builds(&rows)?;
        let journal = RunFolder::reopen(&self.run, kept)?;
        self.measure_grid(&kept.header, journal, &kept.records)
    }

    fn measure_grid(
        &self,
        header: &Header<GridPlan>,
        mut journal: RunFolder,
        past: &[Record],
    ) -> anyhow::Result<Document> {
        let plan = &header.plan;
        let contracts = plan.points.iter().map(|point| {
            let whole = self.workspace.contract(&point.contract)?;
            let lost = || format!("contract \"{}\" has lost a request of \"{}\"", point.contract, point.part);
            point.narrowed(whole).with_context(lost)
        });
        let contracts = contracts.collect::<anyhow::Result<Vec<_>>>()?;
        let services = self.rows.iter().map(|row| row.service.clone()).collect();
        let interrupt = Arc::clone(&self.interrupt);
        let mut bench = Bench::new(plan, services, contracts, &self.supervisor, &self.run, interrupt);
        let mut watch = GridProgress::new(&self.progress, header, past);
        let ended = schedule::run(plan, &mut bench, &mut journal, &mut watch, past);
        self.progress.finish();
        self.kept(ended.map(drop))?;
        page::keep(&self.run, |text| self.progress.keep(text))
    }
}
