//! `perf_event_open(2)`: what is counted and recorded, as the kernel's structure. It knows no process of a service.

use std::{
    io,
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
};

use super::registers;

/// `struct perf_event_attr` up to `PERF_ATTR_SIZE_VER5` (Linux 4.8), which newer kernels accept.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_watermark: u32,
    breakpoint: u32,
    config1: u64,
    config2: u64,
    branch_sample_type: u64,
    sample_regs_user: u64,
    sample_stack_user: u32,
    clock: i32,
    sample_regs_intr: u64,
    aux_watermark: u32,
    sample_max_stack: u16,
    reserved: u16,
}

/// `PERF_TYPE_SOFTWARE` and its `PERF_COUNT_SW_CPU_CLOCK`: a timer, which needs no counters of the processor.
const SOFTWARE: u32 = 1;
const CPU_CLOCK: u64 = 0;

/// Parts of a sample, in the order in which the kernel writes them.
mod part {
    pub(super) const IP: u64 = 1 << 0;
    pub(super) const THREAD: u64 = 1 << 1;
    pub(super) const CALL_CHAIN: u64 = 1 << 5;
    pub(super) const REGISTERS: u64 = 1 << 12;
    pub(super) const STACK: u64 = 1 << 13;
}

mod flag {
    pub(super) const INHERIT: u64 = 1 << 1;
    pub(super) const EXCLUDE_KERNEL: u64 = 1 << 5;
    pub(super) const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
    pub(super) const EXCLUDE_IDLE: u64 = 1 << 7;
    pub(super) const NAMES: u64 = 1 << 9;
    pub(super) const TASKS: u64 = 1 << 13;
    pub(super) const WATERMARK: u64 = 1 << 14;
    pub(super) const NO_USER_CHAIN: u64 = 1 << 22;
    pub(super) const MAPPINGS: u64 = 1 << 8 | 1 << 23;
}

/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: libc::c_ulong = 8;
/// `PERF_EVENT_IOC_SET_OUTPUT`.
const SET_OUTPUT: libc::Ioctl = 0x2405;

/// Most frames of a call chain that the kernel walks.
const FRAMES_MAX: u16 = 127;

/// What each sample records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct What {
    /// Time of a thread on a CPU between two samples.
    pub period_ns: u64,
    /// Whether the kernel's part is sampled too, with its call chains.
    pub kernel: bool,
    pub chains: Chains,
    pub scope: TimerScope,
    /// Bytes in a buffer at which its reader is woken.
    pub watermark: u32,
}

/// How the callers of a sampled function are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chains {
    /// The kernel follows frame pointers.
    FramePointers,
    /// The sample has the registers and a copy of this number of bytes of the stack, to be unwound later.
    StackCopy(u32),
}

/// What the timer of a sample belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimerScope {
    /// A CPU, whatever runs there: the timer is set once a period. Only root may do so.
    Cpus,
    /// Each thread: the timer is set anew whenever a thread gets a CPU, which costs a virtual machine a microsecond or two.
    Threads,
}

impl What {
    fn attributes(self) -> Attributes {
        let mut flags =
            flag::EXCLUDE_HYPERVISOR | flag::NAMES | flag::TASKS | flag::MAPPINGS | flag::WATERMARK;
        flags |= match self.scope {
            TimerScope::Cpus => flag::EXCLUDE_IDLE,
            TimerScope::Threads => flag::INHERIT,
        };
        let mut sample_type = part::IP | part::THREAD | part::CALL_CHAIN;
        let (mut registers, mut stack) = (0, 0);
        if !self.kernel {
            flags |= flag::EXCLUDE_KERNEL;
        }
        if let Chains::StackCopy(bytes) = self.chains {
            flags |= flag::NO_USER_CHAIN;
            sample_type |= part::REGISTERS | part::STACK;
            (registers, stack) = (registers::MASK, bytes);
        }
        Attributes {
            kind: SOFTWARE,
            size: size_of::<Attributes>() as u32,
            config: CPU_CLOCK,
            sample_period: self.period_ns,
            sample_type,
            flags,
            wakeup_watermark: self.watermark,
            sample_regs_user: registers,
            sample_stack_user: stack,
            sample_max_stack: FRAMES_MAX,
            ..Attributes::default()
        }
    }
}

/// An open event: the samples of one CPU; or of one thread, and of all that it starts, on one CPU.
#[derive(Debug)]
pub(super) struct Event(OwnedFd);

impl Event {
    /// Begins to sample a thread, or all threads, on a CPU.
    ///
    /// # Errors
    /// The kernel refuses, or the thread has ended.
    pub(super) fn open(what: What, thread: Option<u32>, cpu: usize) -> io::Result<Event> {
        let attributes = what.attributes();
        // All threads are -1, and so is no group.
        let (thread, cpu, group) = (thread.map_or(-1, u32::cast_signed), cpu as libc::c_int, -1_i32);
        // SAFETY: the pointer is to a whole structure that lives through the call, of the size that it names; the kernel reads
        // it only. The result is checked before it is used.
        let opened = unsafe {
            libc::syscall(libc::SYS_perf_event_open, &raw const attributes, thread, cpu, group, CLOSE_ON_EXEC)
        };
        if opened < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just opened this descriptor for this call, so nothing else owns it.
        Ok(Event(unsafe { OwnedFd::from_raw_fd(opened as libc::c_int) }))
    }

    /// Its records go to the buffer of another event of the same CPU.
    ///
    /// # Errors
    /// The kernel refuses.
    pub(super) fn redirect(&self, to: &Event) -> io::Result<()> {
        // SAFETY: both are open events, and the call takes plain numbers.
        match unsafe { libc::ioctl(self.0.as_raw_fd(), SET_OUTPUT, to.0.as_raw_fd()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl AsRawFd for Event {
    fn as_raw_fd(&self) -> libc::c_int {
        self.0.as_raw_fd()
    }
}

impl std::os::fd::AsFd for Event {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structure_has_the_size_that_the_kernel_knows() {
        assert_eq!(size_of::<Attributes>(), 112);
        assert_eq!(std::mem::offset_of!(Attributes, sample_regs_user), 80);
        assert_eq!(std::mem::offset_of!(Attributes, sample_max_stack), 108);
    }

    #[test]
    fn a_copy_of_the_stack_replaces_the_chain_of_the_user() {
        let what = What {
            period_ns: 1,
            kernel: false,
            chains: Chains::FramePointers,
            scope: TimerScope::Threads,
            watermark: 1,
        };
        let own = what.attributes();
        assert_eq!(own.flags & (flag::EXCLUDE_KERNEL | flag::NO_USER_CHAIN), flag::EXCLUDE_KERNEL);
        let copied = What { kernel: true, chains: Chains::StackCopy(8192), ..what }.attributes();
        assert_eq!(copied.flags & (flag::EXCLUDE_KERNEL | flag::NO_USER_CHAIN), flag::NO_USER_CHAIN);
        assert_eq!((copied.sample_stack_user, copied.sample_regs_user), (8192, registers::MASK));
    }
}
