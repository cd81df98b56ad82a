//! The samples of a row in a block: how often each call stack was seen. Addresses become functions while their process is still there.

use std::collections::{BTreeMap, HashMap};

use crate::{
    names::{Function, FunctionId, KERNEL, Names, SampledFrame, Space},
    sample::{
        Looked,
        record::{self, SampleEvent, ThreadSample},
    },
    unwind::StackUnwinder,
};

/// The outermost functions of threads: a chain that ends elsewhere is broken.
/// The C library begins threads in functions that often have no name.
const BEGINNINGS: [&str; 16] = [
    "[libc.so.6]",
    "[libc.musl-x86_64.so.1]",
    "_start",
    "_start_c",
    "__libc_start_main",
    "__libc_start_call_main",
    "start_thread",
    "clone",
    "clone3",
    "__clone",
    "__clone3",
    "thread_start",
    "runtime.goexit",
    "runtime.mstart",
    "runtime.rt0_go",
    "_rt0_amd64_linux",
];
/// Threads that compile a program while it runs, as the kernel cuts their names. What they do is of no request: a program that runs longer
/// has less of it.
const COMPILERS: [&str; 5] =
    ["C1 CompilerThre", "C2 CompilerThre", "JVMCI CompilerT", "Sweeper thread", ".NET Tiered Com"];
/// What compilers of programs consist of that work in threads without such a name: V8 by its functions, .NET by its library.
const COMPILER_NAMES: [&str; 5] = [
    "v8::internal::compiler::",
    "v8::internal::maglev::",
    "v8::internal::baseline::",
    "v8::internal::OptimizingCompileDispatcher::",
    "v8::internal::Compiler::",
];
const COMPILER_LIBRARIES: [&str; 2] = ["libclrjit.so", "[libclrjit.so]"];
/// The kernel's own way into a system call, which says nothing.
const ENTRIES: [&str; 5] =
    ["entry_SYSCALL_64_after_hwframe", "do_syscall_64", "x64_sys_call", "el0_svc", "el0t_64_sync"];

/// A call stack from its outermost function.
pub type Stack = Box<[FunctionId]>;

/// How often a line was seen: running itself, and with all that it calls.
#[derive(Debug, Clone, Copy, Default)]
pub struct LineCount {
    pub own: u64,
    pub all: u64,
}

/// How often each stack was seen.
#[derive(Debug, Clone, Default)]
pub struct StackCounts {
    pub stacks: HashMap<Stack, u64>,
    /// The same by line, of functions whose lines are known.
    pub lines: HashMap<(FunctionId, u32), LineCount>,
    pub samples: u64,
    /// Samples of a compiler of the program, which count nowhere else.
    pub compiling: u64,
    pub lost: u64,
    /// Samples whose innermost function has no name.
    pub unnamed: u64,
    /// Samples with a chain in user mode, and those whose chain does not reach the beginning of its thread.
    pub chained: u64,
    pub broken: u64,
    pub throttled: bool,
}

/// What the processes of a slice had at its end.
struct Ended {
    spaces: BTreeMap<u32, Space>,
    unwinders: BTreeMap<u32, StackUnwinder>,
    threads: BTreeMap<u32, String>,
    /// Parents of processes that were made meanwhile.
    parents: BTreeMap<u32, u32>,
}

