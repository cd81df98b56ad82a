//! Progress of a run: lines of text, or on a terminal a view that is drawn at a limited rate.
//!
//! The CPU time of this display is taken from the measurement. So nothing happens within a slice (no thread
//! draws), a view is drawn at most once a second within a block, and the table is computed between blocks,
//! while services are stopped.

use std::time::{Duration, Instant};
use tare_base::units::several;

use tare_analysis::{
    expected::{BLOCKS_ENOUGH, BLOCKS_FEW},
    figures::percent,
};
use tare_bench::{
    folder::Header,
    plan::Plan,
    record::{Block, ChosenBlocks, Record},
    sample::{Sample, SampleOutcome},
    schedule::{Slot, Watch},
};

use super::{
    Progress, duration,
    growth::Growth,
    model::{Model, steady},
    view::{Size, View},
};
use crate::output::paint;
use tare_host::signals;

/// The shortest interval between two drawings within a block.
const DRAWN_EVERY: Duration = Duration::from_secs(1);
/// Computing tables may take one part in this many of the time.
const SHARE: u32 = 100;

/// A view on the terminal, which exists as long as this value.
#[derive(Debug)]
pub(crate) struct Stage<'a> {
    progress: &'a Progress,
    began: Instant,
    drawn: Option<Instant>,
    computed: Option<(Instant, Duration)>,
}

impl<'a> Stage<'a> {
    /// `None` if there is no terminal.
    pub(crate) fn open(progress: &'a Progress) -> Option<Stage<'a>> {
        progress.open().then(|| Stage { progress, began: Instant::now(), drawn: None, computed: None })
    }

    /// Runs `work`, unless it has already taken too much of the time.
    pub(super) fn compute(&mut self, work: impl FnOnce()) {
        let begun = Instant::now();
        if self.computed.is_none_or(|(last, cost)| begun.duration_since(last) >= cost * SHARE) {
            work();
            self.computed = Some((Instant::now(), begun.elapsed()));
        }
    }

    /// Draws the result of `view` for the time since the start. If `hurried`, draws only at the limited rate.
    pub(crate) fn draw(&mut self, hurried: bool, view: impl FnOnce(Duration) -> View) {
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
        // The message of a panic is below the view, and would be erased with it.
        if !std::thread::panicking() {
            self.progress.finish();
        }
    }
}

#[derive(Debug)]
pub(crate) struct RunProgress<'a> {
    progress: &'a Progress,
    plan: &'a Plan,
    began: Instant,
    growth: Growth<'a>,
    /// The time when the first block began.
    pilots_ns: u64,
    stage: Option<(Stage<'a>, Model<'a>)>,
    /// Without a terminal: what the first table is made of, until it is printed.
    early: Option<Model<'a>>,
}

/// After this many blocks the first table is printed: one block has no interval.
const BLOCKS_EARLY: usize = 2;

