//! The io_uring driver: requests are queued in shared memory and submitted in batches; receives stay armed.
//!
//! An answer costs no system call of its own and one queued send, whose success is not reported. Descriptors
//! are ordinary ones: with a registered table, older kernels keep a closed file until every older request of
//! the ring has ended (liburing issue 1192). A kept connection's receive does not end; no gain was measured.

mod buffers;
mod setup;
mod token;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::ops::Range;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::sync::Arc;
use std::{fmt, io, mem, ptr};

use io_uring::types::{CancelBuilder, Fd, SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, cqueue, opcode, squeue};
use rustix::io::Errno;
use rustix::net::{SocketAddrAny, SocketFlags};

use self::buffers::{Buffers, ReceivedRange};
use self::token::{GENERATION_MAX, Operation, Token};
use super::outgoing::Outgoing;
use super::socket::{self, broken_failure, connect_failure};
use super::{Driver, Event, GATHER_NS, Kernel};
use crate::request_buffer::RequestBuffer;
use crate::tally::Failure;
use tare_base::Route;
use tare_base::{Clock, Monotonic};

/// The longest send that counts as taken as soon as it is queued.
const SMALL_BYTES_MAX: usize = 16 * 1024;
/// The longest single send: a length has 32 bits, and a result is signed.
const SEND_BYTES_MAX: usize = 1 << 30;
/// Queued sends are submitted after this number at the latest, so that the first does not wait for the last of a long batch.
const FLUSH_EVERY: u32 = 8;
/// `IO_LOCAL_TW_DEFAULT_MAX` of the kernel: completions that a call without a wait brings in at most.
const COMPLETIONS_PER_CALL: usize = 20;
/// `IORING_RECVSEND_POLL_FIRST`: wait before the first attempt.
const RECV_POLL_FIRST: u16 = 1;
/// `IORING_RECV_MULTISHOT`: one request for all receives of a connection.
const RECV_MULTISHOT: u16 = 2;
/// Gathering ends once this number of bytes, which is several small answers, has arrived. A server that sends
/// many answers in a segment gathers by itself, and waiting for more segments cost up to a third more CPU
/// time.
const GATHERED_BYTES: i64 = 1024;
/// The token of the final operation, which cancels all others.
const LAST: u64 = u64::MAX;

/// State of a send that the kernel has not accepted whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Sending {
    /// There is no such send.
    #[default]
    Nothing,
    /// The caller waits for it: `Sendable` reports how much of it was sent.
    Large,
    /// The rest of a send that was reported as sent when it was queued. The caller does not wait for it.
    Rest,
    /// Such a rest, while the caller waits to send more.
    RestAwaited,
}

#[derive(Debug, Default)]
struct RingSocket {
    fd: Option<OwnedFd>,
    /// Distinguishes it from earlier connections of the same slot, whose completions may still arrive.
    generation: u32,
    connecting: bool,
    receiving: bool,
    sending: Sending,
    /// The batch of the last small send, whose result is known once the batch has been submitted.
    batch: u32,
    /// The part of the last send that the kernel has not accepted yet.
    unsent: Range<usize>,
}

/// Connections behind one ring.
pub(crate) struct Uring {
    // Declared first, so that it is dropped before the memory that is registered with it.
    ring: IoUring,
    buffers: Buffers,
    sockets: Vec<RingSocket>,
    outgoing: Outgoing,
    /// Replaced buffers that a large send may still read.
    retired: Vec<Arc<RequestBuffer>>,
    /// Bytes of closed connections that a large send may still read.
    retired_own: Vec<Vec<u8>>,
    /// Pending large sends, including those of closed connections.
    large_sends: usize,
    /// Address of queued connects, which the kernel reads when they are submitted.
    target: Box<SocketAddrAny>,
    /// The number of submissions.
    batch: u32,
    queued_sends: u32,
    /// Completions that were taken off the ring and not processed yet.
    completions: VecDeque<cqueue::Entry>,
    /// Completions of small sends that were not accepted whole.
    short: Vec<cqueue::Entry>,
    piece: ReceivedRange,
}

impl fmt::Debug for Uring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Uring");
        text.field("ring", self.ring.params()).field("sockets", &self.sockets).finish_non_exhaustive()
    }
}

