//! The order of a campaign in time: blocks of fresh starts, rounds of short slices in random order, until the budget is
//! spent. Knows no process, no socket and no clock of its own: an [`Executor`] does what it says, so that all of it can
//! be tested without time.

use std::{collections::BTreeSet, io, time::Duration};

use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

use super::{
    plan::Plan,
    record::{Ending, Latency, Record, Slice, Started, Stopped},
};

/// Carries out what the campaign orders. Rows are given by their place in the plan. Whatever call fails for a row has
/// stopped that row's service before it returns.
pub trait Executor {
    /// A fresh process, proved ready, connected, warmed up and frozen. The time to its first answer.
    fn start(&mut self, row: usize, block: usize) -> Result<Duration, RowFailure>;
    /// Thawed, loaded for the length of a slice, frozen again. Labels and numbers are the campaign's to fill in.
    fn slice(&mut self, row: usize, draw: u64) -> Result<Slice, RowFailure>;
    /// Stopped for good; `block` names the files it leaves.
    fn stop(&mut self, row: usize, block: usize) -> Result<StopFacts, RowFailure>;
    /// Time that only moves forward.
    fn now_ns(&self) -> u64;
    /// True once the user wants to stop.
    fn interrupted(&self) -> bool;
}

/// Why a row is out of the campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowFailure(pub String);

/// What is known of a service when it has stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StopFacts {
    /// Sum of the peaks of its live processes.
    pub rss_bytes_peak: Option<u64>,
    /// Voluntary and forced together.
    pub context_switches: Option<u64>,
    /// Of all answers in the block.
    pub latency: Option<Latency>,
    /// How it stopped, where that was not clean.
    pub complaint: Option<String>,
}

/// Where records go. An error ends the campaign: what cannot be kept is not measured.
pub trait Journal {
    /// Keeps a record for good.
    fn append(&mut self, record: &Record) -> io::Result<()>;
}

/// Hears of every record after it was kept, and of the time left: for progress on a screen.
pub trait Watch {
    /// A record was kept; so much of the campaign may still be to come.
    fn heard(&mut self, record: &Record, left: Duration);
}

/// Runs a campaign to its end. `Err` only where the journal could not be kept.
pub fn run(
    plan: &Plan,
    executor: &mut impl Executor,
    journal: &mut impl Journal,
    watch: &mut impl Watch,
) -> io::Result<Ending> {
    Campaign {
        began_ns: executor.now_ns(),
        plan,
        executor,
        journal,
        watch,
        running: BTreeSet::new(),
        out: BTreeSet::new(),
        blocks_done: 0,
    }
    .run()
}

struct Campaign<'a, E, J, W> {
    plan: &'a Plan,
    executor: &'a mut E,
    journal: &'a mut J,
    watch: &'a mut W,
    /// Rows that were started in this block.
    running: BTreeSet<usize>,
    /// Rows that have failed.
    out: BTreeSet<usize>,
    began_ns: u64,
    blocks_done: usize,
}