impl StackCounts {
    /// Adds a slice whose processes are still there. Returns their runtime, if it makes code, and whether that code has names.
    pub fn add(&mut self, looked: Looked, names: &mut Names) -> Option<(&'static str, bool)> {
        let Looked { records, has_stacks, mappings, threads, unread_bytes, .. } = looked;
        let spaces: BTreeMap<u32, Space> =
            mappings.into_iter().map(|(pid, mappings)| (pid, Space::of(pid, mappings))).collect();
        let unwinders = BTreeMap::new();
        let mut ended = Ended { spaces, unwinders, threads, parents: BTreeMap::new() };
        let (mut bytes, mut samples) = (0, 0_u64);
        for event in record::events(&records, has_stacks) {
            match event {
                // Of a whole CPU there are samples of other programs too.
                SampleEvent::Sample(sample) if !ended.is_of_service(sample.pid) => {}
                SampleEvent::Sample(sample) => {
                    bytes += size_of_val(&*sample);
                    samples += 1;
                    self.add_sample(&sample, &mut ended, names);
                }
                SampleEvent::Lost(count) => self.lost += count,
                SampleEvent::Throttled => self.throttled = true,
                SampleEvent::Named { pid, tid, name } if ended.is_of_service(pid) => {
                    ended.threads.entry(tid).or_insert(name);
                }
                SampleEvent::Forked { pid, parent } if ended.is_of_service(parent) => {
                    ended.parents.insert(pid, parent);
                }
                SampleEvent::Named { .. }
                | SampleEvent::Forked { .. }
                | SampleEvent::Mapped(_)
                | SampleEvent::Exited { .. }
                | SampleEvent::Other => {}
            }
        }
        // What was not read is counted by the mean size of what was.
        self.lost += unread_bytes as u64 / (bytes as u64 / samples.max(1)).max(64);
        ended.spaces.values().find_map(|space| Some((space.runtime()?, space.has_names())))
    }

    fn add_sample(&mut self, sample: &ThreadSample, ended: &mut Ended, names: &mut Names) {
        if ended.is_compiler(sample) {
            self.compiling += 1;
            return;
        }
        let mut stack: Vec<FunctionId> = ended.thread(sample, names).into_iter().collect();
        let mut user = ended.user_chain(sample, names);
        if user.iter().any(|frame| is_of_compiler(names.function(frame.function))) {
            self.compiling += 1;
            return;
        }
        let is_beginning = |frame: &SampledFrame| {
            let name = &names.function(frame.function).name;
            BEGINNINGS.iter().any(|known| {
                name == known || name.strip_prefix(known).is_some_and(|rest| rest.starts_with('.'))
            })
        };
        let is_broken = !user.last().is_some_and(is_beginning);
        let has_user_part = sample.is_user || !user.is_empty();
        // Beginnings say nothing, and such functions of the C library have the name of all others without one, such as those of `malloc`.
        while user.len() > 1 && user.last().is_some_and(is_beginning) {
            user.pop();
        }
        self.chained += u64::from(has_user_part);
        self.broken += u64::from(has_user_part && is_broken);
        self.count_lines(&user, sample.is_user);
        stack.extend(user.iter().rev().map(|frame| frame.function));
        if !sample.is_user {
            stack.push(names.special(KERNEL, true));
            let kernel: Vec<FunctionId> =
                sample.kernel.iter().filter_map(|address| names.kernel(*address)).collect();
            stack.extend(
                kernel.into_iter().rev().filter(|id| !ENTRIES.contains(&names.function(*id).name.as_str())),
            );
        }
        self.samples += 1;
        let innermost = stack.last().copied();
        self.unnamed += u64::from(innermost.is_none_or(|id| !names.function(id).is_named));
        *self.stacks.entry(stack.into()).or_default() += 1;
    }

    /// Counts a sample once for each line of its chain, which begins with the innermost. In the kernel no line runs itself.
    fn count_lines(&mut self, chain: &[SampledFrame], is_user: bool) {
        let line = |frame: &SampledFrame| Some((frame.function, frame.line?));
        for (depth, key) in chain.iter().enumerate().filter_map(|(depth, frame)| Some((depth, line(frame)?)))
        {
            let is_again = chain[..depth].iter().any(|inner| line(inner) == Some(key));
            let count = self.lines.entry(key).or_default();
            count.all += u64::from(!is_again);
            count.own += u64::from(depth == 0 && is_user);
        }
    }

    /// Adds the samples of another profile of the same names.
    pub fn merge(&mut self, other: &StackCounts) {
        for (stack, count) in &other.stacks {
            *self.stacks.entry(stack.clone()).or_default() += count;
        }
        for (key, count) in &other.lines {
            let sum = self.lines.entry(*key).or_default();
            sum.own += count.own;
            sum.all += count.all;
        }
        self.samples += other.samples;
        self.compiling += other.compiling;
        self.lost += other.lost;
        self.unnamed += other.unnamed;
        self.chained += other.chained;
        self.broken += other.broken;
        self.throttled |= other.throttled;
    }

