//! The records that the kernel writes into a buffer: bytes in, values out. Nothing here trusts a length.

use super::registers::{self, Registers};

/// `PERF_RECORD_*`.
mod kind {
    pub(super) const LOST: u32 = 2;
    pub(super) const COMM: u32 = 3;
    pub(super) const EXIT: u32 = 4;
    pub(super) const THROTTLE: u32 = 5;
    pub(super) const FORK: u32 = 7;
    pub(super) const SAMPLE: u32 = 9;
    pub(super) const MMAP2: u32 = 10;
}

/// The mode of a processor in the `misc` field of a record.
const MODE: u16 = 7;
const USER_MODE: u16 = 2;
/// A mapping of data: it has no code.
const MAPPED_DATA: u16 = 1 << 13;

/// From here on a number in a call chain is a mark (`PERF_CONTEXT_MAX`), and no address.
const MARKS: u64 = (-4095_i64).cast_unsigned();
const USER_MARK: u64 = (-512_i64).cast_unsigned();

/// Longest chain that is read: the kernel is asked for 127 frames.
const FRAMES_MAX: u64 = 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SampleEvent {
    Sample(Box<ThreadSample>),
    /// Records that found no room.
    Lost(u64),
    /// A thread has this name from now on.
    Named {
        pid: u32,
        tid: u32,
        name: String,
    },
    /// A process was made by another. (Threads are no news: they have the mappings of their process.)
    Forked {
        pid: u32,
        parent: u32,
    },
    Exited {
        pid: u32,
        tid: u32,
    },
    /// Code was mapped.
    Mapped(MappedCode),
    /// The kernel left samples out, because they took it too long.
    Throttled,
    /// A kind of record that is not used.
    Other,
}

/// A mapping of code, as the kernel reported it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappedCode {
    pub pid: u32,
    pub start: u64,
    pub length: u64,
    pub offset: u64,
    pub path: String,
}

/// One look at a thread.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThreadSample {
    pub pid: u32,
    pub tid: u32,
    /// Where the thread was.
    pub ip: u64,
    /// Whether it was in user mode.
    pub is_user: bool,
    /// The chain in the kernel, from the innermost function; empty in user mode.
    pub kernel: Vec<u64>,
    /// The chain in user mode by frame pointers, from the innermost function. Empty with a copy of the stack.
    pub user: Vec<u64>,
    pub stack: Option<StackCopy>,
}

/// The registers in user mode, and the stack from the stack pointer on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StackCopy {
    pub registers: Registers,
    pub bytes: Vec<u8>,
}

/// Reads fields from the front of a record.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (front, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(front)
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_ne_bytes(self.bytes(2)?.try_into().ok()?))
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_ne_bytes(self.bytes(4)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_ne_bytes(self.bytes(8)?.try_into().ok()?))
    }

    /// A text that ends with a zero byte.
    fn text(&mut self) -> String {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        String::from_utf8_lossy(&self.0[..end]).into_owned()
    }
}

/// The records in these bytes, in order. A record that is cut off, or impossible, ends them.
pub fn events(bytes: &[u8], with_stacks: bool) -> impl Iterator<Item = SampleEvent> + '_ {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let mut head = Fields(rest);
        let (kind, misc, size) = (head.u32()?, head.u16()?, usize::from(head.u16()?));
        let body = rest.get(8..size)?;
        rest = &rest[size..];
        Some(event(kind, misc, body, with_stacks).unwrap_or(SampleEvent::Other))
    })
}

fn event(kind: u32, misc: u16, body: &[u8], with_stacks: bool) -> Option<SampleEvent> {
    let mut fields = Fields(body);
    Some(match kind {
        kind::SAMPLE => SampleEvent::Sample(Box::new(sample(misc, &mut fields, with_stacks)?)),
        kind::LOST => {
            let _id = fields.u64()?;
            SampleEvent::Lost(fields.u64()?)
        }
        kind::COMM => SampleEvent::Named { pid: fields.u32()?, tid: fields.u32()?, name: fields.text() },
        kind::FORK => {
            let (pid, parent) = (fields.u32()?, fields.u32()?);
            if pid == parent { SampleEvent::Other } else { SampleEvent::Forked { pid, parent } }
        }
        kind::EXIT => {
            let (pid, _parent) = (fields.u32()?, fields.u32()?);
            SampleEvent::Exited { pid, tid: fields.u32()? }
        }
        kind::THROTTLE => SampleEvent::Throttled,
        kind::MMAP2 if misc & MAPPED_DATA == 0 => {
            let (pid, _tid) = (fields.u32()?, fields.u32()?);
            let (start, length, offset) = (fields.u64()?, fields.u64()?, fields.u64()?);
            // Device, inode and generation (or the build id), protection, flags.
            fields.bytes(24 + 8)?;
            SampleEvent::Mapped(MappedCode { pid, start, length, offset, path: fields.text() })
        }
        _ => SampleEvent::Other,
    })
}

