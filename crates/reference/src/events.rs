//! The raw-socket server of streams: each request is answered by server-sent events at an interval, or as fast
//! as the client reads. Like the raw socket it does as little as possible: one `write` for each event, and no
//! parsing. An event has its number as id, and as data its number and the Unix time at which it was sent.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    fmt::Write as _,
    io,
    net::{Ipv4Addr, TcpListener},
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
    str::FromStr,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use rustix::{event::epoll, io::Errno, net::SocketFlags, time::Timespec};
use tare_base::{Clock, Monotonic, units::parse_duration, unix_now_ns};

use super::{heads::Heads, listen};

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\
                    Transfer-Encoding: chunked\r\n\r\n";
/// The number of events in a write to a client that reads as fast as it can.
const BATCH: u64 = 16;
/// What the kernel keeps of a stream that is not read. The usual megabytes would be events of seconds ago, and a client
/// that is busy with other streams would find this one silent.
const SEND_BYTES: usize = 64 * 1024;
/// The longest sleep between two checks whether to stop.
const LOOK_UP_NS: u64 = 100_000_000;

/// The settings of a server.
#[derive(Debug)]
pub struct RawEvents {
    /// 127.0.0.1 for local clients only.
    pub address: Ipv4Addr,
    pub port: u16,
    /// The interval of events on each stream; zero to send as fast as the client reads.
    pub every: Duration,
    /// What is wrong with some events, in a trial of the instrument.
    pub fault: Option<PlantedEvent>,
}

/// Something that is wrong with every N-th event: `lost/1500`, `late=5ms/100`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlantedEvent {
    pub kind: PlantedKind,
    pub every: u64,
}

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlantedKind {
    /// The data lacks its time.
    Wrong,
    /// The event is not sent.
    Lost,
    /// The event before is sent again.
    Repeated,
    /// The event is sent this much later than it is due, and those after it are not.
    Late(Duration),
    /// Nothing is sent any more.
    Silent,
    /// The connection is closed within the event.
    Cut,
}

impl FromStr for PlantedEvent {
    type Err = String;

    fn from_str(text: &str) -> Result<PlantedEvent, String> {
        let usage = || {
            format!(
                "unknown fault \"{text}\": use wrong/N, lost/N, repeated/N, late=TIME/N, silent/N or cut/N"
            )
        };
        let (kind, every) = text.split_once('/').ok_or_else(usage)?;
        let every = every.parse().ok().filter(|every| *every > 0).ok_or_else(usage)?;
        let kind = match kind {
            "wrong" => PlantedKind::Wrong,
            "lost" => PlantedKind::Lost,
            "repeated" => PlantedKind::Repeated,
            "silent" => PlantedKind::Silent,
            "cut" => PlantedKind::Cut,
            _ => {
                let late = kind.strip_prefix("late=").ok_or_else(usage)?;
                PlantedKind::Late(parse_duration(late).map_err(|error| error.to_string())?)
            }
        };
        Ok(PlantedEvent { kind, every })
    }
}

impl RawEvents {
    /// Serves until `stop` is set.
    ///
    /// # Errors
    /// The port cannot be used, or the kernel refuses a call.
    pub fn run(&self, stop: &AtomicBool) -> io::Result<()> {
        let listener = listen(self.address, self.port)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, key(listener.as_fd()), epoll::EventFlags::IN)?;
        let every_ns = u64::try_from(self.every.as_nanos()).unwrap_or(u64::MAX);
        let mut server = Server {
            every_ns,
            fault: self.fault,
            epoll,
            streams: Vec::new(),
            due: BinaryHeap::new(),
            out: String::new(),
        };
        server.serve(&listener, stop)
    }
}

struct Server {
    every_ns: u64,
    fault: Option<PlantedEvent>,
    epoll: OwnedFd,
    /// Indexed by descriptor, which is a small number.
    streams: Vec<Option<EventStream>>,
    /// When the next event of each stream is sent.
    due: BinaryHeap<Reverse<(u64, usize)>>,
    out: String,
}

struct EventStream {
    socket: OwnedFd,
    heads: Heads,
    /// When the first event was due; `None` before the request.
    start_ns: Option<u64>,
    /// The instant of its only valid place in the queue.
    due_ns: u64,
    /// The number of events so far.
    count: u64,
    /// Bytes that the socket did not accept yet.
    unsent: Vec<u8>,
}