impl Uring {
    /// Queues a request.
    ///
    /// # Safety
    ///
    /// Memory of the entry must live until it is submitted; that of a large send until completed.
    #[inline]
    #[allow(unsafe_code)]
    unsafe fn push(&mut self, entry: &squeue::Entry) {
        // SAFETY: the caller guarantees it.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            self.flush();
        }
    }

    /// Submits what is queued. With a time limit, also waits for `want` completions and collects them.
    #[allow(unsafe_code)]
    fn enter(&mut self, want: u32, timeout: Option<&Timespec>) -> io::Result<()> {
        let queued = self.ring.submission().len() as u32;
        let submitter = self.ring.submitter();
        let result = match timeout {
            // SAFETY: the call has no argument.
            None => unsafe { submitter.enter::<SubmitArgs<'_, '_>>(queued, 0, 0, None) },
            Some(timeout) => {
                let arguments = SubmitArgs::new().timespec(timeout);
                let flags = EnterFlags::GETEVENTS | EnterFlags::EXT_ARG;
                // SAFETY: the argument has the type that the flag announces, and outlives the call.
                unsafe { submitter.enter(queued, want, flags.bits(), Some(&arguments)) }
            }
        };
        // Entries that a memory shortage left in the queue are submitted with the next call.
        if self.ring.submission().is_empty() {
            self.batch = self.batch.wrapping_add(1);
            self.queued_sends = 0;
        }
        match result.as_ref().err().and_then(io::Error::raw_os_error) {
            None | Some(libc::ETIME | libc::EINTR | libc::EAGAIN | libc::EBUSY) => Ok(()),
            Some(_) => result.map(drop),
        }
    }

    /// Submits what is queued without waiting, and learns which sends were not accepted whole.
    fn flush(&mut self) {
        let mut overflow = false;
        loop {
            // Completions beyond the size of the ring are delivered only by a call that collects completions.
            let timeout = overflow.then(Timespec::new);
            self.enter(0, timeout.as_ref()).expect("a ring serves the thread that made it");
            overflow = self.ring.submission().cq_overflow();
            self.collect();
            if self.ring.submission().is_empty() && !overflow {
                return;
            }
        }
    }

    /// Takes the completions off the ring and resends the rest of short sends that were reported as accepted:
    /// a second send on that connection must not overtake it. Returns the number of completions.
    fn collect(&mut self) -> usize {
        let mut count = 0;
        for completion in self.ring.completion() {
            count += 1;
            let token = Token::unpack(completion.user_data());
            let not_whole = completion.result() >= 0 || completion.result() == -libc::EAGAIN;
            if token.operation == Operation::SmallSend && not_whole {
                self.short.push(completion);
            } else {
                self.completions.push_back(completion);
            }
        }
        while let Some(completion) = self.short.pop() {
            let token = Token::unpack(completion.user_data());
            if self.is_live(token) {
                let socket = &mut self.sockets[token.slot];
                socket.unsent.start += usize::try_from(completion.result()).unwrap_or(0);
                socket.sending = Sending::Rest;
                self.send_large(token.slot);
            }
        }
        count
    }

    #[inline]
    fn is_live(&self, token: Token) -> bool {
        self.sockets.get(token.slot).is_some_and(|socket| socket.generation == token.generation)
    }

    #[inline]
    fn token(&self, operation: Operation, slot: usize) -> u64 {
        Token { operation, slot, generation: self.sockets[slot].generation }.pack()
    }

    #[allow(unsafe_code)]
    fn try_connect(&mut self, slot: usize, route: &Route) -> Result<(), Errno> {
        let (fd, target) = match socket::open(route, slot, SocketFlags::empty()) {
            Err(Errno::MFILE) => {
                // Queued closes free descriptors.
                self.flush();
                socket::open(route, slot, SocketFlags::empty())?
            }
            opened => opened?,
        };
        if *self.target != target {
            self.flush();
            *self.target = target;
        }
        let (address, bytes) = (self.target.as_ptr().cast(), self.target.addr_len());
        let entry = opcode::Connect::new(Fd(fd.as_raw_fd()), address, bytes).build();
        // SAFETY: the address is boxed, and is replaced only above, after the kernel has read it.
        unsafe { self.push(&entry.user_data(self.token(Operation::Connect, slot))) };
        let socket = &mut self.sockets[slot];
        *socket = RingSocket {
            fd: Some(fd),
            generation: socket.generation,
            // The last send of the slot's previous connection may not be submitted yet.
            batch: socket.batch,
            connecting: true,
            ..RingSocket::default()
        };
        Ok(())
    }

    #[allow(unsafe_code)]
    fn receive(&mut self, slot: usize, flags: u16) {
        let socket = &mut self.sockets[slot];
        let Some(fd) = &socket.fd else { return };
        socket.receiving = true;
        let entry = opcode::Recv::new(Fd(fd.as_raw_fd()), ptr::null_mut(), 0)
            .ioprio(RECV_MULTISHOT | flags)
            .buf_group(buffers::GROUP)
            .build()
            .flags(squeue::Flags::BUFFER_SELECT)
            .user_data(self.token(Operation::Receive, slot));
        // SAFETY: it points to no memory except the registered buffers.
        unsafe { self.push(&entry) };
    }

    /// Sends the unsent part, with a completion.
    #[allow(unsafe_code)]
    fn send_large(&mut self, slot: usize) {
        let socket = &self.sockets[slot];
        let Some(fd) = &socket.fd else { return };
        let bytes = self.outgoing.bytes(slot, socket.unsent.clone());
        let length = bytes.len().min(SEND_BYTES_MAX) as u32;
        let entry = opcode::Send::new(Fd(fd.as_raw_fd()), bytes.as_ptr(), length)
            .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
            .build()
            .user_data(self.token(Operation::LargeSend, slot));
        self.large_sends += 1;
        // SAFETY: a buffer is kept until no large send is pending.
        unsafe { self.push(&entry) };
    }

    /// Keeps replaced requests for as long as a large send may read them.
    fn retire(&mut self, old: Arc<RequestBuffer>) {
        if self.large_sends > 0 {
            self.retired.push(old);
        }
    }

    /// The event of a completion, if it concerns the caller.
    #[inline]
    fn event(&mut self, completion: &cqueue::Entry) -> Option<Event> {
        let token = Token::unpack(completion.user_data());
        let live = self.is_live(token);
        let slot = token.slot;
        let result = taken(completion.result());
        match token.operation {
            Operation::Receive => {
                self.piece = self.buffers.take(completion.result(), completion.flags());
                if live { self.received_event(slot, completion.flags(), result) } else { self.release() }
            }
            Operation::LargeSend => {
                self.large_sends -= 1;
                if self.large_sends == 0 {
                    self.retired.clear();
                    self.retired_own.clear();
                }
                if live { self.sent_event(slot, result) } else { None }
            }
            Operation::SmallSend if live => {
                result.err().map(|errno| Event::Failed { slot, failure: broken_failure(errno) })
            }
            Operation::Connect if live => Some(self.connected_event(slot, result)),
            Operation::SmallSend | Operation::Connect | Operation::End => None,
        }
    }

    fn connected_event(&mut self, slot: usize, result: Result<usize, Errno>) -> Event {
        self.sockets[slot].connecting = false;
        match result {
            Ok(_) => {
                // There is nothing to read yet.
                self.receive(slot, RECV_POLL_FIRST);
                Event::Connected { slot }
            }
            Err(errno) => Event::ConnectFailed { slot, failure: connect_failure(errno) },
        }
    }

    #[inline]
    fn received_event(&mut self, slot: usize, flags: u32, result: Result<usize, Errno>) -> Option<Event> {
        let armed = cqueue::more(flags);
        self.sockets[slot].receiving = armed;
        match result {
            Ok(0) => Some(Event::Closed { slot }),
            Ok(_) => {
                if !armed {
                    self.receive(slot, 0);
                }
                Some(Event::Received { slot, hangup: self.ends_next(slot) })
            }
            // The buffers of earlier receives are returned by the time this is submitted.
            Err(Errno::NOBUFS | Errno::AGAIN | Errno::INTR | Errno::CANCELED) => {
                if !armed {
                    self.receive(slot, 0);
                }
                None
            }
            Err(errno) => Some(Event::Failed { slot, failure: broken_failure(errno) }),
        }
    }

    /// Whether the next completion is the end of the same connection. The kernel receives until nothing is
    /// left, so an end that arrived with the last bytes follows them.
    #[inline]
    fn ends_next(&self, slot: usize) -> bool {
        let Some(next) = self.completions.front() else { return false };
        let same = next.user_data() == self.token(Operation::Receive, slot);
        same && (next.result() == 0 || next.result() == -libc::ECONNRESET)
    }

    fn sent_event(&mut self, slot: usize, result: Result<usize, Errno>) -> Option<Event> {
        let socket = &mut self.sockets[slot];
        let sending = mem::take(&mut socket.sending);
        let sent = match result {
            Ok(sent) => sent,
            Err(errno) => return Some(Event::Failed { slot, failure: broken_failure(errno) }),
        };
        socket.unsent.start += sent;
        if sending == Sending::Large {
            return Some(Event::Sendable { slot, sent });
        }
        if !socket.unsent.is_empty() {
            socket.sending = sending;
            self.send_large(slot);
            return None;
        }
        (sending == Sending::RestAwaited).then_some(Event::Sendable { slot, sent: 0 })
    }

    /// Returns the memory of the last received bytes to the kernel. It produces no event.
    #[inline]
    fn release(&mut self) -> Option<Event> {
        self.buffers.give_back(mem::take(&mut self.piece));
        None
    }

    #[allow(unsafe_code)]
    fn cancel(&mut self, operation: Operation, slot: usize) {
        let end = self.token(Operation::End, slot);
        let entry = opcode::AsyncCancel::new(self.token(operation, slot)).build();
        // SAFETY: it points to no memory.
        unsafe { self.push(&entry.flags(squeue::Flags::SKIP_SUCCESS).user_data(end)) };
    }
}