fn sample(misc: u16, fields: &mut Fields<'_>, with_stacks: bool) -> Option<ThreadSample> {
    let ip = fields.u64()?;
    let (pid, tid) = (fields.u32()?, fields.u32()?);
    let mut sample =
        ThreadSample { pid, tid, ip, is_user: misc & MODE == USER_MODE, ..ThreadSample::default() };
    let frames = fields.u64()?;
    if frames > FRAMES_MAX {
        return None;
    }
    // Without a mark the chain is that of the mode in which the sample was taken.
    let mut is_user = sample.is_user;
    for _ in 0..frames {
        match fields.u64()? {
            mark if mark >= MARKS => is_user = mark == USER_MARK,
            address if is_user => sample.user.push(address),
            address => sample.kernel.push(address),
        }
    }
    if with_stacks {
        sample.stack = stack(fields)?;
    }
    Some(sample)
}

/// The copy of the stack; `Some(None)` if the thread has none, such as one of the kernel.
fn stack(fields: &mut Fields<'_>) -> Option<Option<StackCopy>> {
    let has_registers = fields.u64()? != 0;
    let mut values = [0; registers::COUNT];
    if has_registers {
        for value in &mut values {
            *value = fields.u64()?;
        }
    }
    let size = usize::try_from(fields.u64()?).ok()?;
    if size == 0 {
        return Some(None);
    }
    let bytes = fields.bytes(size)?;
    // The kernel says how much of the room it filled.
    let filled = usize::try_from(fields.u64()?).ok()?.min(size);
    let copy = StackCopy { registers: registers::of(values), bytes: bytes[..filled].to_vec() };
    Some(has_registers.then_some(copy))
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(crate) fn record(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend(misc.to_ne_bytes());
        bytes.extend(((body.len() + 8) as u16).to_ne_bytes());
        bytes.extend(body);
        bytes
    }

    fn words(values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }

    fn pair(one: u32, other: u32) -> u64 {
        u64::from_ne_bytes([one.to_ne_bytes(), other.to_ne_bytes()].concat().try_into().unwrap())
    }

    #[test]
    fn a_chain_is_divided_at_its_marks() {
        let kernel_mark = (-128_i64).cast_unsigned();
        let body =
            words(&[0xffff_8000, pair(7, 8), 5, kernel_mark, 0xffff_8000, 0xffff_9000, USER_MARK, 0x40]);
        let found: Vec<SampleEvent> = events(&record(9, 1, &body), false).collect();
        let SampleEvent::Sample(sample) = &found[0] else { panic!("{found:?}") };
        assert_eq!((sample.pid, sample.tid, sample.is_user), (7, 8, false));
        assert_eq!((&sample.kernel[..], &sample.user[..]), (&[0xffff_8000, 0xffff_9000][..], &[0x40][..]));
    }

    #[test]
    fn a_stack_has_as_many_bytes_as_the_kernel_filled() {
        let mut body = words(&[0x40, pair(7, 7), 0, 2]);
        body.extend(words(&[5; registers::COUNT]));
        body.extend(words(&[16, 1, 2, 8]));
        let found: Vec<SampleEvent> = events(&record(9, 2, &body), true).collect();
        let SampleEvent::Sample(sample) = &found[0] else { panic!("{found:?}") };
        assert_eq!(sample.stack.as_ref().unwrap().bytes, 1_u64.to_ne_bytes());
        let without = record(9, 2, &words(&[0x40, pair(7, 7), 0, 0, 0]));
        let Some(SampleEvent::Sample(sample)) = events(&without, true).next() else { panic!() };
        assert_eq!(sample.stack, None);
    }

    #[test]
    fn what_happened_beside_samples_is_read_too() {
        let mut mapped = words(&[pair(3, 3), 0x1000, 0x2000, 0x30, 0, 0, 0, 0]);
        mapped.extend(b"/usr/bin/x\0\0\0\0\0\0");
        let mut named = words(&[pair(3, 4)]);
        named.extend(b"GC Thread#0\0\0\0\0\0");
        let bytes = [
            record(10, 2, &mapped),
            record(10, MAPPED_DATA, &mapped),
            record(3, 0, &named),
            record(7, 0, &words(&[pair(9, 3), pair(9, 3), 0])),
            record(7, 0, &words(&[pair(3, 3), pair(5, 3), 0])),
            record(4, 0, &words(&[pair(9, 3), pair(9, 3), 0])),
            record(2, 0, &words(&[1, 17])),
        ];
        let found: Vec<SampleEvent> = events(&bytes.concat(), false).collect();
        let code =
            MappedCode { pid: 3, start: 0x1000, length: 0x2000, offset: 0x30, path: "/usr/bin/x".to_owned() };
        let expected = [
            SampleEvent::Mapped(code),
            SampleEvent::Other,
            SampleEvent::Named { pid: 3, tid: 4, name: "GC Thread#0".to_owned() },
            SampleEvent::Forked { pid: 9, parent: 3 },
            SampleEvent::Other,
            SampleEvent::Exited { pid: 9, tid: 9 },
            SampleEvent::Lost(17),
        ];
        assert_eq!(found, expected);
    }

    proptest! {
        #[test]
        fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..400), with_stacks: bool) {
            prop_assert!(events(&bytes, with_stacks).count() <= bytes.len() / 8);
        }

        #[test]
        fn any_body_of_a_known_kind_is_read_or_refused(kind in 0_u32..12, misc: u16,
                body in prop::collection::vec(any::<u8>(), 0..200), with_stacks: bool) {
            prop_assert_eq!(events(&record(kind, misc, &body), with_stacks).count(), 1);
        }
    }
}
