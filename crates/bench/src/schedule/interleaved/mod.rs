//! Blocks of fresh starts and rounds of short slices in random order, until the budget or a rule ends them.

use std::{collections::BTreeMap, time::Duration};

use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

use super::{
    Capacity, CutOff, Executor, ExecutorError, InstrumentFailure, Parts, ResumeState, RowFailure, Slot,
    StartCost, StopRule, Watch, blocks_per_start, division,
};
use crate::{
    plan::{BlockCosts, Division, Plan, Until},
    record::{Block, EndedRun, Ending, Failed, Journal, Pilot, Record, Started, StoppedService},
    sample::LoadResult,
};

pub(super) fn run<E: Executor, J: Journal, W: Watch, D: StopRule>(
    plan: &Plan,
    parts: Parts<'_, E, J, W, D>,
    past: &[Record],
) -> Result<Ending, CutOff> {
    let began_ns = parts.executor.now_ns();
    past.iter().for_each(|record| parts.stop_rule.on_record(record));
    let past = ResumeState::of(plan, past);
    Runner {
        plan,
        parts,
        running: BTreeMap::new(),
        blocks_ns: past.elapsed_ns - past.pilots_ns,
        past,
        capacity: BTreeMap::new(),
        unanswered: BTreeMap::new(),
        began_ns,
        division: plan.division_expected(),
        planned: PlannedSums::default(),
    }
    .run()
}

/// A row is excluded after this number of consecutive slices that waited for unanswered requests.
const UNANSWERED_SLICES_MAX: usize = 5;
/// A reference that warms up within this time is measured beside the pilots of the others.
const WARM_AT_ONCE_NS: u64 = 1_000_000_000;

struct Runner<'a, E, J, W, D> {
    plan: &'a Plan,
    parts: Parts<'a, E, J, W, D>,
    /// Rows with a process, each with the latest block that it took part in.
    running: BTreeMap<usize, usize>,
    past: ResumeState,
    /// Capacity of each row in the closed loops of this block, under the first load.
    capacity: BTreeMap<usize, Capacity>,
    /// Consecutive closed loops of each row that left requests unanswered.
    unanswered: BTreeMap<usize, usize>,
    began_ns: u64,
    /// Duration of all finished blocks.
    blocks_ns: u64,
    /// An estimate until the pilots are over, then a function of their results, also after a resume.
    division: Division,
    planned: PlannedSums,
}

/// Cumulative planned durations of blocks, cached. Each record needs the sum over dozens of blocks with a
/// start of each row, which would otherwise dominate the schedule's cost.
#[derive(Debug, Default)]
struct PlannedSums {
    /// The inputs of the cache: excluded rows, pilots, and the division. Rows are only ever added.
    by: Option<(usize, usize, Division)>,
    /// Sums over the first block, the first two, and so on.
    ns: Vec<u64>,
}