impl<E: Executor, J: Journal, W: Watch> Campaign<'_, E, J, W> {
    fn run(mut self) -> io::Result<Ending> {
        let reason = loop {
            if let Some(reason) = self.ending() {
                break reason;
            }
            let block = self.blocks_done;
            let outcome = self.block(block);
            self.stop_all(block)?;
            outcome?;
            self.blocks_done += 1;
        };
        let elapsed_ns = self.elapsed_ns();
        self.keep(Record::Ended { reason, elapsed_ns })?;
        Ok(reason)
    }

    fn elapsed_ns(&self) -> u64 {
        self.executor.now_ns() - self.began_ns
    }

    /// The mean of the blocks so far, or the plan's guess.
    fn block_ns(&self) -> u64 {
        match self.blocks_done {
            0 => self.plan.block_ns_expected(),
            done => self.elapsed_ns() / done as u64,
        }
    }

    fn ending(&self) -> Option<Ending> {
        let alive = self.alive();
        let done = self.blocks_done;
        if self.executor.interrupted() {
            Some(Ending::Interrupted)
        } else if alive.is_empty() || self.only_the_pivot_survived(&alive) {
            Some(Ending::NothingLeft)
        } else if done >= self.plan.blocks_max {
            Some(Ending::BlocksMax)
        } else if done >= self.plan.blocks_min && self.elapsed_ns() + self.block_ns() > self.plan.budget_ns {
            Some(Ending::BudgetSpent)
        } else {
            None
        }
    }

    /// There is nothing left to relate to it. (A run of the pivot alone was asked for, and goes on.)
    fn only_the_pivot_survived(&self, alive: &[usize]) -> bool {
        !self.out.is_empty() && alive.iter().all(|row| self.label(*row) == self.plan.pivot)
    }

    fn alive(&self) -> Vec<usize> {
        let planned = self.plan.rows.iter().enumerate().filter(|(_, row)| row.excluded.is_none());
        planned.map(|(index, _)| index).filter(|index| !self.out.contains(index)).collect()
    }

    /// One seed for each block: a block's order does not depend on what happened in the one before.
    fn random(&self, block: usize) -> ChaCha8Rng {
        let mut random = ChaCha8Rng::seed_from_u64(self.plan.seed);
        random.set_stream(block as u64);
        random
    }

    fn block(&mut self, block: usize) -> io::Result<()> {
        let mut random = self.random(block);
        let mut order = self.alive();
        order.shuffle(&mut random);
        let labels = order.iter().map(|row| self.label(*row)).collect();
        self.keep(Record::Block { block, order: labels })?;
        for &row in &order {
            if self.executor.interrupted() {
                return Ok(());
            }
            match self.executor.start(row, block) {
                Ok(start_up) => {
                    self.running.insert(row);
                    let start_up_ns = start_up.as_nanos() as u64;
                    let row = self.label(row);
                    self.keep(Record::Started(Started { block, row, start_up_ns }))?;
                }
                Err(failure) => self.fail(row, block, failure)?,
            }
        }
        for round in 0..self.plan.slices_per_block {
            order.shuffle(&mut random);
            for &row in &order {
                if self.executor.interrupted() {
                    return Ok(());
                }
                self.slice(row, block, round, rand::Rng::next_u64(&mut random))?;
            }
        }
        Ok(())
    }

    fn slice(&mut self, row: usize, block: usize, round: usize, draw: u64) -> io::Result<()> {
        if self.out.contains(&row) {
            return Ok(());
        }
        match self.executor.slice(row, draw) {
            Ok(slice) => {
                let row = self.label(row);
                self.keep(Record::Slice(Slice { block, round, row, ..slice }))
            }
            Err(failure) => self.fail(row, block, failure),
        }
    }

    /// Whatever happened in the block, nothing that was started is left running.
    fn stop_all(&mut self, block: usize) -> io::Result<()> {
        let mut kept = Ok(());
        for row in std::mem::take(&mut self.running) {
            let result = match self.executor.stop(row, block) {
                Ok(facts) => self.keep(Record::Stopped(Stopped {
                    block,
                    row: self.label(row),
                    rss_bytes_peak: facts.rss_bytes_peak,
                    context_switches: facts.context_switches,
                    latency: facts.latency,
                    complaint: facts.complaint,
                })),
                Err(failure) => self.fail(row, block, failure),
            };
            kept = kept.and(result);
        }
        kept
    }

    fn fail(&mut self, row: usize, block: usize, RowFailure(reason): RowFailure) -> io::Result<()> {
        self.out.insert(row);
        self.running.remove(&row);
        let row = self.label(row);
        self.keep(Record::Failed { block, row, reason })
    }

    fn label(&self, row: usize) -> String {
        self.plan.rows[row].label.clone()
    }

    fn keep(&mut self, record: Record) -> io::Result<()> {
        self.journal.append(&record)?;
        let left_ns = match self.blocks_done < self.plan.blocks_min {
            true => (self.block_ns() * self.plan.blocks_min as u64).max(self.plan.budget_ns),
            false => self.plan.budget_ns,
        }
        .saturating_sub(self.elapsed_ns());
        self.watch.heard(&record, Duration::from_nanos(left_ns));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