impl Server {
    fn serve(&mut self, listener: &TcpListener, stop: &AtomicBool) -> io::Result<()> {
        let mut events = Vec::with_capacity(256);
        while !stop.load(Ordering::Relaxed) {
            events.clear();
            let sleep_ns = match self.due.peek() {
                Some(Reverse((due_ns, _))) => due_ns.saturating_sub(Monotonic.now_ns()).min(LOOK_UP_NS),
                None => LOOK_UP_NS,
            };
            let sleep = Timespec { tv_sec: 0, tv_nsec: sleep_ns as i64 };
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), Some(&sleep)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in &events {
                let index = event.data.u64() as usize;
                if index as i32 == listener.as_raw_fd() {
                    self.accept(listener)?;
                } else if !self.ready(index, event.flags) {
                    self.streams[index] = None;
                }
            }
            self.send_due();
        }
        Ok(())
    }

    fn accept(&mut self, listener: &TcpListener) -> io::Result<()> {
        loop {
            match rustix::net::accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok(socket) => {
                    rustix::net::sockopt::set_tcp_nodelay(&socket, true)?;
                    rustix::net::sockopt::set_socket_send_buffer_size(&socket, SEND_BYTES)?;
                    epoll::add(&self.epoll, &socket, key(socket.as_fd()), epoll::EventFlags::IN)?;
                    let index = socket.as_raw_fd() as usize;
                    if index >= self.streams.len() {
                        self.streams.resize_with(index + 1, || None);
                    }
                    let heads = Heads::default();
                    let stream = EventStream {
                        socket,
                        heads,
                        start_ns: None,
                        due_ns: 0,
                        count: 0,
                        unsent: Vec::new(),
                    };
                    self.streams[index] = Some(stream);
                }
                Err(Errno::AGAIN | Errno::CONNABORTED | Errno::INTR) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Handles what a socket is ready for; false once its stream is over.
    fn ready(&mut self, index: usize, flags: epoll::EventFlags) -> bool {
        let Some(stream) = self.streams.get_mut(index).and_then(Option::as_mut) else { return true };
        if flags.intersects(epoll::EventFlags::IN | epoll::EventFlags::HUP | epoll::EventFlags::ERR) {
            let mut bytes = [0; 4096];
            let heads = match rustix::io::read(&stream.socket, &mut bytes) {
                Ok(0) => return false,
                Ok(count) => stream.heads.count(&bytes[..count]),
                Err(Errno::AGAIN | Errno::INTR) => 0,
                Err(_) => return false,
            };
            if heads > 0 && stream.start_ns.is_none() {
                let now_ns = Monotonic.now_ns();
                (stream.start_ns, stream.due_ns) = (Some(now_ns), now_ns);
                if !stream.send(HEAD.as_bytes(), &self.epoll) {
                    return false;
                }
                self.due.push(Reverse((now_ns, index)));
            }
        }
        if flags.contains(epoll::EventFlags::OUT) {
            let unsent = std::mem::take(&mut stream.unsent);
            if !stream.send(&unsent, &self.epoll) {
                return false;
            }
            if stream.unsent.is_empty() {
                if !stream.listen_for(&self.epoll, epoll::EventFlags::IN) {
                    return false;
                }
                // A client that read too slowly gets what is due now, and not what was due meanwhile.
                stream.due_ns = stream.due_ns.max(Monotonic.now_ns());
                self.due.push(Reverse((stream.due_ns, index)));
            }
        }
        true
    }

    /// Sends the events that are due.
    fn send_due(&mut self) {
        let now_ns = Monotonic.now_ns();
        while let Some(&Reverse((due_ns, index))) = self.due.peek() {
            if due_ns > now_ns {
                return;
            }
            self.due.pop();
            let Some(stream) = self.streams.get_mut(index).and_then(Option::as_mut) else { continue };
            if stream.due_ns != due_ns || !stream.unsent.is_empty() {
                continue;
            }
            self.out.clear();
            let goes_on = stream.next_events(&mut self.out, self.every_ns, self.fault);
            if !stream.send(self.out.as_bytes(), &self.epoll) || goes_on == Next::Close {
                self.streams[index] = None;
            } else if goes_on == Next::Event && stream.unsent.is_empty() {
                self.due.push(Reverse((stream.due_ns, index)));
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Event,
    Silence,
    Close,
}

impl EventStream {
    /// Writes the events that are sent now, and sets when the next is due.
    fn next_events(&mut self, out: &mut String, every_ns: u64, fault: Option<PlantedEvent>) -> Next {
        let count = if every_ns == 0 { BATCH } else { 1 };
        for _ in 0..count {
            self.count += 1;
            let number = self.count;
            match fault.filter(|fault| number.is_multiple_of(fault.every)).map(|fault| fault.kind) {
                None | Some(PlantedKind::Late(_)) => chunk(out, number, true),
                Some(PlantedKind::Wrong) => chunk(out, number, false),
                Some(PlantedKind::Lost) => {}
                Some(PlantedKind::Repeated) => chunk(out, number - 1, true),
                Some(PlantedKind::Silent) => return Next::Silence,
                Some(PlantedKind::Cut) => {
                    out.push_str("40\r\nid: ");
                    return Next::Close;
                }
            }
        }
        let next = self.count + 1;
        let late_ns = match fault {
            Some(PlantedEvent { kind: PlantedKind::Late(late), every }) if next.is_multiple_of(every) => {
                late.as_nanos() as u64
            }
            _ => 0,
        };
        let start_ns = self.start_ns.unwrap_or_default();
        self.due_ns = match every_ns {
            0 => Monotonic.now_ns() + late_ns,
            every_ns => start_ns + self.count * every_ns + late_ns,
        };
        Next::Event
    }

    /// Sends bytes, or keeps what the socket does not accept; false once the client is gone.
    fn send(&mut self, bytes: &[u8], epoll: &OwnedFd) -> bool {
        if bytes.is_empty() {
            return true;
        }
        let sent = match rustix::io::write(&self.socket, bytes) {
            Ok(sent) => sent,
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Err(_) => return false,
        };
        if sent < bytes.len() {
            self.unsent.extend_from_slice(&bytes[sent..]);
            return self.listen_for(epoll, epoll::EventFlags::IN | epoll::EventFlags::OUT);
        }
        true
    }

    fn listen_for(&self, epoll: &OwnedFd, interest: epoll::EventFlags) -> bool {
        epoll::modify(epoll, &self.socket, key(self.socket.as_fd()), interest).is_ok()
    }
}

/// Appends an event as a chunk of its own.
fn chunk(out: &mut String, number: u64, is_right: bool) {
    let digits = number.checked_ilog10().unwrap_or_default() as usize + 1;
    let sent_ns = unix_now_ns();
    // Writing to a string does not fail.
    let _ = match is_right {
        // A Unix time in ns has 19 digits until the year 2286.
        true => write!(
            out,
            "{:x}\r\nid: {number}\ndata: {{\"n\":{number},\"sent_ns\":{sent_ns:019}}}\n\n\r\n",
            "id: \ndata: {\"n\":,\"sent_ns\":}\n\n".len() + 2 * digits + 19
        ),
        false => write!(
            out,
            "{:x}\r\nid: {number}\ndata: {{\"n\":0}}\n\n\r\n",
            "id: \ndata: {\"n\":0}\n\n".len() + digits
        ),
    };
}

fn key(descriptor: BorrowedFd<'_>) -> epoll::EventData {
    epoll::EventData::new_u64(descriptor.as_raw_fd() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_has_the_length_that_it_says() {
        for number in [1, 9, 10, 99, 12_345_678_901] {
            for is_right in [true, false] {
                let mut out = String::new();
                chunk(&mut out, number, is_right);
                let (length, rest) = out.split_once("\r\n").unwrap();
                assert_eq!(usize::from_str_radix(length, 16).unwrap(), rest.len() - 2, "{out}");
                assert!(rest.ends_with("\n\n\r\n"), "{out}");
            }
        }
    }

    #[test]
    fn faults_are_read_and_others_refused() {
        let planted = |kind, every| Ok(PlantedEvent { kind, every });
        assert_eq!("lost/1500".parse(), planted(PlantedKind::Lost, 1_500));
        assert_eq!("late=5ms/100".parse(), planted(PlantedKind::Late(Duration::from_millis(5)), 100));
        for wrong in ["", "lost", "lost/0", "lost/x", "late/3", "late=x/3", "odd/3"] {
            assert!(wrong.parse::<PlantedEvent>().is_err(), "{wrong}");
        }
    }
}
