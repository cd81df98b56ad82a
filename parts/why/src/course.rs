//! The extra slices: fresh processes of each row in blocks, sampled slices of all in random order, and one between them that is not.
//! Nothing of it decides anything, and none of it is in the journal of the run.

use std::{
    collections::BTreeSet,
    fmt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rand::{Rng, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use tare_analysis::why::{ProfiledSubject, UNNAMED_MAX, WhyReport};
use tare_bench::{
    executor::{Bench, BenchError, ProfiledRun},
    plan::Plan,
    sample::Sample,
    schedule::{Executor, ExecutorError, Slot},
};
use tare_service::catalogue::Service;
use tare_stats::{
    DEFAULT_CONFIDENCE,
    simultaneous::{MeanInterval, means},
};

use crate::{
    difference::{self, SampledBlock, SampledRows},
    flags,
    looker::Looker,
    names::{self, Names},
    profile::StackCounts,
    sample::{Chains, SampleError, Sampler, TimerScope},
    timing::{self, PLAIN_EVERY, SLICE_NS, StartTimes, Timing, WARM_UP_NS_MIN},
};

/// Time of a thread between two samples. No multiple of a millisecond, with which programs keep step. A sample takes some 3 µs of a CPU,
/// and 15 µs or more in a virtual machine that the timer leaves. There, a server in C costs 2% more with this period, and its intervals are
/// ±330 ns (medians of four comparisons); with half of it 2.4% and ±280 ns, with twice of it 0 to 1% and ±480 ns.
const PERIOD_NS: u64 = 1_947_000;
/// The same of a service that waits most of the time, and so has few samples.
const PERIOD_NS_MIN: u64 = 973_000;
/// The longest such time.
const PERIOD_NS_MAX: u64 = 2 * PERIOD_NS;
/// Bytes of the stack in a sample, where frame pointers are missing: the fewest that will do, as copies cost the service its caches. libuv
/// alone has 12 KiB on the stack.
const STACKS: [u32; 2] = [8 << 10, 32 << 10];
/// Samples of a row that a block should have. A service that waits most of the time gets more slices.
const SAMPLES_WANTED: u64 = 200;
/// With a greater share of broken chains, stacks are copied.
const BROKEN_MAX: f64 = 0.4;
/// Sampling that costs a service more than this becomes rarer.
const COST_MAX: f64 = 0.01;
/// A service is warm when its runtime's compilers take less than this share of its CPU time.
const COMPILING_MAX: f64 = 0.1;
/// From this share of the CPU time on, what was left out as the work of compilers is reported.
const COMPILING_MIN: f64 = 0.02;
/// The seed of the order, beside the plan's: a stream that no block of the run has.
const STREAM: u64 = 1 << 40;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum WhyError {
    #[error(transparent)]
    Sample(#[from] SampleError),
    #[error(transparent)]
    Bench(#[from] BenchError),
    #[error("{row}: {reason}")]
    Row { row: String, reason: String },
    #[error("{0}")]
    Instrument(String),
    #[error("the CPU time of {0} is unknown")]
    NoCpuTime(String),
    #[error("interrupted")]
    Interrupted,
    #[error("it would take {} s: `--why` takes them", .0.as_secs())]
    Long(Duration),
}

/// Samples the rows, and says what their requests cost by function.
///
/// # Errors
/// The kernel refuses, a service fails, it would take long, or the user interrupts it.
pub fn why(run: ProfiledRun<'_>, say: &dyn Fn(&str)) -> Result<WhyReport, WhyError> {
    let plan = timing::with_slices(run.plan);
    let timing = |times: &[StartTimes]| Timing::of(&run.rows, times, run.is_asked, run.budget);
    let expected = timing(&StartTimes::by_pilots(&plan, &run.rows, run.records));
    if !run.is_asked && !expected.is_short() {
        return Err(WhyError::Long(expected.expected));
    }
    let sampler = Sampler {
        period_ns: PERIOD_NS,
        chains: Chains::FramePointers,
        kernel: true,
        scope: TimerScope::Cpus,
    };
    let looker = Looker::new(sampler);
    let mut services = run.services;
    services
        .iter_mut()
        .filter(|service| service.running.is_none())
        .for_each(|service| flags::add(&mut service.run.env));
    let roots = roots(&services);
    let is_attached = run.rows.iter().map(|row| services[*row].running.is_some()).collect();
    let folder = run.folder.clone();
    let bench = Bench::new(&plan, services, run.contracts, run.supervisor, &folder, run.interrupt)?;
    let mut course = Course {
        bench: bench.with(run.sandbox).profiled_by(Box::new(looker.clone())),
        plan: &plan,
        looker,
        names: Names::relative_to(&roots),
        rows: vec![Vec::new(); run.rows.len()],
        slices: expected.slices,
        subjects: vec![ProfiledSubject::default(); run.rows.len()],
        runtimes: vec![None; run.rows.len()],
        random: ChaCha8Rng::seed_from_u64(plan.seed),
        is_attached,
        running: Vec::new(),
        writers: BTreeSet::new(),
        timing: expected,
    };
    course.random.set_stream(STREAM);
    if run.records.is_empty() {
        say("loading each until it is warm");
        let times = course.start_times(timing::warm_up_ns_max(run.is_asked, run.budget))?;
        course.timing = timing(&times);
        course.slices = course.timing.slices;
    }
    say(&format!("sampling for {} s, to find out why", course.timing.expected.as_secs()));
    let measured = course.blocks(say);
    course.stop_all();
    // Logs of processes that only were sampled are of no use once these have ended well.
    if measured.is_ok() {
        let _gone = std::fs::remove_dir_all(&folder);
    }
    measured?;
    Ok(course.report())
}

/// Folders that paths of functions are shown relative to.
fn roots(services: &[Service]) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = Vec::new();
    for service in services {
        let each: [&Path; 3] = [&service.place, &service.folder, &service.build_root];
        for root in each {
            // A command of the user runs where tare does.
            let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
            // Without a slash at its end.
            let root: PathBuf = root.components().collect();
            for root in [Some(root.clone()), root.canonicalize().ok()].into_iter().flatten() {
                if root.parent().is_some() && !roots.contains(&root) {
                    roots.push(root);
                }
            }
        }
    }
    roots
}

struct Course<'a> {
    bench: Bench<'a>,
    plan: &'a Plan,
    timing: Timing,
    looker: Looker,
    names: Names,
    rows: Vec<Vec<SampledBlock>>,
    /// Sampled slices of each row in a block.
    slices: usize,
    subjects: Vec<ProfiledSubject>,
    /// Its runtime, if it makes code, and whether that code has names.
    runtimes: Vec<Option<(&'static str, bool)>>,
    random: ChaCha8Rng,
    /// Rows whose processes tare did not start.
    is_attached: Vec<bool>,
    /// Rows with a process.
    running: Vec<usize>,
    /// Processes that were started so that they write maps of their code.
    writers: BTreeSet<u32>,
}

impl fmt::Debug for Course<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Course").field("timing", &self.timing).finish_non_exhaustive()
    }
}

impl Course<'_> {
    /// How long each row takes to start, and until its runtime has compiled most of it, if it does. Other programs on the machine do not
    /// make that seem longer, as they would with a search for a steady cost.
    fn start_times(&mut self, warm_up_ns_max: u64) -> Result<Vec<StartTimes>, WhyError> {
        let mut times = Vec::new();
        for place in 0..self.timing.rows.len() {
            let (slot, began) = (self.slot(0, 0, place), Instant::now());
            self.bench.start(slot, WARM_UP_NS_MIN).map_err(|error| self.failed(place, error))?;
            self.running.push(place);
            let start_ns = (began.elapsed().as_nanos() as u64).saturating_sub(WARM_UP_NS_MIN);
            let mut warm_up_ns = WARM_UP_NS_MIN;
            while self.compiling_share(slot, place)? > COMPILING_MAX && warm_up_ns < warm_up_ns_max {
                warm_up_ns += self.plan.points[0].load.duration_ns();
            }
            times.push(StartTimes { start_ns, warm_up_ns });
            self.stop()?;
        }
        Ok(times)
    }

    /// The share of the samples of one slice that were in a runtime's compilers.
    fn compiling_share(&mut self, slot: Slot, place: usize) -> Result<f64, WhyError> {
        self.sample(slot, place, true)?;
        let mut profile = StackCounts::default();
        if let Some(looked) = self.looker.take()? {
            if !self.is_attached[place] {
                self.writers.extend(looked.mappings.keys());
            }
            profile.add(looked, &mut self.names);
        }
        Ok(profile.compiling as f64 / (profile.samples + profile.compiling).max(1) as f64)
    }

    fn blocks(&mut self, say: &dyn Fn(&str)) -> Result<(), WhyError> {
        for block in 0..self.timing.blocks {
            say(&format!("sampling: block {} of {}", block + 1, self.timing.blocks));
            self.block(block)?;
            self.make_rarer();
            if block == 0 {
                self.make_longer();
            }
        }
        Ok(())
    }

    fn block(&mut self, block: usize) -> Result<(), WhyError> {
        let mut order: Vec<usize> = (0..self.timing.rows.len()).collect();
        order.shuffle(&mut self.random);
        for place in order {
            let slot = self.slot(block, 0, place);
            self.bench.start(slot, self.timing.warm_up_ns).map_err(|error| self.failed(place, error))?;
            self.running.push(place);
        }
        if block == 0 {
            self.try_chains()?;
        }
        let period_ns = self.looker.sampler().period_ns;
        for blocks in &mut self.rows {
            blocks.push(SampledBlock { period_ns, ..SampledBlock::default() });
        }
        // In some blocks one slice more of each row is not sampled, at a place of its own.
        let has_plain = block.is_multiple_of(PLAIN_EVERY);
        let places = self.slices + usize::from(has_plain);
        let plain: Vec<usize> = self
            .rows
            .iter()
            .map(|_| if has_plain { (self.random.next_u64() % places as u64) as usize } else { places })
            .collect();
        for round in 0..places {
            let mut order: Vec<usize> = (0..self.timing.rows.len()).collect();
            order.shuffle(&mut self.random);
            for place in order {
                self.slice(block, round, place, plain[place] != round)?;
            }
        }
        self.stop()
    }

    fn slot(&self, block: usize, round: usize, place: usize) -> Slot {
        Slot { block, round, point: 0, row: self.timing.rows[place] }
    }

    /// One slice of a row.
    fn sample(&mut self, slot: Slot, place: usize, is_sampled: bool) -> Result<Sample, WhyError> {
        if self.bench.interrupted() {
            return Err(WhyError::Interrupted);
        }
        self.looker.switch(is_sampled);
        let draw = self.random.next_u64();
        let sampled = self.bench.sample(slot, draw, None);
        let sample = sampled.map_err(|error| self.failed(place, error))?;
        self.looker.switch(false);
        Ok(sample)
    }

    fn slice(&mut self, block: usize, round: usize, place: usize, is_sampled: bool) -> Result<(), WhyError> {
        let slot = self.slot(block, round, place);
        let sample = self.sample(slot, place, is_sampled)?;
        let cost = sample.cost().ok_or_else(|| WhyError::NoCpuTime(self.label(place)))?;
        let looked = self.looker.take()?;
        let measured = self.rows[place].last_mut().expect("a block of each row was begun");
        let Some(looked) = looked else {
            measured.plain_cpu_ns += cost.cpu_ns;
            measured.plain_answered += cost.answered;
            return Ok(());
        };
        let is_first = measured.answered == 0.0;
        measured.cpu_ns += cost.cpu_ns;
        measured.answered += cost.answered;
        let add = |sum: &mut Option<f64>, count: Option<u64>| {
            let before = if is_first { Some(0.0) } else { *sum };
            *sum = before.zip(count).map(|(sum, count)| sum + count as f64);
        };
        add(&mut measured.page_faults, looked.page_faults);
        add(&mut measured.calls, looked.calls);
        add(&mut measured.switches, sample.host.context_switches);
        add(&mut measured.bytes, Some(sample.load.bytes_received));
        if !self.is_attached[place] {
            self.writers.extend(looked.mappings.keys());
        }
        if let Some((runtime, has_names)) = measured.profile.add(looked, &mut self.names) {
            // A slice in which nothing of it was seen needed no names.
            let had_names = self.runtimes[place].is_some_and(|(_, had_names)| had_names);
            self.runtimes[place] = Some((runtime, has_names || had_names));
        }
        Ok(())
    }

    /// Finds out whether frame pointers lead to the beginning of threads, and if not, how much of a stack must be copied. All rows are
    /// sampled alike.
    fn try_chains(&mut self) -> Result<(), WhyError> {
        let has_tables = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
        let copies = STACKS.iter().filter(|_| has_tables).map(|bytes| Chains::StackCopy(*bytes));
        let (mut best, mut least) = (Chains::FramePointers, f64::INFINITY);
        for chains in [Chains::FramePointers].into_iter().chain(copies) {
            self.looker.set(|sampler| sampler.chains = chains);
            let broken = self.broken_share()?;
            if broken < least {
                (best, least) = (chains, broken);
            }
            if least <= BROKEN_MAX {
                break;
            }
        }
        self.looker.set(|sampler| sampler.chains = best);
        Ok(())
    }

    /// The share of broken chains in a slice of each row, of the row with the most.
    fn broken_share(&mut self) -> Result<f64, WhyError> {
        let mut worst = 0.0_f64;
        for place in 0..self.timing.rows.len() {
            self.sample(self.slot(0, 0, place), place, true)?;
            let mut profile = StackCounts::default();
            if let Some(looked) = self.looker.take()? {
                profile.add(looked, &mut self.names);
            }
            worst = worst.max(profile.broken_share());
        }
        Ok(worst)
    }

    /// Looks more often at services that wait most of the time, and takes more slices of them, after the first block.
    fn make_longer(&mut self) {
        let mut fewest = self.fewest_samples().max(1);
        // Samples of a service that has a CPU all the time.
        let of_busy = self.slices as u64 * SLICE_NS / PERIOD_NS;
        if 2 * fewest < of_busy {
            self.looker.set(|sampler| sampler.period_ns = PERIOD_NS_MIN);
            fewest *= PERIOD_NS / PERIOD_NS_MIN;
        }
        let times = (SAMPLES_WANTED / fewest).clamp(1, self.timing.times_max);
        self.slices = self.timing.slices * times as usize;
    }

    /// Samples in the last block of the row that has fewest.
    fn fewest_samples(&self) -> u64 {
        self.rows.iter().filter_map(|blocks| blocks.last()).map(|one| one.profile.samples).min().unwrap_or(0)
    }

    /// Looks half as often if sampling surely costs too much, and samples are left.
    fn make_rarer(&mut self) {
        let is_dear = sampling_cost(&self.rows).is_some_and(|cost| cost.low > COST_MAX);
        let has_enough = self.fewest_samples() >= 2 * SAMPLES_WANTED;
        let period_ns = self.looker.sampler().period_ns;
        if is_dear && has_enough && period_ns < PERIOD_NS_MAX {
            self.looker.set(|sampler| sampler.period_ns = period_ns * 2);
        }
    }

    fn stop(&mut self) -> Result<(), WhyError> {
        std::mem::take(&mut self.writers).into_iter().for_each(names::remove_perf_map);
        while let Some(place) = self.running.pop() {
            let stopped = self.bench.stop(self.timing.rows[place], 0);
            stopped.map_err(|error| self.failed(place, error))?;
        }
        Ok(())
    }

    /// Stops what an error left.
    fn stop_all(&mut self) {
        std::mem::take(&mut self.writers).into_iter().for_each(names::remove_perf_map);
        while let Some(place) = self.running.pop() {
            // The first error is the reason; a process that does not stop is killed as it is dropped.
            let _reason = self.bench.stop(self.timing.rows[place], 0);
        }
    }

    fn label(&self, place: usize) -> String {
        self.plan.rows[self.timing.rows[place]].label.clone()
    }

    /// The executor has stopped a row that failed.
    fn failed(&mut self, place: usize, error: ExecutorError) -> WhyError {
        match error {
            _ if self.bench.interrupted() => WhyError::Interrupted,
            ExecutorError::Row(failure) => {
                self.running.retain(|running| *running != place);
                WhyError::Row { row: self.label(place), reason: failure.0 }
            }
            ExecutorError::Instrument(failure) => {
                self.running.retain(|running| *running != place);
                WhyError::Instrument(failure.to_string())
            }
            ExecutorError::Slice(_) => {
                WhyError::Row { row: self.label(place), reason: "a slice has no figures".to_owned() }
            }
        }
    }

    fn report(mut self) -> WhyReport {
        let sampler = self.looker.sampler();
        let input = SampledRows {
            rows: &self.rows,
            names: &mut self.names,
            period_ns: sampler.period_ns,
            has_kernel: sampler.kernel,
        };
        let mut report = difference::compute(input);
        for place in 0..self.rows.len() {
            self.subjects[place] = self.subject(place);
        }
        report.chains = match sampler.chains {
            Chains::FramePointers => "frame pointers".to_owned(),
            Chains::StackCopy(_) => "unwind tables".to_owned(),
        };
        report.sampling_cost = sampling_cost(&self.rows);
        report.withheld = self.withheld();
        report.notes = self.notes(sampler);
        report.subjects = self.subjects;
        report
    }

    fn profile(&self, place: usize) -> StackCounts {
        let mut all = StackCounts::default();
        self.rows[place].iter().for_each(|measured| all.merge(&measured.profile));
        all
    }

    fn subject(&self, place: usize) -> ProfiledSubject {
        let (blocks, profile) = (&self.rows[place], self.profile(place));
        ProfiledSubject {
            label: self.label(place),
            cpu_ns: blocks.iter().map(SampledBlock::cost_ns).sum::<f64>() / blocks.len().max(1) as f64,
            samples: profile.samples,
            lost: profile.lost,
            unnamed_share: profile.unnamed as f64 / profile.samples.max(1) as f64,
            broken_share: profile.broken_share(),
            runtime: self.runtimes[place].map(|(runtime, _)| flags::described(runtime)),
            build_ids: self.names.build_ids(),
        }
    }

    fn withheld(&self) -> Option<String> {
        (0..self.subjects.len()).find_map(|place| withheld(&self.subjects[place], self.runtimes[place]))
    }

    fn notes(&self, sampler: Sampler) -> Vec<String> {
        let mut notes = Vec::new();
        if !sampler.kernel {
            notes.push(
                "the kernel does not let this user sample its own functions: its time is one line".to_owned(),
            );
        }
        if let Some(broken) = self.subjects.iter().find(|subject| subject.broken_share > BROKEN_MAX) {
            let share = broken.broken_share * 100.0;
            notes.push(format!(
                "{share:.0}% of the call chains of {} are broken: its functions are right, and what calls them is known in part",
                broken.label
            ));
        }
        let compiling = |place: usize| {
            let (blocks, profile) = (&self.rows[place], self.profile(place));
            let ns: f64 = blocks.iter().map(|one| (one.profile.compiling * one.period_ns) as f64).sum();
            let all: f64 = blocks.iter().map(|one| one.cpu_ns).sum();
            (profile.compiling > 0).then(|| ns / all.max(1.0))
        };
        let most = (0..self.rows.len()).filter_map(compiling).fold(0.0, f64::max);
        if most >= COMPILING_MIN {
            notes.push(format!(
                "the runtime's compilers are left out: up to {:.0}% of the CPU time",
                most * 100.0
            ));
        }
        let lost: u64 = self.subjects.iter().map(|subject| subject.lost).sum();
        let all: u64 = self.subjects.iter().map(|subject| subject.samples).sum::<u64>() + lost;
        if lost * 100 > all {
            notes.push(format!("{lost} of {all} samples were lost"));
        }
        notes
    }
}