impl<'a> RunProgress<'a> {
    /// Progress of the run with this head, after the records `past`.
    pub(crate) fn new(progress: &'a Progress, header: &'a Header, past: &[Record]) -> RunProgress<'a> {
        let stage = Stage::open(progress).map(|mut stage| {
            let model = Model::new(header, past);
            stage.draw(false, |elapsed| model.view(elapsed));
            (stage, model)
        });
        let plan = &header.plan;
        let has_table = plan.rows.len() > 2 && plan.slo().is_none() && !plan.is_sequential();
        let early = (stage.is_none() && has_table && past.is_empty()).then(|| Model::new(header, past));
        let said = past.is_empty().then(|| Duration::from_nanos(plan.expected_ns()));
        let growth = Growth::new(plan, said);
        RunProgress { progress, plan, began: Instant::now(), growth, pilots_ns: 0, stage, early }
    }

    fn name(&self, slot: Slot) -> String {
        let (point, row) = (&self.plan.points[slot.point], &self.plan.rows[slot.row]);
        format!("{}, {}", row.label, point.describe())
    }

    /// Warns of few blocks, once the duration of a block is known and the user can still choose a larger
    /// budget.
    fn warn_of_few_blocks(&mut self, record: &Record, left: Duration) {
        let Record::Block(Block { block, elapsed_ns, .. }) = record else { return };
        match block {
            0 => self.pilots_ns = *elapsed_ns,
            // A search also has an interval if it has few starts.
            1 if self.plan.blocks().is_bound && self.plan.slo().is_none() => {
                if let Some(note) = too_few(self.pilots_ns, elapsed_ns.saturating_sub(self.pilots_ns), left) {
                    self.progress.keep(&note);
                }
            }
            _ => {}
        }
    }

    /// Prints the table of the first blocks, once. Services are stopped then.
    fn print_early(&mut self, record: &Record, left: Duration) {
        let Some(model) = &mut self.early else { return };
        model.on_record(record, left);
        if matches!(record, Record::Block(Block { block, .. }) if *block >= BLOCKS_EARLY * self.plan.groups())
        {
            model.compute();
            let all = Size { columns: 110, lines: u16::MAX };
            let lines = model.view(self.began.elapsed()).lines(all, false);
            self.progress.keep(&lines.join("\n"));
            self.early = None;
        }
    }

    /// Prints the result of a sample that is a run of its own.
    fn report_outcome(&self, sample: &Sample) {
        let name = || self.name(Slot::of(sample));
        match &sample.outcome {
            SampleOutcome::Measured => {}
            SampleOutcome::Hung(hung) => {
                self.progress.keep(&format!("{} {}: {hung}", paint("31", "x"), name()))
            }
            SampleOutcome::Failed { reason } => {
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
        self.warn_of_few_blocks(record, left);
        if !self.plan.is_sequential()
            && let Some(grown) = self.growth.on_record(record, self.began.elapsed(), left)
        {
            self.progress.keep(&format!("{} {grown}", paint("33", "note:")));
        }
        self.print_early(record, left);
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

/// The warning after the first block if the budget has room for few blocks.
fn too_few(pilots_ns: u64, block_ns: u64, left: Duration) -> Option<String> {
    let block = Duration::from_nanos(block_ns.max(1));
    let fit = 1 + u64::try_from(left.as_nanos() / block.as_nanos()).unwrap_or(u64::MAX);
    let enough =
        Duration::from_nanos(pilots_ns.saturating_add(block_ns.saturating_mul(BLOCKS_ENOUGH as u64)));
    // Rounded up to steps of 10 s.
    let budget_s = enough.as_secs().div_ceil(10) * 10;
    (fit < BLOCKS_FEW as u64).then(|| {
        format!(
            "{} about {} of {} fit into the budget, which is few for an interval; --budget {budget_s}s has room for \
             {BLOCKS_ENOUGH}",
            paint("33", "note:"),
            several(fit, "block"),
            duration(block)
        )
    })
}

/// How the time is divided into blocks, and the expected precision.
fn divided(chosen: &ChosenBlocks) -> String {
    let blocks = format!("{} of {}", several(chosen.blocks_max, "block"), several(chosen.slices, "slice"));
    match chosen.half_width_expected {
        Some(half) => format!("{blocks}, expected to give CPU/request within ±{}", percent(half)),
        None => blocks,
    }
}

fn tell(progress: &Progress, plan: &Plan, record: &Record, left: Duration) {
    let label = |row: usize| &plan.rows[row].label;
    let left = format!("about {} left", duration(left));
    let said = match record {
        // It includes the results of the pilots.
        Record::Block(Block { block: 0, chosen, .. }) => {
            let chosen = chosen.as_ref().map_or(String::new(), |chosen| format!("; {}", divided(chosen)));
            return progress.announce(&format!("measuring: {left}{chosen}"));
        }
        Record::Failed(failed) => {
            let (row, reason) = (label(failed.row), &failed.reason);
            return progress.keep(&format!("{} {row}: {reason}", paint("31", "failed")));
        }
        Record::Discarded(slice) => {
            let (row, reasons) = (label(slice.row), slice.reasons.join("; "));
            let place = format!("{row}, block {}, round {}", slice.block + 1, slice.round + 1);
            return progress.keep(&format!("{} {place}: {reasons}", paint("33", "discarded")));
        }
        Record::Ended(_) => return,
        Record::Pilot(pilot) => format!("warm-up of {}: {}", label(pilot.row), steady(pilot)),
        Record::Block(Block { block, order, .. }) => {
            format!("block {}: starting {}", block + 1, several(order.len(), "service"))
        }
        Record::Started(started) => format!("block {}: {} is ready", started.block + 1, label(started.row)),
        Record::Sample(slice) => {
            format!("block {}, round {}: {}", slice.block + 1, slice.round + 1, label(slice.row))
        }
        Record::Stopped(stopped) => format!("block {}: {} stopped", stopped.block + 1, label(stopped.row)),
    };
    progress.say(&format!("{said}; {left}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_blocks_are_announced_with_a_budget_that_has_room_for_more() {
        let second = 1_000_000_000;
        let note = too_few(13 * second, 17 * second, Duration::from_secs(60)).unwrap();
        assert!(note.ends_with("about 4 blocks of 17 s fit into the budget, which is few for an interval; --budget 220s has room for 12"));
        assert_eq!(too_few(13 * second, 2 * second, Duration::from_secs(60)), None);
        assert!(too_few(0, 0, Duration::ZERO).is_some(), "nothing is divided by nothing");
    }
}
