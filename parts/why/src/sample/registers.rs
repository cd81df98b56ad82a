//! The registers that a stack is unwound by: which ones the kernel is asked for, and in which order it writes them.

/// The registers of a sampled thread in user mode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Registers {
    pub ip: u64,
    pub sp: u64,
    pub bp: u64,
    /// The return address of a leaf function; 0 where the processor has no such register.
    pub lr: u64,
}

/// Bits of `PERF_REG_X86_*`: BP, SP and IP, written in the order of their numbers.
#[cfg(target_arch = "x86_64")]
pub(super) const MASK: u64 = 1 << 6 | 1 << 7 | 1 << 8;
/// Bits of `PERF_REG_ARM64_*`: X29, LR, SP and PC.
#[cfg(target_arch = "aarch64")]
pub(super) const MASK: u64 = 1 << 29 | 1 << 30 | 1 << 31 | 1 << 32;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) const MASK: u64 = 0;

/// Number of registers in a sample.
pub(super) const COUNT: usize = MASK.count_ones() as usize;

/// The registers, as they stand in a sample.
pub(super) fn of(values: [u64; COUNT]) -> Registers {
    #[cfg(target_arch = "x86_64")]
    {
        let [bp, sp, ip] = values;
        Registers { ip, sp, bp, lr: 0 }
    }
    #[cfg(target_arch = "aarch64")]
    {
        let [bp, lr, sp, ip] = values;
        Registers { ip, sp, bp, lr }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let _none = values;
        Registers::default()
    }
}