/// Why a profile of this subject is no answer, if it is none.
fn withheld(subject: &ProfiledSubject, runtime: Option<(&'static str, bool)>) -> Option<String> {
    let ProfiledSubject { label, unnamed_share, .. } = subject;
    // The functions of an interpreter have names, and they say nothing of what it interprets.
    if let Some((runtime, false)) = runtime {
        let advice = flags::advice(Some(runtime));
        return Some(format!("the functions that {runtime} runs in {label} have no name; {advice}"));
    }
    let advice = flags::advice(runtime.map(|(name, _)| name));
    (*unnamed_share > UNNAMED_MAX)
        .then(|| format!("{:.0}% of the samples of {label} have no name; {advice}", unnamed_share * 100.0))
}

/// By how much a request of sampled slices costs more than one of the others: 0.01 is 1%. Over the blocks of all rows that have both.
fn sampling_cost(rows: &[Vec<SampledBlock>]) -> Option<MeanInterval> {
    let both = rows.iter().flatten().filter(|one| one.plain_answered > 0.0 && one.answered > 0.0);
    // All of the CPU time: what runtimes compile in slices that are not sampled is not known.
    let ratio =
        |one: &SampledBlock| (one.cpu_ns / one.answered) / (one.plain_cpu_ns / one.plain_answered) - 1.0;
    let ratios: Vec<f64> = both.map(ratio).collect();
    means(&[ratios], DEFAULT_CONFIDENCE)?.first().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_without_names_is_no_answer_and_says_what_would_make_it_one() {
        let subject = |unnamed_share| ProfiledSubject {
            label: "old".to_owned(),
            unnamed_share,
            ..ProfiledSubject::default()
        };
        // An interpreter's own functions have names, and so next to nothing is without one.
        let interpreter = withheld(&subject(0.01), Some(("Python", false))).unwrap();
        assert!(interpreter.contains("that Python runs in old have no name") && interpreter.contains("3.12"));
        assert_eq!(withheld(&subject(0.01), Some(("Python", true))), None);
        assert_eq!(withheld(&subject(0.2), None), None);
        let stripped = withheld(&subject(0.31), None).unwrap();
        assert!(
            stripped.starts_with("31% of the samples of old") && stripped.contains("strip"),
            "{stripped}"
        );
    }
}