    /// Share of the chains in user mode that are broken; 0 without any.
    pub fn broken_share(&self) -> f64 {
        self.broken as f64 / self.chained.max(1) as f64
    }
}

impl Ended {
    /// The thread as a frame, if it has another name than its process, such as a collector of garbage.
    fn thread(&self, sample: &ThreadSample, names: &mut Names) -> Option<FunctionId> {
        let name = self.threads.get(&sample.tid)?;
        let main = self.threads.get(&sample.pid);
        (main != Some(name)).then(|| names.special(&format!("thread {}", without_number(name)), true))
    }

    fn is_compiler(&self, sample: &ThreadSample) -> bool {
        self.threads
            .get(&sample.tid)
            .is_some_and(|name| COMPILERS.iter().any(|known| name.starts_with(known)))
    }

    fn is_of_service(&self, pid: u32) -> bool {
        self.spaces.contains_key(&pid) || self.parents.contains_key(&pid)
    }

    /// The process, or the one that it was made by.
    fn process(&self, pid: u32) -> Option<u32> {
        let is_there = |pid: &u32| self.spaces.contains_key(pid);
        Some(pid).filter(is_there).or_else(|| self.parents.get(&pid).copied().filter(is_there))
    }

    /// The functions in user mode, from the innermost.
    fn user_chain(&mut self, sample: &ThreadSample, names: &mut Names) -> Vec<SampledFrame> {
        let Some(pid) = self.process(sample.pid) else {
            let is_of_user = sample.is_user || !sample.user.is_empty();
            return is_of_user
                .then(|| names.special("[a process that ended]", false).into())
                .into_iter()
                .collect();
        };
        let space = &self.spaces[&pid];
        let unwound;
        let chain = match &sample.stack {
            Some(copy) => {
                let unwinder = self.unwinders.entry(pid).or_insert_with(|| StackUnwinder::of(space, names));
                unwound = unwinder.addresses(copy);
                &unwound
            }
            None if sample.user.is_empty() && sample.is_user => &vec![sample.ip],
            None => &sample.user,
        };
        let mut frames = Vec::with_capacity(chain.len());
        for (depth, address) in chain.iter().enumerate() {
            // The innermost address is where the thread is; all others are where it returns to.
            frames.extend(names.user(space, *address, depth > 0));
        }
        frames
    }
}

fn is_of_compiler(function: &Function) -> bool {
    COMPILER_NAMES.iter().any(|prefix| function.name.starts_with(prefix))
        || COMPILER_LIBRARIES.iter().any(|library| function.module == *library || function.name == *library)
}

/// `GC Thread#12` and `GC Thread#3` are the same to a reader.
fn without_number(name: &str) -> &str {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let stem = stem.trim_end_matches(['-', '#', '_', ' ', ':', '/']);
    if stem.is_empty() { name } else { stem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_counts_once_for_each_line_of_its_chain() {
        let mut counts = StackCounts::default();
        let at = |function, line| SampledFrame { function, line };
        // A function that calls itself from one line, and a caller without lines.
        let chain = [at(1, Some(8)), at(1, Some(9)), at(1, Some(9)), at(2, None), at(3, Some(20))];
        counts.count_lines(&chain, true);
        counts.count_lines(&chain, false);
        let mut lines: Vec<_> =
            counts.lines.iter().map(|(key, count)| (*key, count.own, count.all)).collect();
        lines.sort_unstable();
        assert_eq!(lines, [((1, 8), 1, 2), ((1, 9), 0, 2), ((3, 20), 0, 2)]);
    }

    #[test]
    fn workers_of_one_pool_are_one_thread() {
        for (name, expected) in [
            ("GC Thread#12", "GC Thread"),
            ("tokio-rt-worker", "tokio-rt-worker"),
            ("12", "12"),
            ("w-3", "w"),
        ] {
            assert_eq!(without_number(name), expected);
        }
    }
}