impl<E: Executor, J: Journal, W: Watch, D: StopRule> Runner<'_, E, J, W, D> {
    fn run(mut self) -> Result<Ending, CutOff> {
        let outcome = self.blocks();
        // Stops every process that was started, whatever happened.
        let stopped = self.stop(|_, _| true);
        for row in self.plan.members() {
            self.parts.executor.release(row);
        }
        let reason = outcome?;
        stopped?;
        let elapsed_ns = self.elapsed_ns();
        self.keep(Record::Ended(EndedRun { reason, elapsed_ns }))?;
        Ok(reason)
    }

    fn blocks(&mut self) -> Result<Ending, CutOff> {
        self.pilots()?;
        let pilots_ns = if self.past.blocks > 0 { self.past.pilots_ns } else { self.elapsed_ns() };
        let left_ns = self.plan.blocks().budget_ns.saturating_sub(pilots_ns);
        let spread = self.past.noise.spread();
        self.division = division(self.plan, spread, |row| self.start(row), left_ns);
        // A resumed run keeps its original looks.
        if self.past.blocks == 0 && self.plan.chooses_looks() {
            self.past.chosen = Some(self.plan.chosen(self.division, spread));
        }
        loop {
            if let Some(reason) = self.ending() {
                return Ok(reason);
            }
            let block = self.past.blocks;
            self.block(block)?;
            // A process that lasts for several blocks waits while other groups are measured.
            let group = self.plan.group(block);
            self.stop(|runner, row| group.contains(&row) && !runner.lasts_beyond(row, block))?;
            self.past.blocks += 1;
            self.blocks_ns = self.elapsed_ns() - self.past.pilots_ns;
        }
    }

    /// Whether nothing more may begin, not even a slice.
    fn is_over(&self) -> bool {
        let blocks = self.plan.blocks();
        self.parts.executor.interrupted() || (blocks.is_bound && self.elapsed_ns() >= blocks.budget_ns)
    }

    fn elapsed_ns(&self) -> u64 {
        self.past.elapsed_ns + self.parts.executor.now_ns() - self.began_ns
    }

    /// Before the first block, pilots every service that has none yet, if the plan has pilots.
    fn pilots(&mut self) -> Result<(), CutOff> {
        if self.plan.blocks().warm_up_ns_max.is_none() {
            return Ok(());
        }
        // The reference first, because the others are piloted beside it.
        let (reference, others): (Vec<usize>, Vec<usize>) =
            self.alive().into_iter().partition(|row| self.is_reference(*row));
        // A twin uses the result of its original.
        let others = others.into_iter().filter(|row| self.plan.original_of(*row).is_none());
        for row in reference.into_iter().chain(others) {
            if self.past.starts.contains_key(&row) || self.is_over() {
                continue;
            }
            let beside =
                self.alive().into_iter().find(|other| self.is_warm_reference(*other) && *other != row);
            match self.parts.executor.pilot(row, beside) {
                Ok(pilot) => self.use_pilot(Pilot { row, ..pilot })?,
                Err(failure) => self.fail(row, 0, failure)?,
            }
        }
        Ok(())
    }

    /// Keeps the pilot's process for the first block, if that saves time. Interrupted pilots are repeated.
    fn use_pilot(&mut self, mut pilot: Pilot) -> Result<(), CutOff> {
        let row = pilot.row;
        let is_cut_short = self.parts.executor.interrupted();
        if is_cut_short || !StartCost::of(self.plan, &pilot).keeps_pilot() {
            pilot.start_ns += self.parts.executor.release(row);
        }
        if is_cut_short {
            return Ok(());
        }
        self.past.learn(self.plan, &pilot);
        self.keep(Record::Pilot(pilot))
    }

    fn is_reference(&self, row: usize) -> bool {
        self.plan.is_reference(&self.plan.rows[row].label)
    }

    /// Whether it is the reference, and warm so quickly that it is stable beside other pilots.
    fn is_warm_reference(&self, row: usize) -> bool {
        let start = self.past.starts.get(&row);
        self.is_reference(row) && start.is_some_and(|start| start.warm_up_ns <= WARM_AT_ONCE_NS)
    }

    /// Planned duration of a block by the pilots' results, without excluded rows.
    fn planned_ns(&self, block: usize) -> u64 {
        let mut group = self.plan.group(block);
        group.retain(|row| !self.past.out.contains(row));
        let starts =
            group.iter().map(|row| self.start(*row).ns_per_block(self.plan, self.blocks_per_start(*row)));
        let costs = BlockCosts { rows: group.len(), starts_ns: starts.sum(), left_ns: 0 };
        let is_first = block < self.plan.groups();
        let saved_ns = group.iter().filter(|_| is_first).map(|row| self.start(*row).saved_ns).sum();
        self.plan.block_ns(&costs, self.division.slices).saturating_sub(saved_ns)
    }

    /// Planned duration of the first `blocks` blocks.
    fn planned_until_ns(&mut self, blocks: usize) -> u64 {
        let by = Some((self.past.out.len(), self.past.starts.len(), self.division));
        if self.planned.by != by {
            self.planned = PlannedSums { by, ns: Vec::new() };
        }
        for block in self.planned.ns.len()..blocks {
            let before_ns = self.planned.ns.last().copied().unwrap_or(0);
            let block_ns = self.planned_ns(block);
            self.planned.ns.push(before_ns + block_ns);
        }
        blocks.checked_sub(1).map_or(0, |last| self.planned.ns[last])
    }

    /// Expected duration of the next blocks. Groups differ, because one may have five slow starters and
    /// another none. The ratio of actual to planned time of earlier blocks scales the plan.
    fn next_ns(&mut self, blocks: usize) -> u64 {
        let done = self.past.blocks;
        let so_far_ns = self.planned_until_ns(done);
        let then_ns = self.planned_until_ns(done + blocks) - so_far_ns;
        let times = if so_far_ns > 0 { self.blocks_ns as f64 / so_far_ns as f64 } else { 1.0 };
        (then_ns as f64 * times) as u64
    }

    fn ending(&mut self) -> Option<Ending> {
        let alive = self.alive();
        // Blocks of each row: a cycle of groups is one block of all.
        let done = self.past.blocks / self.plan.groups();
        if self.parts.executor.interrupted() {
            Some(Ending::Interrupted)
        } else if alive.is_empty() || self.only_the_reference_survived(&alive) {
            Some(Ending::NothingLeft)
        } else if done >= self.past.chosen.map_or(self.plan.blocks().max, |chosen| chosen.blocks_max) {
            Some(Ending::BlocksMax)
        } else if self.past.blocks > 0 && self.parts.stop_rule.is_decided() {
            Some(Ending::Decided)
        } else if self.is_over() || (self.may_end(done) && !self.has_time_for_a_block()) {
            Some(Ending::BudgetSpent)
        } else {
            None
        }
    }

    /// Whether the run may end after this number of blocks of each row. A bounded run needs only one block.
    fn may_end(&self, done: usize) -> bool {
        let blocks = self.plan.blocks();
        done >= blocks.min || (blocks.is_bound && self.past.blocks > 0)
    }

    fn has_time_for_a_block(&mut self) -> bool {
        self.elapsed_ns() + self.next_ns(1) <= self.plan.blocks().budget_ns
    }

    /// Whether only the reference is left after failures. (A run planned with the reference alone continues.)
    fn only_the_reference_survived(&self, alive: &[usize]) -> bool {
        !self.past.out.is_empty() && alive.iter().all(|row| self.plan.is_of_reference(*row))
    }

    fn alive(&self) -> Vec<usize> {
        self.plan.members().filter(|row| !self.past.out.contains(row)).collect()
    }

    /// One random stream per block, so that its order does not depend on earlier blocks.
    fn random(&self, block: usize) -> ChaCha8Rng {
        let mut random = ChaCha8Rng::seed_from_u64(self.plan.seed);
        random.set_stream(block as u64);
        random
    }

    fn block(&mut self, block: usize) -> Result<(), CutOff> {
        let mut random = self.random(block);
        let mut order = self.plan.group(block);
        order.retain(|row| !self.past.out.contains(row));
        order.shuffle(&mut random);
        let elapsed_ns = self.elapsed_ns();
        if block == 0 {
            self.past.pilots_ns = elapsed_ns;
        }
        let chosen = self.past.chosen;
        self.keep(Record::Block(Block { block, order: order.clone(), elapsed_ns, chosen }))?;
        for &row in &order {
            if self.is_over() {
                return Ok(());
            }
            self.make_ready(row, block)?;
        }
        self.closed_loops(block, &mut order, &mut random)?;
        self.open_loops(block, &order, &mut random)
    }

    fn start(&self, row: usize) -> StartCost {
        let of_original = || self.past.starts.get(&self.plan.original_of(row)?);
        let known = self.past.starts.get(&row).or_else(of_original);
        let own = known.copied().unwrap_or_else(|| StartCost::guess(self.plan));
        if !self.plan.compares_versions() {
            return own;
        }
        let longest_ns = self.past.starts.values().map(|start| start.warm_up_ns).max();
        StartCost { warm_up_ns: longest_ns.unwrap_or(own.warm_up_ns), ..own }
    }

    /// Whether a row's process in this block also serves its next one: the next cycle, or the next block for
    /// the reference.
    fn lasts_beyond(&self, row: usize, block: usize) -> bool {
        let before = if self.is_reference(row) { block } else { block / self.plan.groups() };
        !(before + 1).is_multiple_of(self.blocks_per_start(row))
    }

    fn blocks_per_start(&self, row: usize) -> usize {
        blocks_per_start(self.plan, self.division, self.start(row))
    }

    /// Starts a fresh process, or warms the kept one up again.
    fn make_ready(&mut self, row: usize, block: usize) -> Result<(), CutOff> {
        if let Some(latest) = self.running.get_mut(&row) {
            *latest = block;
            let woken = self.parts.executor.wake(row, self.plan.warm_up_ns());
            return woken.or_else(|failure| self.fail(row, block, failure));
        }
        let slot = Slot { block, round: 0, point: 0, row };
        match self.parts.executor.start(slot, self.start(row).warm_up_ns) {
            Ok(start_up) => {
                self.running.insert(row, block);
                let start_up_ns = start_up.map(|time| time.as_nanos() as u64);
                self.keep(Record::Started(Started { block, row, start_up_ns }))
            }
            Err(failure) => self.fail(row, block, failure),
        }
    }

    /// Loads are interleaved like rows, so that disturbances affect all of them.
    fn closed_loops(
        &mut self,
        block: usize,
        order: &mut Vec<usize>,
        random: &mut ChaCha8Rng,
    ) -> Result<(), CutOff> {
        self.capacity.clear();
        let plan = self.plan;
        let mut pairs: Vec<(usize, usize)> =
            order.iter().flat_map(|row| plan.closed_loops().map(move |point| (*row, point))).collect();
        for round in 0..self.division.slices {
            pairs.shuffle(random);
            for &(row, point) in &pairs {
                let draw = rand::Rng::next_u64(random);
                self.slice(Slot { block, round, point, row }, draw, None)?;
            }
        }
        *order = pairs.into_iter().filter(|(_, point)| *point == 0).map(|(row, _)| row).collect();
        Ok(())
    }

    /// Runs after the closed loops of the block, because their capacity sets the rates.
    fn open_loops(&mut self, block: usize, order: &[usize], random: &mut ChaCha8Rng) -> Result<(), CutOff> {
        let plan = self.plan;
        let mut pairs: Vec<_> =
            plan.rates().flat_map(|point| order.iter().map(move |row| (point, *row))).collect();
        let rounds = pairs.first().map_or(0, |((point, _), _)| plan.points[*point].rounds);
        for round in 0..rounds {
            pairs.shuffle(random);
            for &((point, rate), row) in &pairs {
                let draw = rand::Rng::next_u64(random);
                // A row whose closed loops in this block were all discarded has no capacity.
                let Some(capacity) = self.capacity.get(&row).map(Capacity::per_second) else { continue };
                if let Some(per_second) = self.parts.stop_rule.rate(row, rate, capacity) {
                    self.slice(Slot { block, round, point, row }, draw, Some(per_second))?;
                }
            }
        }
        Ok(())
    }

    fn slice(&mut self, slot: Slot, draw: u64, per_second: Option<f64>) -> Result<(), CutOff> {
        if self.past.out.contains(&slot.row) || self.is_over() {
            return Ok(());
        }
        match self.parts.executor.sample(slot, draw, per_second) {
            Ok(sample) => {
                let sample = slot.fill(sample, per_second);
                if slot.point == 0 {
                    self.capacity.entry(slot.row).or_default().add(&sample.load);
                }
                let hangs = per_second.is_none().then(|| self.hangs(slot.row, &sample.load)).flatten();
                self.keep(Record::Sample(Box::new(sample)))?;
                hangs.map_or(Ok(()), |failure| self.leave_out(slot, failure))
            }
            Err(ExecutorError::Slice(discarded)) => {
                self.keep(Record::Discarded(slot.fill_discarded(*discarded, per_second)))
            }
            Err(failure) => self.fail(slot.row, slot.block, failure),
        }
    }

    /// Why a row is excluded after this closed loop, if so.
    fn hangs(&mut self, row: usize, load: &LoadResult) -> Option<RowFailure> {
        let slices = self.unanswered.entry(row).or_default();
        *slices = if load.in_flight > 0 { *slices + 1 } else { 0 };
        (*slices >= UNANSWERED_SLICES_MAX).then(|| {
            let waited = Duration::from_nanos(load.elapsed_ns.saturating_sub(load.window_ns));
            RowFailure(format!(
                "{UNANSWERED_SLICES_MAX} slices one after the other left requests without an answer; in the last one {} of {} \
                 were waited for until {:.1} s after its end",
                load.in_flight,
                load.sent,
                waited.as_secs_f64()
            ))
        })
    }

    /// Stops its process, ignoring errors, and records the failure.
    fn leave_out(&mut self, slot: Slot, failure: RowFailure) -> Result<(), CutOff> {
        let _it_is_out_anyway = self.parts.executor.stop(slot.row, slot.block);
        self.fail(slot.row, slot.block, failure.into())
    }

    /// Stops the rows that are `due`, even if the journal fails.
    fn stop(&mut self, due: impl Fn(&Self, usize) -> bool) -> Result<(), CutOff> {
        let mut kept = Ok(());
        let rows: Vec<_> = self.running.clone().into_iter().filter(|(row, _)| due(self, *row)).collect();
        for (row, block) in rows {
            self.running.remove(&row);
            let result = match self.parts.executor.stop(row, block) {
                Ok(stopped) => self.keep(Record::Stopped(StoppedService { block, row, ..stopped })),
                Err(failure) => self.fail(row, block, failure),
            };
            kept = kept.and(result);
        }
        kept
    }

    /// Excludes a failed service. A failure of the instrument cuts the run off instead.
    fn fail(&mut self, row: usize, block: usize, error: ExecutorError) -> Result<(), CutOff> {
        self.running.remove(&row);
        let RowFailure(reason) = match error {
            ExecutorError::Row(failure) => failure,
            ExecutorError::Instrument(failure) => return Err(failure.into()),
            ExecutorError::Slice(discarded) => {
                return Err(InstrumentFailure(discarded.reasons.join("; ")).into());
            }
        };
        // An interrupt may disturb a service, so a resumed run measures the row again.
        if self.parts.executor.interrupted() {
            return Ok(());
        }
        self.past.out.insert(row);
        self.keep(Record::Failed(Failed { block, row, reason }))
    }

    /// Remaining time. Runs with a chosen division, and searches, measure all of their planned blocks.
    fn left_ns(&mut self) -> u64 {
        let plan = self.plan;
        let chose_its_blocks = plan.blocks().spread.is_some() && plan.until == Until::Budget;
        if !chose_its_blocks && plan.slo().is_none() {
            let block_ns = self.next_ns(plan.groups()) / plan.groups() as u64;
            return plan.left_ns(self.past.blocks, self.elapsed_ns(), block_ns);
        }
        let left = (self.division.blocks * plan.groups()).saturating_sub(self.past.blocks);
        let of_block_ns = self.elapsed_ns().saturating_sub(self.past.pilots_ns + self.blocks_ns);
        let blocks_ns = self.next_ns(left);
        let left_ns = match self.past.pilots_ns {
            0 => blocks_ns.saturating_add(plan.pilots_ns_expected().saturating_sub(self.elapsed_ns())),
            _ => blocks_ns.saturating_sub(of_block_ns),
        };
        match plan.blocks().is_bound {
            true => left_ns.min(plan.blocks().budget_ns.saturating_sub(self.elapsed_ns())),
            false => left_ns,
        }
    }

    fn keep(&mut self, record: Record) -> Result<(), CutOff> {
        let left_ns = self.left_ns();
        self.parts.keep(&record, Duration::from_nanos(left_ns))
    }
}

#[cfg(test)]
mod tests;
