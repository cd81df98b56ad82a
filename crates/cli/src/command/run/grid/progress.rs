//! The progress of a sequential experiment, on stderr.

use std::time::Duration;

use tare_bench::{
    grid::{Cell, plan::GridPlan, schedule::Watch},
    run::{folder::Header, record::Record},
    sample::{Outcome, Sample},
};

use crate::{
    output::paint,
    progress::{Progress, Stage, duration, model::Grid},
};

/// Tells of each cell.
pub struct GridProgress<'a> {
    progress: &'a Progress,
    plan: &'a GridPlan,
    stage: Option<(Stage<'a>, Grid)>,
}

impl<'a> GridProgress<'a> {
    /// Of the sequential experiment with this head, after `past`.
    pub fn new(progress: &'a Progress, header: &'a Header<GridPlan>, past: &[Record]) -> GridProgress<'a> {
        let stage = Stage::open(progress).map(|stage| (stage, Grid::new(header, past)));
        GridProgress { progress, plan: &header.plan, stage }
    }

    fn name(&self, cell: Cell) -> String {
        let (point, row) = (&self.plan.points[cell.point], &self.plan.rows[cell.row]);
        format!("{}, {}", row.planned.label, point.describe())
    }
}

impl Watch for GridProgress<'_> {
    fn begins(&mut self, cell: Cell, done: usize, left: Duration) {
        let (all, about) = (self.plan.cells(), duration(left));
        self.progress.say(&format!("cell {} of {all}, about {about} left: {}", done + 1, self.name(cell)));
        if let Some((stage, grid)) = &mut self.stage {
            grid.begin(cell, done, left);
            stage.draw(false, |elapsed| grid.view(elapsed));
        }
    }

    fn ended(&mut self, sample: &Sample) {
        let name = || self.name(Cell::of(sample));
        match &sample.outcome {
            Outcome::Measured => {}
            Outcome::Hung(hung) => self.progress.keep(&format!("{} {}: {hung}", paint("31", "x"), name())),
            Outcome::Failed { reason } => {
                self.progress.keep(&format!("{} {}: {reason}", paint("31", "failed"), name()));
            }
        }
        if let Some((stage, grid)) = &mut self.stage {
            grid.hear(sample);
            stage.compute(|| grid.compute());
        }
    }
}
