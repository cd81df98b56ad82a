//! One connection: requests in, responses out, and modes that answer in a wrong way.

use crate::http::{Framing, Parsed, Request, Response, parse};
use crate::modes::Mode;
use crate::routes::Routes;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

const STALLS_EVERY: u64 = 50;
const CRASHES_AT: u64 = 1500;
const CRASH_STATUS: i32 = 3;
const DROPPED: u64 = 64;
const CLOSES_AT: u64 = 5000;
const CLOSES_SILENTLY_AT: u64 = 1000;
const READ_MAX: Duration = Duration::from_secs(60);
const FIRST: u64 = 50;
const FEW: u64 = 4;
const LATE_EVERY: u64 = 500;
const LATE_BY: Duration = Duration::from_millis(50);
const LEAKED_BYTES: usize = 4096;
const COMPILED_AFTER: Duration = Duration::from_secs(10);
const COMPILED_AFTER_LATE_START: Duration = Duration::from_secs(6);
const DATE_STOPS_AT: u64 = 5000;
const CROWD: u64 = 32;
const WORN_BY: u64 = 30;
const IDLE_MAX: Duration = Duration::from_millis(1_200);
const BURN: Duration = Duration::from_micros(100);

/// State shared by all connections.
#[derive(Debug)]
pub(crate) struct Server {
    pub mode: Mode,
    routes: Routes,
    began: Instant,
    requests: AtomicU64,
    /// Memory that the leak holds.
    kept: Mutex<Vec<Vec<u8>>>,
    /// The last body, from any connection.
    last_body: Mutex<Vec<u8>>,
    /// The Date at which it stopped.
    last_date: OnceLock<String>,
    /// Number of open connections.
    pub open: AtomicU64,
    refused: AtomicU64,
    /// Number of requests that got a close instead of an answer.
    dropped: AtomicU64,
    /// Number of further connections that may be served, if limited.
    seats: Mutex<u32>,
    stood_up: Condvar,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps the CPU busy for a fixed time, whatever the machine's speed.
fn burn() {
    let began = Instant::now();
    while began.elapsed() < BURN {
        std::hint::spin_loop();
    }
}

/// Waits for bytes; true if none came in time. The clock decides: like a server that checks its timers first,
/// it closes even if a late request has arrived. An interrupted wait continues.
fn is_idle(stream: &TcpStream) -> io::Result<bool> {
    let began = Instant::now();
    while let Some(left) = IDLE_MAX.checked_sub(began.elapsed()) {
        let mut found = [PollFd::new(stream, PollFlags::IN)];
        let left = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match poll(&mut found, Some(&left)) {
            Ok(1) if began.elapsed() < IDLE_MAX => return Ok(false),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(true)
}

fn date(hours_ago: i64) -> String {
    let then = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(hours_ago);
    then.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

fn has_chunked_head(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.contains("chunked\r\n") && text.contains("\r\n\r\n")
}

impl Server {
    pub(crate) fn new(mode: Mode, routes: Routes, threads: u32) -> Self {
        let count = || AtomicU64::new(0);
        let (requests, open, refused, dropped) = (count(), count(), count(), count());
        Self {
            mode,
            routes,
            began: Instant::now(),
            requests,
            kept: Mutex::default(),
            last_body: Mutex::default(),
            last_date: OnceLock::new(),
            open,
            refused,
            dropped,
            seats: Mutex::new(threads),
            stood_up: Condvar::new(),
        }
    }

    /// Answers until the client or the mode closes.
    pub(crate) fn serve(&self, stream: TcpStream) -> io::Result<()> {
        self.open.fetch_add(1, Ordering::SeqCst);
        let served = match self.mode {
            Mode::StarvesCrowd => self.serve_seated(stream),
            _ => self.serve_all(stream),
        };
        self.open.fetch_sub(1, Ordering::SeqCst);
        served
    }

    fn serve_seated(&self, stream: TcpStream) -> io::Result<()> {
        let seats = locked(&self.seats);
        let seats = self.stood_up.wait_while(seats, |seats| *seats == 0);
        *seats.unwrap_or_else(PoisonError::into_inner) -= 1;
        let served = self.serve_all(stream);
        *locked(&self.seats) += 1;
        self.stood_up.notify_one();
        served
    }

    fn serve_all(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        if matches!(self.mode, Mode::ClosesAtThaw | Mode::DiesAtThaw) {
            // Without a time limit the kernel restarts the read after a thaw.
            stream.set_read_timeout(Some(READ_MAX))?;
        }
        let mut answered = 0;
        let (mut bytes, mut chunk) = (Vec::new(), vec![0; 64 * 1024]);
        loop {
            match parse(&bytes) {
                Parsed::Complete(request, taken) => {
                    bytes.drain(..taken);
                    answered += 1;
                    let last = self.mode == Mode::ClosesAt5000 && answered == CLOSES_AT;
                    let request = Request { keep_alive: request.keep_alive && !last, ..request };
                    let is_over = self.mode == Mode::ClosesAt1000 && answered == CLOSES_SILENTLY_AT;
                    if !self.exchange(&mut stream, &request, &mut bytes)? || is_over {
                        return Ok(());
                    }
                }
                Parsed::Partial if self.mode == Mode::ClosesIdle && is_idle(&stream)? => return Ok(()),
                Parsed::Partial if self.mode == Mode::HastyWithChunks && has_chunked_head(&bytes) => {
                    bytes.clear();
                    stream.write_all(&Response::text(400, "no body").write(Framing::default()))?;
                }
                Parsed::Partial => match stream.read(&mut chunk) {
                    Ok(0) => return Ok(()),
                    Ok(length) => bytes.extend(&chunk[..length]),
                    Err(error) if self.mode == Mode::DiesAtThaw => {
                        eprintln!("read: {error}");
                        std::process::exit(1);
                    }
                    Err(error) => return Err(error),
                },
                Parsed::Malformed => {
                    let framing = Framing { close: true, ..Framing::default() };
                    return stream.write_all(&Response::text(400, "bad request").write(framing));
                }
            }
        }
    }

    /// Answers one request; `rest` are the bytes after it. Returns whether the connection continues.
    fn exchange(&self, stream: &mut TcpStream, request: &Request, rest: &mut Vec<u8>) -> io::Result<bool> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        match self.mode {
            Mode::CrashesUnderLoad if number >= CRASHES_AT => std::process::exit(CRASH_STATUS),
            Mode::StopsUnderLoad if number == CRASHES_AT => {
                rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP)?;
            }
            Mode::DropsAtFirst
                if self.is_loaded() && self.dropped.fetch_add(1, Ordering::Relaxed) < DROPPED =>
            {
                return Ok(false);
            }
            Mode::BurnsCpu => burn(),
            Mode::CompilesLate if self.began.elapsed() < COMPILED_AFTER => burn(),
            Mode::StartsLateAndSteps if self.began.elapsed() < COMPILED_AFTER_LATE_START => burn(),
            Mode::LateIn500 if number.is_multiple_of(LATE_EVERY) => std::thread::sleep(LATE_BY),
            Mode::Leaks => locked(&self.kept).push(vec![1; LEAKED_BYTES]),
            Mode::Stalls if number.is_multiple_of(STALLS_EVERY) => return Ok(true),
            Mode::ReordersPipeline | Mode::DropsPipelined => {
                if let Parsed::Complete(second, taken) = parse(rest) {
                    rest.drain(..taken);
                    if self.mode == Mode::ReordersPipeline {
                        self.reply(stream, &second, number)?;
                    }
                }
            }
            _ => {}
        }
        self.reply(stream, request, number)
    }

    /// Whether more connections are open than verification uses.
    fn is_loaded(&self) -> bool {
        self.open.load(Ordering::SeqCst) > FEW
    }

    /// The answer to the request with this number, which may depend on earlier load.
    fn answer(&self, request: &Request, number: u64) -> Response {
        let mut response = self.routes.answer(request);
        match self.mode {
            Mode::WrongIn1000 if number.is_multiple_of(1000) => response.body.reverse(),
            Mode::WrongIn1500 if number.is_multiple_of(1500) => response.body.reverse(),
            Mode::LongerIn1500 if number.is_multiple_of(1500) => response.body.push(b'!'),
            Mode::WrongAtFirst if number <= FIRST && self.is_loaded() => {
                response.body.reverse();
            }
            Mode::Races => {
                *locked(&self.last_body) = response.body;
                std::thread::yield_now();
                response.body = locked(&self.last_body).clone();
            }
            Mode::WrongInCrowd if self.open.load(Ordering::SeqCst) > CROWD => response.body.reverse(),
            Mode::WornByBadInput if self.refused.load(Ordering::SeqCst) >= WORN_BY => {
                return Response::text(404, "worn out");
            }
            Mode::WornByBadInput if response.status == 400 => {
                self.refused.fetch_add(1, Ordering::SeqCst);
            }
            _ => {}
        }
        response
    }

    fn reply(&self, stream: &mut TcpStream, request: &Request, number: u64) -> io::Result<bool> {
        let close = !request.keep_alive || self.mode == Mode::ClosesAfterResponse;
        let framing = Framing {
            close,
            say_keep_alive: request.http_1_0 || self.mode == Mode::ResetsAfterResponse,
            without_body: request.method == "HEAD",
            promise_one_byte_less: self.mode == Mode::WrongLength,
            date: match self.mode {
                Mode::FrozenDate => Some("Thu, 01 Jan 2026 00:00:00 GMT".to_owned()),
                Mode::DateInThePast => Some(date(1)),
                Mode::DateStops if number < DATE_STOPS_AT => Some(date(0)),
                Mode::DateStops => Some(self.last_date.get_or_init(|| date(0)).clone()),
                _ => None,
            },
        };
        let bytes = self.answer(request, number).write(framing);
        if self.mode == Mode::HalfAnswer {
            stream.write_all(&bytes[..bytes.len() / 2])?;
            return Ok(false);
        }
        stream.write_all(&bytes)?;
        if self.mode == Mode::ResetsAfterResponse {
            // A close with a zero linger time is a reset.
            rustix::net::sockopt::set_socket_linger(&*stream, Some(Duration::ZERO))?;
            return Ok(false);
        }
        Ok(!close)
    }
}
