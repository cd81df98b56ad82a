//! Callers from a copy of the stack, by the tables that compilers write for exceptions; code without such tables is followed by its frame
//! pointers. It reads nothing but what it is given.

use std::{ops::Range, sync::Arc};

use framehop::{CacheNative, ExplicitModuleSectionInfo, Module, Unwinder, UnwinderNative};

use crate::{
    names::{Names, Space},
    sample::{Mapping, Registers, record::StackCopy},
};

/// Most frames of a stack.
const FRAMES_MAX: usize = 127;

type Bytes = Arc<[u8]>;

/// Unwinds stacks of one process.
pub(crate) struct StackUnwinder {
    unwinder: UnwinderNative<Bytes, framehop::MayAllocateDuringUnwind>,
    cache: CacheNative<framehop::MayAllocateDuringUnwind>,
}

impl std::fmt::Debug for StackUnwinder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StackUnwinder").finish_non_exhaustive()
    }
}

impl StackUnwinder {
    /// For the code that is mapped in this process.
    pub(crate) fn of(space: &Space, names: &mut Names) -> StackUnwinder {
        let mut unwinder = UnwinderNative::new();
        let mut seen: Vec<&str> = Vec::new();
        for mapping in space.mappings().iter().filter(|mapping| mapping.path.starts_with('/')) {
            if seen.contains(&mapping.path.as_str()) {
                continue;
            }
            seen.push(&mapping.path);
            let Some((sections, base)) = names.unwind_sections(space, &mapping.path, mapping.inode) else {
                continue;
            };
            let all = space.mappings().iter().filter(|other| other.path == mapping.path);
            let range = all.fold(mapping.start..mapping.end, |range, other| {
                range.start.min(other.start)..range.end.max(other.end)
            });
            let split = |section: Option<(Range<u64>, Bytes)>| {
                section.map_or((None, None), |(range, bytes)| (Some(range), Some(bytes)))
            };
            let ((eh_frame_svma, eh_frame), (eh_frame_hdr_svma, eh_frame_hdr)) =
                (split(sections.frames), split(sections.index));
            let info = ExplicitModuleSectionInfo {
                base_svma: sections.base,
                text_svma: sections.text,
                eh_frame_svma,
                eh_frame,
                eh_frame_hdr_svma,
                eh_frame_hdr,
                ..ExplicitModuleSectionInfo::default()
            };
            unwinder.add_module(Module::new(mapping.path.clone(), range, base, info));
        }
        if cfg!(target_arch = "x86_64") {
            space.trampolines().for_each(|mapping| unwinder.add_module(trampolines(mapping)));
        }
        StackUnwinder { unwinder, cache: CacheNative::new() }
    }

    /// The addresses of a stack, from the innermost.
    pub(crate) fn addresses(&mut self, copy: &StackCopy) -> Vec<u64> {
        let Registers { ip, sp, .. } = copy.registers;
        let mut read = |address: u64| {
            let offset = usize::try_from(address.checked_sub(sp).ok_or(())?).map_err(|_| ())?;
            let bytes = copy.bytes.get(offset..offset.checked_add(8).ok_or(())?).ok_or(())?;
            Ok(u64::from_ne_bytes(bytes.try_into().map_err(|_| ())?))
        };
        let mut frames = self.unwinder.iter_frames(ip, native(&copy.registers), &mut self.cache, &mut read);
        let mut addresses = Vec::new();
        while let Ok(Some(frame)) = frames.next() {
            addresses.push(frame.address());
            if addresses.len() >= FRAMES_MAX {
                break;
            }
        }
        addresses
    }
}

/// Code that CPython puts between its interpreter and itself for each function, so that a function has an address. It has no table and no
/// frame pointer: it moves the stack pointer by eight bytes, and calls.
fn trampolines(mapping: &Mapping) -> Module<Bytes> {
    let length = mapping.end - mapping.start;
    // Version 1, no augmentation, factors 1 and -8, the return address as column 16; the frame begins 16 bytes above the stack pointer
    // (register 7), and the return address is the eight bytes below that.
    let common = [1, 0, 1, 0x78, 16, 0x0c, 7, 16, 0x80 | 16, 1, 0, 0];
    let mut table = Vec::new();
    table.extend_from_slice(&(4 + common.len() as u32).to_le_bytes());
    table.extend_from_slice(&0_u32.to_le_bytes());
    table.extend_from_slice(&common);
    table.extend_from_slice(&20_u32.to_le_bytes());
    // How far back the common part begins.
    table.extend_from_slice(&(table.len() as u32).to_le_bytes());
    table.extend_from_slice(&0_u64.to_le_bytes());
    table.extend_from_slice(&length.to_le_bytes());
    table.extend_from_slice(&0_u32.to_le_bytes());
    let info = ExplicitModuleSectionInfo {
        text_svma: Some(0..length),
        eh_frame_svma: Some(length..length + table.len() as u64),
        eh_frame: Some(Bytes::from(table)),
        ..ExplicitModuleSectionInfo::default()
    };
    Module::new("[trampolines]".to_owned(), mapping.start..mapping.end, mapping.start, info)
}

#[cfg(target_arch = "x86_64")]
fn native(registers: &Registers) -> framehop::UnwindRegsNative {
    framehop::UnwindRegsNative::new(registers.ip, registers.sp, registers.bp)
}

#[cfg(target_arch = "aarch64")]
fn native(registers: &Registers) -> framehop::UnwindRegsNative {
    framehop::UnwindRegsNative::new(registers.lr, registers.sp, registers.bp)
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn a_trampoline_is_left_by_its_stack_pointer() {
        let mapping = Mapping { start: 0x7000, end: 0x8000, offset: 0, path: String::new(), inode: 0 };
        let mut unwinder = UnwinderNative::new();
        unwinder.add_module(trampolines(&mapping));
        let mut unwinder = StackUnwinder { unwinder, cache: CacheNative::new() };
        // Two trampolines, each with eight bytes of its own above which it returns; the second to code that is not known.
        let words = [0_u64, 0x7040, 0, 0x9000, 1, 2];
        let bytes = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let registers = Registers { ip: 0x7020, sp: 0x1000, bp: 0x33, ..Registers::default() };
        let found = unwinder.addresses(&StackCopy { registers, bytes });
        assert_eq!(found[..3], [0x7020, 0x703f, 0x8fff].map(|at| at + u64::from(at != 0x7020)), "{found:x?}");
    }
}
