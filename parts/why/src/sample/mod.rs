//! Looks at a service at a fixed rate: where each of its threads is, and by which way it came there. It starts, stops and names nothing.
//!
//! If the kernel allows it, each CPU of the service has an event, and samples of other programs are left out as they are read. Else
//! each thread that exists has an event on each of its CPUs, whose samples all go to one buffer of that CPU; what a thread starts inherits
//! its events. (An event of all CPUs cannot be inherited and have a buffer.) A thread of ours reads the buffers, woken when one is half
//! full, so that it seldom runs while the service is measured.

mod attributes;
pub mod record;
mod refusal;
mod registers;
mod ring;
mod tasks;

use std::{
    collections::BTreeMap,
    io,
    os::fd::{AsFd, OwnedFd},
    thread::JoinHandle,
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

pub use attributes::{Chains, TimerScope, What};
pub use refusal::SampleError;
pub use registers::Registers;
pub use tasks::Mapping;
#[cfg(test)]
pub(crate) use tasks::mappings as mappings_of;

use attributes::Event;
use ring::Ring;

/// Bytes of a buffer. As a rule the kernel lets users without rights lock 512 KiB for each CPU, beside a page.
const BUFFER_BYTES: usize = 512 << 10;
/// The same for copies of stacks, if the kernel lets this user sample whole CPUs: it then has no limit.
const BUFFER_BYTES_OF_STACKS: usize = 8 << 20;
/// Most bytes of one slice. More is not read, and counts as lost.
const SLICE_BYTES_MAX: usize = 512 << 20;
/// Most events of one slice, each of which is a file descriptor.
const EVENTS_MAX: usize = 4096;
/// The reader looks this often at buffers that woke it never.
const LOOK: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// The samples of one slice, and what is needed to name them.
#[derive(Debug, Default)]
pub struct Looked {
    /// As the kernel wrote them: [`record::events`] reads them.
    pub records: Vec<u8>,
    pub has_stacks: bool,
    /// Code of each process that is alive at the end.
    pub mappings: BTreeMap<u32, Vec<Mapping>>,
    /// Names of the threads that are alive at the end.
    pub threads: BTreeMap<u32, String>,
    /// Page faults, and calls of `read` and `write`, of the processes that were there all the time.
    pub page_faults: Option<u64>,
    pub calls: Option<u64>,
    /// Bytes that the reader had no room for.
    pub unread_bytes: usize,
}

/// A slice that is sampled now.
#[derive(Debug)]
pub struct Sampling {
    /// Open as long as it samples.
    _events: Vec<Event>,
    has_stacks: bool,
    /// Closed to end the reader.
    running: OwnedFd,
    reader: JoinHandle<io::Result<ReadRecords>>,
    before: Counts,
}

/// The records of a slice, and how many bytes found no room.
type ReadRecords = (Vec<u8>, usize);

/// What a process did so far.
#[derive(Debug, Clone, Copy)]
struct ProcessCounts {
    page_faults: Option<u64>,
    calls: Option<u64>,
}

/// The same of several processes, by their numbers.
#[derive(Debug, Default)]
struct Counts(BTreeMap<u32, ProcessCounts>);

impl Counts {
    fn of(pids: &[u32]) -> Counts {
        let of = |pid: u32| ProcessCounts {
            page_faults: tasks::page_faults(pid),
            calls: tasks::read_and_write_calls(pid),
        };
        Counts(pids.iter().map(|pid| (*pid, of(*pid))).collect())
    }

    /// The sums of what was added since, over processes that are in both.
    fn since(&self, before: &Counts) -> (Option<u64>, Option<u64>) {
        let both = || self.0.iter().filter_map(|(pid, now)| Some((now, before.0.get(pid)?)));
        let sum = |of: fn(&ProcessCounts) -> Option<u64>| {
            both().map(|(now, before)| Some(of(now)?.saturating_sub(of(before)?))).sum()
        };
        (sum(|counts| counts.page_faults), sum(|counts| counts.calls))
    }
}

/// How a service is looked at. The most is tried first, and what the kernel refuses is given up for good.
#[derive(Debug, Clone, Copy)]
pub struct Sampler {
    pub period_ns: u64,
    pub chains: Chains,
    /// Whether the kernel may be sampled, as far as it is known.
    pub kernel: bool,
    pub scope: TimerScope,
}

impl Sampler {
    /// Begins to sample all threads of these processes. They should stand still until this returns.
    ///
    /// # Errors
    /// The kernel refuses, there are too many threads, or no process is left.
    pub fn begin(&mut self, pids: &[u32]) -> Result<Sampling, SampleError> {
        let first = *pids.first().ok_or(SampleError::NoProcess)?;
        loop {
            match self.open(pids) {
                Err(SampleError::Io(error)) if is_refused(&error) && self.gives_up_something() => {}
                opened => return opened.map_err(|error| named(error, first)),
            }
        }
    }

    /// Asks for less; false if there is nothing less.
    fn gives_up_something(&mut self) -> bool {
        match (self.scope, self.kernel) {
            (TimerScope::Cpus, _) => self.scope = TimerScope::Threads,
            (TimerScope::Threads, true) => self.kernel = false,
            (TimerScope::Threads, false) => return false,
        }
        true
    }

    fn what(&self) -> What {
        let Sampler { period_ns, chains, kernel, scope } = *self;
        What { period_ns, kernel, chains, scope, watermark: self.buffer_bytes() as u32 / 2 }
    }

    fn buffer_bytes(&self) -> usize {
        match (self.scope, self.chains) {
            (TimerScope::Cpus, Chains::StackCopy(_)) => BUFFER_BYTES_OF_STACKS,
            _ => BUFFER_BYTES,
        }
    }

    fn open(&self, pids: &[u32]) -> Result<Sampling, SampleError> {
        let threads: Vec<Option<u32>> = match self.scope {
            TimerScope::Cpus => vec![None],
            TimerScope::Threads => tasks::threads(pids).into_iter().map(Some).collect(),
        };
        let cpus = tasks::cpus(pids[0])?;
        if threads.len() * cpus.len() > EVENTS_MAX {
            return Err(SampleError::TooMany { threads: threads.len(), cpus: cpus.len(), most: EVENTS_MAX });
        }
        let before = Counts::of(pids);
        let (mut events, mut rings) = (Vec::new(), Vec::new());
        for cpu in cpus {
            let of_cpu = self.open_on(cpu, &threads)?;
            if let Some(leader) = of_cpu.first() {
                let ring = Ring::of(leader, self.buffer_bytes()).map_err(SampleError::NoMemory)?;
                for event in &of_cpu[1..] {
                    event.redirect(leader)?;
                }
                rings.push((ring, leader.as_fd().try_clone_to_owned()?));
            }
            events.extend(of_cpu);
        }
        if rings.is_empty() {
            return Err(SampleError::NoProcess);
        }
        let (stop, running) =
            rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(io::Error::from)?;
        let reader = std::thread::Builder::new().name("tare-samples".to_owned());
        let reader = reader.spawn(move || read(rings, &stop))?;
        let has_stacks = matches!(self.chains, Chains::StackCopy(_));
        Ok(Sampling { _events: events, has_stacks, running, reader, before })
    }

    /// The events of all threads on one CPU.
    fn open_on(&self, cpu: usize, threads: &[Option<u32>]) -> io::Result<Vec<Event>> {
        let mut events = Vec::new();
        for thread in threads {
            match Event::open(self.what(), *thread, cpu) {
                Ok(event) => events.push(event),
                // It ended meanwhile.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(events)
    }
}

fn is_refused(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM))
}

/// The reason behind a refusal of the kernel.
fn named(error: SampleError, pid: u32) -> SampleError {
    match error {
        SampleError::Io(error) => SampleError::of(error, tasks::is_own(pid)),
        other => other,
    }
}

/// Reads the buffers until the pipe is closed. Returns the records, and how many bytes found no room.
fn read(mut rings: Vec<(Ring, OwnedFd)>, stop: &OwnedFd) -> io::Result<ReadRecords> {
    let (mut records, mut unread) = (Vec::new(), 0);
    loop {
        let is_over = {
            let of_rings = rings.iter().map(|(_, event)| PollFd::new(event, PollFlags::IN));
            let mut watched: Vec<PollFd<'_>> = of_rings.chain([PollFd::new(stop, PollFlags::IN)]).collect();
            match poll(&mut watched, Some(&LOOK)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            watched.last().is_some_and(|stop| !stop.revents().is_empty())
        };
        for (ring, _) in &mut rings {
            let before = records.len();
            let added = ring.drain(&mut records);
            if records.len() > SLICE_BYTES_MAX {
                records.truncate(before);
                unread += added;
            }
        }
        if is_over {
            return Ok((records, unread));
        }
    }
}

impl Sampling {
    /// Ends the sampling of a service, which should stand still and still have its processes.
    ///
    /// # Errors
    /// The buffers could not be read.
    pub fn end(self, pids: &[u32]) -> Result<Looked, SampleError> {
        let Sampling { _events: events, has_stacks, running, reader, before } = self;
        drop(running);
        let read =
            reader.join().unwrap_or_else(|_| Err(io::Error::other("the reader of samples ended early")));
        drop(events);
        let (records, unread_bytes) = read?;
        let (page_faults, calls) = Counts::of(pids).since(&before);
        let threads = pids.iter().flat_map(|pid| tasks::thread_names(*pid)).collect();
        let mappings = pids.iter().map(|pid| (*pid, tasks::mappings(*pid))).collect();
        Ok(Looked { records, has_stacks, mappings, threads, page_faults, calls, unread_bytes })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustix::time::{ClockId, clock_gettime};

    use super::*;

    /// Works for this CPU time of its thread: on a busy machine that takes longer.
    #[inline(never)]
    fn spin(time: Duration) -> u64 {
        let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap();
        let (began, mut count) = (now(), 0_u64);
        while now() - began < time {
            count = std::hint::black_box(count + 1);
        }
        count
    }

    /// Sampling, or `None` with a word of it if the kernel of this machine refuses.
    fn looked(chains: Chains, scope: TimerScope) -> Option<Looked> {
        let mut sampler = Sampler { period_ns: 1_000_000, chains, kernel: true, scope };
        let pids = [std::process::id()];
        let look = match sampler.begin(&pids) {
            Ok(look) => look,
            Err(error) => {
                tare_host::fixture::skip_always("samples of this process", &error.to_string());
                return None;
            }
        };
        // A thread that begins while it is sampled counts too.
        let other = std::thread::spawn(|| spin(Duration::from_millis(60)));
        spin(Duration::from_millis(60));
        other.join().unwrap();
        Some(look.end(&pids).unwrap())
    }

    #[test]
    fn a_process_that_works_is_seen_at_work_in_all_its_threads() {
        for scope in [TimerScope::Cpus, TimerScope::Threads] {
            let Some(looked) = looked(Chains::FramePointers, scope) else { return };
            shows_both_threads(&looked);
        }
    }

    fn shows_both_threads(looked: &Looked) {
        let events: Vec<record::SampleEvent> = record::events(&looked.records, false).collect();
        let threads: std::collections::BTreeSet<u32> = events
            .iter()
            .filter_map(|event| match event {
                record::SampleEvent::Sample(sample) if sample.pid == std::process::id() => Some(sample.tid),
                _ => None,
            })
            .collect();
        assert!(threads.len() >= 2, "{threads:?}");
        assert!(looked.page_faults.is_some() && looked.mappings.len() == 1);
    }

    #[test]
    fn a_copy_of_the_stack_comes_with_each_sample() {
        let Some(looked) = looked(Chains::StackCopy(4096), TimerScope::Threads) else { return };
        let stacks = record::events(&looked.records, true).filter(|event| match event {
            record::SampleEvent::Sample(sample) => {
                sample.stack.as_ref().is_some_and(|copy| copy.bytes.len() > 64)
            }
            _ => false,
        });
        assert!(stacks.count() > 20);
    }

    #[test]
    fn what_is_gone_is_no_process() {
        let mut sampler = Sampler {
            period_ns: 1_000_000,
            chains: Chains::FramePointers,
            kernel: true,
            scope: TimerScope::Cpus,
        };
        assert!(sampler.begin(&[]).is_err() && sampler.begin(&[u32::MAX / 2]).is_err());
    }
}
