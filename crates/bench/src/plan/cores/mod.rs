//! Experiments over several cores: one row per service and number of threads, with its own CPUs.
//!
//! The service has the first CPUs of the list and the generator the last ones. So they never share a CPU, and
//! the CPUs of a smaller row are a subset of those of a larger one. A hyper-thread is only a part of a core:
//! one CPU of each core is used as long as there are cores enough for the smallest number of threads.

use tare_host::cpus::Pinning;
use tare_service::catalogue::Row;

use super::{Excluded, Exclusion, Plan};
use crate::experiment::{Cores, GeneratorThreads};

/// The CPUs available to a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineCpus {
    /// All CPUs that this program may use.
    pub cpus: Vec<usize>,
    /// One CPU of each core.
    pub cores: Vec<usize>,
}

/// A row, with the number of threads of its service.
#[derive(Debug, Clone)]
pub struct CoresRow {
    pub row: Row,
    pub threads: usize,
}

/// Suffix of a row's name: `+4t` in `hyper+4t`.
fn ending(threads: usize) -> String {
    format!("+{threads}t")
}

/// Name of a row with this number of threads.
pub fn label(word: &str, threads: usize) -> String {
    word.to_owned() + &ending(threads)
}

impl Plan {
    /// The name that selects a row in a command, without the number of threads.
    pub fn word(&self, row: usize) -> &str {
        let row = &self.rows[row];
        let ending = row.threads.map(ending).unwrap_or_default();
        row.label.strip_suffix(&ending).unwrap_or(&row.label)
    }

    /// The numbers of threads of an experiment over several cores, ascending; empty for other experiments.
    pub fn threads_planned(&self) -> Vec<usize> {
        if self.is_sequential() {
            return Vec::new();
        }
        let mut threads: Vec<usize> = self.rows.iter().filter_map(|row| row.threads).collect();
        threads.sort_unstable();
        threads.dedup();
        threads
    }

    /// The CPUs of a row and its generator.
    pub fn pinning_of(&self, row: usize) -> &Pinning {
        self.rows.get(row).and_then(|row| row.pinning.as_ref()).unwrap_or(&self.pinning)
    }

    /// All CPUs that any row measures on.
    pub fn cpus(&self) -> Vec<usize> {
        let of_rows = self.members().filter_map(|row| self.rows[row].pinning.as_ref());
        let mut cpus: Vec<usize> = of_rows.chain([&self.pinning]).flat_map(Pinning::all).collect();
        cpus.sort_unstable();
        cpus.dedup();
        cpus
    }

    /// Connections to a row at a point, and the generator threads that share them.
    pub fn connections_of(&self, row: usize, point: usize) -> tare_load::Connections {
        let planned = self.points[point].load.connections();
        let own = self.rows.get(row).and_then(|row| row.pinning.as_ref());
        let threads = own.map_or(planned.threads, |own| own.generator.len());
        tare_load::Connections { threads, ..planned }
    }
}

impl Cores {
    /// Replaces each of `rows` with one row per number of threads. The twin gets the first number only.
    pub fn rows(&self, rows: Vec<Row>, twin: Option<&str>) -> Vec<CoresRow> {
        let of = |row: Row| {
            let numbers = if twin == Some(row.label.as_str()) { 1 } else { self.threads.len() };
            let each = self.threads[..numbers].iter().map(move |threads| CoresRow {
                row: Row { label: label(&row.label, *threads), service: row.service.clone() },
                threads: *threads,
            });
            each.collect::<Vec<_>>()
        };
        rows.into_iter().flat_map(of).collect()
    }

    /// Enters the threads and CPUs of these rows into the plan. A row with too few CPUs is excluded.
    #[must_use]
    pub fn enter(&self, plan: Plan, rows: &[CoresRow], machine: &MachineCpus) -> Plan {
        self.enter_each(plan, rows.iter().map(|row| row.threads), machine)
    }

    pub(crate) fn enter_each(
        &self,
        mut plan: Plan,
        threads: impl Iterator<Item = usize>,
        machine: &MachineCpus,
    ) -> Plan {
        let connections = plan.loads().iter().map(|load| load.connections).min().unwrap_or(1);
        let lot = self.lot(machine);
        for (planned, threads) in plan.rows.iter_mut().zip(threads) {
            planned.threads = Some(threads);
            let words = count(threads, "thread");
            planned.title =
                Some(planned.title.take().map_or(words.clone(), |title| format!("{title}, {words}")));
            match self.divide(threads, connections, lot) {
                Ok(pinning) => planned.pinning = Some(pinning),
                Err(wanted) => {
                    planned.excluded.get_or_insert(too_few(threads, wanted, lot, machine));
                }
            }
        }
        let largest = plan.members().max_by_key(|row| plan.rows[*row].threads);
        if let Some(pinning) = largest.and_then(|row| plan.rows[row].pinning.clone()) {
            plan.pinning = pinning;
        }
        plan
    }

    /// One CPU of each core, or all CPUs if there are too few cores for the smallest number of threads.
    fn lot<'a>(&self, machine: &'a MachineCpus) -> &'a [usize] {
        let least = self.threads.first().map(|threads| self.divide(*threads, usize::MAX, &machine.cores));
        if least.is_some_and(|found| found.is_ok()) { &machine.cores } else { &machine.cpus }
    }

    /// Gives the first CPUs to the service and the last ones to the generator. The error is the number of
    /// CPUs that the generator needs.
    fn divide(&self, threads: usize, connections: usize, lot: &[usize]) -> Result<Pinning, usize> {
        let left = lot.len().saturating_sub(threads);
        let wanted = match &self.generator {
            GeneratorThreads::Left => left.max(1),
            GeneratorThreads::Each(numbers) => {
                let place = self.threads.iter().position(|number| *number == threads);
                place.and_then(|place| numbers.get(place)).copied().unwrap_or(1)
            }
        };
        // A generator thread without a connection is idle.
        let wanted = wanted.min(connections);
        if wanted > left {
            return Err(wanted);
        }
        Ok(Pinning { server: lot[..threads].to_vec(), generator: lot[lot.len() - wanted..].to_vec() })
    }
}

fn too_few(threads: usize, generator: usize, lot: &[usize], machine: &MachineCpus) -> Excluded {
    let here = match lot.len() < machine.cpus.len() {
        true => format!("{}, of which one CPU each is used", count(lot.len(), "core")),
        false => count(lot.len(), "CPU"),
    };
    let reason = format!(
        "{} of the service and {} of the generator need {} CPUs; here there are {here}",
        count(threads, "thread"),
        generator,
        threads + generator
    );
    Excluded { why: Exclusion::NotOnThisMachine, reason }
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

#[cfg(test)]
mod tests;
