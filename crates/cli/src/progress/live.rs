//! Progress of a run: lines of text, or on a terminal a view that is drawn at most every so often.
//!
//! What this costs in CPU time is taken from the measurement. So nothing happens within a slice (there is no thread that
//! draws), within a block a view is drawn once a second at most, and the table is computed between blocks, while services
//! stand still.

use std::time::{Duration, Instant};

use tare_bench::{
    folder::Header,
    plan::Plan,
    record::{Block, Record},
    sample::{Outcome, Sample},
    schedule::{Slot, Watch},
};

use super::{
    Progress, duration,
    model::{Model, steady},
    view::View,
};
use crate::output::paint;
use tare_host::signals;

/// Within a block a view is drawn at most this often.
const DRAWN_EVERY: Duration = Duration::from_secs(1);
/// Computing a table may take this part of the time.
const SHARE: u32 = 100;

/// A view on the terminal, for as long as this lives.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    progress: &'a Progress,
    began: Instant,
    drawn: Option<Instant>,
    computed: Option<(Instant, Duration)>,
}

impl<'a> Stage<'a> {
    /// Absent if there is no terminal.
    pub(super) fn open(progress: &'a Progress) -> Option<Stage<'a>> {
        progress.open().then(|| Stage { progress, began: Instant::now(), drawn: None, computed: None })
    }

    /// Carries `work` out, unless it has taken too much of the time.
    pub(super) fn compute(&mut self, work: impl FnOnce()) {
        let begun = Instant::now();
        if self.computed.is_none_or(|(last, cost)| begun.duration_since(last) >= cost * SHARE) {
            work();
            self.computed = Some((Instant::now(), begun.elapsed()));
        }
    }

    /// Draws what `view` makes of the time since this began. Where it is `hurried`, only if that is not too often.
    pub(super) fn draw(&mut self, hurried: bool, view: impl FnOnce(Duration) -> View) {
        if hurried && self.drawn.is_some_and(|last| last.elapsed() < DRAWN_EVERY) {
            return;
        }
        let mut view = view(self.began.elapsed());
        if signals::received().is_some() {
            view.place = "interrupted: stopping what still runs".to_owned();
        }
        self.progress.show(&view);
        self.drawn = Some(Instant::now());
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        // What a panic says stands below the view, and would go with it.
        if !std::thread::panicking() {
            self.progress.finish();
        }
    }
}

#[derive(Debug)]
pub(crate) struct RunProgress<'a> {
    progress: &'a Progress,
    plan: &'a Plan,
    stage: Option<(Stage<'a>, Model<'a>)>,
}

impl<'a> RunProgress<'a> {
    /// Of the run with this head, after `past`.
    pub(crate) fn new(progress: &'a Progress, header: &'a Header, past: &[Record]) -> RunProgress<'a> {
        let stage = Stage::open(progress).map(|mut stage| {
            let model = Model::new(header, past);
            stage.draw(false, |elapsed| model.view(elapsed));
            (stage, model)
        });
        RunProgress { progress, plan: &header.plan, stage }
    }

    fn name(&self, slot: Slot) -> String {
        let (point, row) = (&self.plan.points[slot.point], &self.plan.rows[slot.row]);
        format!("{}, {}", row.label, point.describe())
    }

    /// What stays on the screen of a sample that is a run of its own.
    fn report_outcome(&self, sample: &Sample) {
        let name = || self.name(Slot::of(sample));
        match &sample.outcome {
            Outcome::Measured => {}
            Outcome::Hung(hung) => self.progress.keep(&format!("{} {}: {hung}", paint("31", "x"), name())),
            Outcome::Failed { reason } => {
                self.progress.keep(&format!("{} {}: {reason}", paint("31", "failed"), name()));
            }
        }
    }
}

impl Watch for RunProgress<'_> {
    fn begins(&mut self, slot: Slot, done: usize, left: Duration) {
        let (all, about) = (self.plan.samples(), duration(left));
        self.progress.say(&format!("sample {} of {all}, about {about} left: {}", done + 1, self.name(slot)));
        if let Some((stage, model)) = &mut self.stage {
            model.begin(slot, done, left);
            stage.draw(false, |elapsed| model.view(elapsed));
        }
    }

    fn on_record(&mut self, record: &Record, left: Duration) {
        match record {
            Record::Sample(sample) if self.plan.is_sequential() => self.report_outcome(sample),
            _ => tell(self.progress, self.plan, record, left),
        }
        let Some((stage, model)) = &mut self.stage else { return };
        model.on_record(record, left);
        if model.has_more_to_compute(record) {
            stage.compute(|| model.compute());
        }
        if !matches!(record, Record::Ended(_)) && !self.plan.is_sequential() {
            stage.draw(matches!(record, Record::Sample(_)), |elapsed| model.view(elapsed));
        }
    }
}

fn tell(progress: &Progress, plan: &Plan, record: &Record, left: Duration) {
    let label = |row: usize| &plan.rows[row].label;
    let left = format!("about {} left", duration(left));
    let said = match record {
        // What the pilots have found is in it.
        Record::Block(Block { block: 0, .. }) => return progress.keep(&format!("measuring: {left}")),
        Record::Failed(failed) => {
            let (row, reason) = (label(failed.row), &failed.reason);
            return progress.keep(&format!("{} {row}: {reason}", paint("31", "failed")));
        }
        Record::Ended(_) => return,
        Record::Pilot(pilot) => format!("warm-up of {}: {}", label(pilot.row), steady(pilot)),
        Record::Block(Block { block, order, .. }) => {
            format!("block {}: starting {} services", block + 1, order.len())
        }
        Record::Started(started) => format!("block {}: {} is ready", started.block + 1, label(started.row)),
        Record::Sample(slice) => {
            format!("block {}, round {}: {}", slice.block + 1, slice.round + 1, label(slice.row))
        }
        Record::Stopped(stopped) => format!("block {}: {} stopped", stopped.block + 1, label(stopped.row)),
    };
    progress.say(&format!("{said}; {left}"));
}