impl Kernel for Uring {
    fn new(slots: usize) -> io::Result<Self> {
        let ring = setup::ring()?;
        let buffers = Buffers::register(&ring.submitter())
            .map_err(|error| io::Error::new(error.kind(), format!("no buffers for io_uring: {error}")))?;
        let mut sockets = Vec::new();
        sockets.resize_with(slots, RingSocket::default);
        Ok(Self {
            ring,
            buffers,
            sockets,
            outgoing: Outgoing::new(slots),
            retired: Vec::new(),
            retired_own: Vec::new(),
            large_sends: 0,
            target: Box::new(SocketAddr::from(([0, 0, 0, 0], 0)).into()),
            // No socket has sent in this batch.
            batch: 1,
            queued_sends: 0,
            completions: VecDeque::new(),
            short: Vec::new(),
            piece: ReceivedRange::default(),
        })
    }
}

impl Driver for Uring {
    fn set_requests(&mut self, requests: Arc<RequestBuffer>) {
        // Small sends end when they are submitted.
        self.flush();
        let old = self.outgoing.share(requests);
        self.retire(old);
    }

    #[inline]
    fn own(&mut self, slot: usize) -> Option<&mut Vec<u8>> {
        if self.sockets[slot].batch == self.batch {
            self.flush();
        }
        let socket = &mut self.sockets[slot];
        if socket.sending != Sending::Nothing {
            if socket.sending == Sending::Rest {
                socket.sending = Sending::RestAwaited;
            }
            return None;
        }
        Some(self.outgoing.own(slot))
    }

