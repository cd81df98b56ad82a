//! The lower bound of the cost: an io_uring loop that sends a request, finds the end of the response head,
//! counts the body and sends again. It has the driver's ring and buffers and nothing else: no checks, no
//! clock per request, no histogram, no timeouts, no schedule.

use std::error::Error;
use std::io;
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};

#[allow(dead_code)]
#[path = "../../src/driver/uring/buffers.rs"]
mod buffers;
#[allow(unused_imports, reason = "its unit tests are compiled with a benchmark, and not run")]
#[path = "../../src/driver/uring/setup.rs"]
mod setup;

use buffers::{Buffers, GROUP};

/// `IORING_RECVSEND_POLL_FIRST` and `IORING_RECV_MULTISHOT`, as the driver has them.
const RECEIVE: u16 = 1 | 2;
/// The same value as in the driver.
const FLUSH_EVERY: usize = 16;

struct Bare {
    // Declared before the memory that is registered with it, because fields are dropped in this order.
    ring: IoUring,
    buffers: Buffers,
    connections: Vec<Connection>,
    request: Vec<u8>,
    body_bytes: usize,
    answered: u64,
}

struct Connection {
    stream: TcpStream,
    /// The start of a head that was split, for example at the end of a buffer.
    head: Vec<u8>,
    /// Bytes of the body that are still to come, once the head is there.
    left: usize,
}

impl Connection {
    /// Whether `bytes` end the response.
    fn take(&mut self, mut bytes: &[u8], body_bytes: usize) -> io::Result<bool> {
        const END: &[u8] = b"\r\n\r\n";
        if self.left == 0 {
            let Some(end) = memchr::memmem::find(bytes, END).filter(|_| self.head.is_empty()) else {
                return self.take_piece(bytes, body_bytes);
            };
            (bytes, self.left) = (&bytes[end + END.len()..], body_bytes);
        }
        self.left = self.left.checked_sub(bytes.len()).ok_or(io::ErrorKind::InvalidData)?;
        Ok(self.left == 0)
    }

    #[cold]
    fn take_piece(&mut self, bytes: &[u8], body_bytes: usize) -> io::Result<bool> {
        let mut head = std::mem::take(&mut self.head);
        head.extend_from_slice(bytes);
        if memchr::memmem::find(&head, b"\r\n\r\n").is_some() {
            return self.take(&head, body_bytes);
        }
        self.head = head;
        Ok(false)
    }
}

/// Runs with the words ADDRESS CONNECTIONS SECONDS BODY_BYTES, and prints how many requests were answered.
pub fn run(words: &[String]) -> Result<(), Box<dyn Error>> {
    let [address, connections, seconds, body_bytes] = words else {
        return Err("bare takes four words".into());
    };
    let open = |_| -> io::Result<Connection> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream, head: Vec::new(), left: 0 })
    };
    let ring = setup::ring()?;
    let buffers = Buffers::register(&ring.submitter())?;
    let mut bare = Bare {
        ring,
        buffers,
        connections: (0..connections.parse()?).map(open).collect::<Result<_, _>>()?,
        request: b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        body_bytes: body_bytes.parse()?,
        answered: 0,
    };
    bare.drive(Duration::from_secs_f64(seconds.parse()?))?;
    println!("requests       {}", bare.answered);
    Ok(())
}

impl Bare {
    fn drive(&mut self, window: Duration) -> io::Result<()> {
        for slot in 0..self.connections.len() {
            self.receive(slot)?;
            self.send(slot)?;
        }
        let timeout = Timespec::new().nsec(20_000_000);
        let arguments = SubmitArgs::new().timespec(&timeout);
        let end = Instant::now() + window;
        let mut completions: Vec<cqueue::Entry> = Vec::new();
        while Instant::now() < end {
            match self.ring.submitter().submit_with_args(1, &arguments) {
                Err(error) if !matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR)) => {
                    return Err(error);
                }
                _ => completions.extend(self.ring.completion()),
            }
            let mut queued = 0;
            for completion in completions.drain(..) {
                queued += usize::from(self.take(&completion)?);
                if queued == FLUSH_EVERY {
                    self.ring.submit()?;
                    queued = 0;
                }
            }
        }
        Ok(())
    }

    /// Processes a received buffer; true if another request was sent.
    fn take(&mut self, completion: &cqueue::Entry) -> io::Result<bool> {
        let (slot, result, flags) =
            (completion.user_data() as usize, completion.result(), completion.flags());
        if result <= 0 && result != -libc::ENOBUFS {
            return Err(io::Error::other(format!("a connection ended with {result}")));
        }
        let piece = self.buffers.take(result, flags);
        let bytes = self.buffers.bytes(&piece);
        let is_answered = !bytes.is_empty() && self.connections[slot].take(bytes, self.body_bytes)?;
        self.buffers.give_back(piece);
        if !cqueue::more(flags) {
            self.receive(slot)?;
        }
        if is_answered {
            self.answered += 1;
            self.send(slot)?;
        }
        Ok(is_answered)
    }

    fn receive(&mut self, slot: usize) -> io::Result<()> {
        let descriptor = Fd(self.connections[slot].stream.as_raw_fd());
        let receive = opcode::Recv::new(descriptor, std::ptr::null_mut(), 0).ioprio(RECEIVE).buf_group(GROUP);
        self.push(&receive.build().flags(squeue::Flags::BUFFER_SELECT).user_data(slot as u64))
    }

    fn send(&mut self, slot: usize) -> io::Result<()> {
        let descriptor = Fd(self.connections[slot].stream.as_raw_fd());
        let flags = libc::MSG_NOSIGNAL | libc::MSG_WAITALL | libc::MSG_DONTWAIT;
        let send =
            opcode::Send::new(descriptor, self.request.as_ptr(), self.request.len() as u32).flags(flags);
        self.push(&send.build().flags(squeue::Flags::SKIP_SUCCESS).user_data(slot as u64))
    }

    #[allow(unsafe_code)]
    fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: a receive writes to the registered buffers only. A send does not wait, so it reads the
        // request when it is submitted. Both memories live as long as the ring.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            self.ring.submit()?;
        }
        Ok(())
    }
}