    fn connect(&mut self, slot: usize, route: &Route) -> Result<(), Failure> {
        self.close(slot);
        self.try_connect(slot, route).map_err(connect_failure)
    }

    #[inline]
    #[allow(unsafe_code)]
    fn send(&mut self, slot: usize, range: Range<usize>) -> Result<usize, Failure> {
        if self.sockets[slot].batch == self.batch {
            self.flush();
        }
        let socket = &mut self.sockets[slot];
        let Some(fd) = &socket.fd else { return Err(Failure::Other) };
        if socket.sending != Sending::Nothing {
            socket.sending = Sending::RestAwaited;
            return Ok(0);
        }
        socket.unsent = range.clone();
        let length = range.len();
        if length > SMALL_BYTES_MAX {
            socket.sending = Sending::Large;
            self.send_large(slot);
            return Ok(0);
        }
        socket.batch = self.batch;
        let token = Token { operation: Operation::SmallSend, slot, generation: socket.generation };
        let entry =
            opcode::Send::new(Fd(fd.as_raw_fd()), self.outgoing.bytes(slot, range).as_ptr(), length as u32)
                .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL | libc::MSG_DONTWAIT)
                .build()
                .flags(squeue::Flags::SKIP_SUCCESS)
                .user_data(token.pack());
        // SAFETY: the buffer is replaced only after queued sends were submitted, and a small send ends with its submission.
        unsafe { self.push(&entry) };
        self.queued_sends += 1;
        if self.queued_sends >= FLUSH_EVERY {
            self.flush();
        }
        Ok(length)
    }

    #[allow(unsafe_code)]
    fn close(&mut self, slot: usize) {
        let socket = &mut self.sockets[slot];
        let Some(fd) = socket.fd.take() else { return };
        let (connecting, receiving) = (mem::take(&mut socket.connecting), mem::take(&mut socket.receiving));
        let sending = mem::take(&mut socket.sending);
        // Each pending operation holds the connection open.
        if connecting {
            self.cancel(Operation::Connect, slot);
        }
        if receiving {
            self.cancel(Operation::Receive, slot);
        }
        if sending != Sending::Nothing {
            self.cancel(Operation::LargeSend, slot);
            self.retired_own.push(mem::take(self.outgoing.own(slot)));
        }
        // Queued after the sends for this descriptor, whose number the next connection may get.
        let entry = opcode::Close::new(Fd(fd.into_raw_fd())).build().flags(squeue::Flags::SKIP_SUCCESS);
        let entry = entry.user_data(self.token(Operation::End, slot));
        // SAFETY: it points to no memory, and the descriptor is ours.
        unsafe { self.push(&entry) };
        let socket = &mut self.sockets[slot];
        socket.generation = (socket.generation + 1) & GENERATION_MAX;
    }

    fn is_open(&self, slot: usize) -> bool {
        self.sockets[slot].fd.is_some()
    }

    fn wait(&mut self, timeout_ns: u64) {
        self.release();
        let unread = !self.completions.is_empty();
        let timeout_ns = if unread { 0 } else { timeout_ns };
        let timeout =
            Timespec::new().sec(timeout_ns / 1_000_000_000).nsec((timeout_ns % 1_000_000_000) as u32);
        loop {
            self.enter(u32::from(timeout_ns > 0), Some(&timeout))
                .expect("a ring serves the thread that made it");
            // A call without a wait delivers at most that number, and all completions are wanted.
            if self.collect() < COMPLETIONS_PER_CALL || timeout_ns > 0 {
                return;
            }
        }
    }

    fn gather(&mut self, count: usize, sleeps: bool) -> u64 {
        let missing = count.saturating_sub(self.completions.len());
        let bytes =
            || self.completions.iter().map(|completion| i64::from(completion.result().max(0))).sum::<i64>();
        if missing == 0 || self.completions.is_empty() || bytes() >= GATHERED_BYTES {
            return 0;
        }
        let collect = |this: &mut Self, want: usize, timeout_ns: u64| {
            let timeout = Timespec::new().nsec(timeout_ns as u32);
            this.enter(want as u32, Some(&timeout)).expect("a ring serves the thread that made it");
            this.collect()
        };
        if sleeps {
            collect(self, missing, GATHER_NS);
            return 0;
        }
        let began_ns = Monotonic.now_ns();
        let (mut now_ns, mut for_nothing_ns) = (began_ns, 0);
        while self.completions.len() < count && now_ns < began_ns + GATHER_NS {
            let brought = collect(self, 0, 0);
            let then_ns = std::mem::replace(&mut now_ns, Monotonic.now_ns());
            for_nothing_ns += if brought == 0 { now_ns - then_ns } else { 0 };
        }
        for_nothing_ns
    }

    #[inline]
    fn next_event(&mut self) -> Option<Event> {
        self.release();
        loop {
            let completion = self.completions.pop_front()?;
            if let Some(event) = self.event(&completion) {
                return Some(event);
            }
        }
    }

    #[inline]
    fn received(&self) -> &[u8] {
        self.buffers.bytes(&self.piece)
    }

    #[inline]
    fn received_mut(&mut self) -> &mut [u8] {
        self.buffers.bytes_mut(&self.piece)
    }
}

impl Drop for Uring {
    /// Ends everything now: left to itself, the kernel would close the connections some time later.
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        for socket in &mut self.sockets {
            socket.generation = (socket.generation + 1) & GENERATION_MAX;
        }
        let moment = Timespec::new().nsec(1_000_000);
        let all = opcode::AsyncCancel2::new(CancelBuilder::any()).build().user_data(LAST);
        let mut over = self.enter(0, None).is_err();
        // SAFETY: it points to no memory.
        over |= unsafe { self.ring.submission().push(&all) }.is_err();
        let mut quiet = false;
        while !over {
            // Cancelled operations complete in later calls.
            quiet |= self.completions.iter().any(|completion| completion.user_data() == LAST);
            self.completions.clear();
            over = self.enter(u32::from(!quiet), Some(&moment)).is_err() || (self.collect() == 0 && quiet);
        }
    }
}

#[inline]
fn taken(result: i32) -> Result<usize, Errno> {
    usize::try_from(result).map_err(|_negative| Errno::from_raw_os_error(-result))
}
