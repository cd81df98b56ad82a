//! Known faults of a server, one at a time, which `tare selftest` must detect. The raw socket implements
//! them, since only its correct behaviour is known down to each system call.

use std::{
    fs, io,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use tare_base::units::parse_duration;

use super::{
    RawVersion, http1,
    http2::{self, Choice, Turn},
    slower::{AllAdded, Slowness},
    worker::Reply,
};

/// A fault of a server. Its text form: `slower=3%`, `stall=200ms/1s`, `caches`, `caches=1000`, `drops=1%`,
/// `wrong-length`, `wrong-length=1%`, `wrong-body=0.1%`, `unanswered=0.1%`, `mixed-up=1%`, `closes`, `slow-close`,
/// `slow-handshake=50ms`, `throttled=GROUP`.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// Each request takes this share more CPU time than with the raw socket.
    Slower(f64),
    Stall {
        lasts: Duration,
        every: Duration,
    },
    /// Answers with the last segment of the path; after some requests, always with the last correct answer.
    Caches {
        /// Number of correct answers before that.
        after: u64,
    },
    /// One request in `every` finds its connection closed without an answer.
    Drops {
        /// 100 is 1%.
        every: u64,
    },
    /// One answer in `every` has one byte more than its head announces.
    WrongLength {
        /// 1 is all of them.
        every: u64,
    },
    /// One answer in `every` has one wrong byte, and the right length.
    WrongBody {
        /// 1 is all of them.
        every: u64,
    },
    /// One request in `every` gets no answer, and its connection stays open. Other HTTP/2 streams continue.
    Unanswered {
        /// 1 is all of them.
        every: u64,
    },
    /// HTTP/2: one answer in `every` goes to the previously answered stream, which is closed. That stream
    /// gets two answers and its own stream none. All answers are equal, so only the stream shows the fault.
    MixedUp {
        /// 1 is all of them.
        every: u64,
    },
    /// TLS: each connection is served only after this delay. Other connections continue.
    SlowHandshake(Duration),
    /// Closes the connection if the client requests it. This is correct: the control for `slow-close`.
    Closes,
    /// Announces that it closes the connection, but keeps it open.
    SlowClose,
    /// Enters a group with a CPU limit, or sets a limit on its own version 2 group below this folder.
    Throttled(ThrottledGroup),
}

/// The group with the CPU limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThrottledGroup {
    /// A group that already has its limit.
    Enter(PathBuf),
    /// The process's own group, a child of this folder.
    Own(PathBuf),
}

/// Half a CPU, in a period shorter than a slice: microseconds of `cpu.max` and of `cpu.cfs_quota_us`.
pub const QUOTA_US: u32 = 5_000;
/// The period of [`QUOTA_US`].
pub const PERIOD_US: u32 = 10_000;

/// An unknown fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown fault \"{0}\": there are slower=3%, stall=200ms/1s, caches[=AFTER], drops=1%, wrong-length[=1%], \
     wrong-body[=1%], unanswered[=1%], mixed-up[=1%], closes, slow-close, slow-handshake=50ms, throttled=[own:]FOLDER"
)]
pub struct UnknownFault(String);

impl FromStr for Fault {
    type Err = UnknownFault;

    fn from_str(text: &str) -> Result<Fault, UnknownFault> {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let fault = match (name, value) {
            ("slower", Some(share)) => percent(share).map(Fault::Slower),
            ("stall", Some(stall)) => stall.split_once('/').and_then(|(lasts, every)| {
                let (lasts, every) = (time(lasts)?, time(every)?);
                (lasts < every).then_some(Fault::Stall { lasts, every })
            }),
            ("caches", None) => Some(Fault::Caches { after: 0 }),
            ("caches", Some(after)) => after.parse().ok().map(|after| Fault::Caches { after }),
            ("drops", Some(share)) => one_in(share).map(|every| Fault::Drops { every }),
            ("wrong-length", share) => some_in(share).map(|every| Fault::WrongLength { every }),
            ("wrong-body", share) => some_in(share).map(|every| Fault::WrongBody { every }),
            ("unanswered", share) => some_in(share).map(|every| Fault::Unanswered { every }),
            ("mixed-up", share) => some_in(share).map(|every| Fault::MixedUp { every }),
            ("slow-handshake", Some(delay)) => time(delay).map(Fault::SlowHandshake),
            ("closes", None) => Some(Fault::Closes),
            ("slow-close", None) => Some(Fault::SlowClose),
            ("throttled", Some(place)) => Some(Fault::Throttled(match place.strip_prefix("own:") {
                Some(folder) => ThrottledGroup::Own(folder.into()),
                None => ThrottledGroup::Enter(place.into()),
            })),
            _ => None,
        };
        fault.ok_or_else(|| UnknownFault(text.to_owned()))
    }
}

fn percent(text: &str) -> Option<f64> {
    let share = text.strip_suffix('%')?.parse::<f64>().ok()? / 100.0;
    (share > 0.0 && share <= 10.0).then_some(share)
}

fn one_in(text: &str) -> Option<u64> {
    percent(text).filter(|share| *share <= 1.0).map(|share| (1.0 / share).round() as u64)
}

/// One in every N; without a share, all.
fn some_in(share: Option<&str>) -> Option<u64> {
    share.map_or(Some(1), one_in)
}

fn time(text: &str) -> Option<Duration> {
    parse_duration(text).ok().filter(|time| !time.is_zero())
}

impl Fault {
    /// Whether the fault is possible with this protocol.
    pub(super) fn is_of(&self, version: RawVersion, over_tls: bool) -> bool {
        match self {
            // These faults inspect requests, whose form differs in HTTP/2.
            Fault::Caches { .. } | Fault::Closes | Fault::SlowClose => version == RawVersion::Http1,
            Fault::MixedUp { .. } => version == RawVersion::Http2,
            Fault::SlowHandshake(_) => over_tls,
            _ => true,
        }
    }

    /// The delay before a connection is served.
    pub(super) fn delay(&self) -> Option<Duration> {
        match self {
            Fault::SlowHandshake(delay) => Some(*delay),
            _ => None,
        }
    }

    pub(super) fn begin(&self) -> io::Result<()> {
        match self {
            Fault::Throttled(ThrottledGroup::Enter(group)) => fs::write(group.join("cgroup.procs"), "0"),
            Fault::Throttled(ThrottledGroup::Own(folder)) => limit_own(folder),
            _ => Ok(()),
        }
    }
}

fn limit_own(folder: &Path) -> io::Result<()> {
    let own = fs::read_to_string("/proc/self/cgroup")?;
    let own = own.lines().find_map(|line| line.strip_prefix("0::")).map(Path::new);
    let name = own.and_then(Path::file_name).ok_or_else(|| io::Error::other("in no group of version 2"))?;
    fs::write(folder.join(name).join("cpu.max"), format!("{QUOTA_US} {PERIOD_US}"))
}

/// The state of a fault in one thread.
#[derive(Debug)]
pub(super) struct Faulty {
    fault: Fault,
    slowness: Option<Slowness>,
    requests: u64,
    answer: Vec<u8>,
}

impl Faulty {
    /// `Slower` adds its total to `all` when it is dropped.
    pub(super) fn new(fault: Fault, ballast_ns: u64, all: AllAdded) -> Faulty {
        let slowness = match fault {
            Fault::Slower(share) => Some(Slowness::new(share, ballast_ns, all)),
            _ => None,
        };
        Faulty { fault, slowness, requests: 0, answer: Vec::new() }
    }
}

impl http1::Behaviour for Faulty {
    fn answer<'a>(&'a mut self, request: &[u8], response: &'a [u8]) -> Reply<'a> {
        if let Some(slowness) = &mut self.slowness {
            slowness.one_more();
            return Reply::Send(response);
        }
        let number = self.requests;
        self.requests += 1;
        // The last of each N requests: a process's first request is the readiness probe, which must succeed.
        let is_turn = |every: u64| (number + 1).is_multiple_of(every);
        match self.fault {
            Fault::Stall { lasts, every } => std::thread::sleep(stall_left(lasts, every, uptime())),
            Fault::Caches { after } if number <= after => self.answer = echo(request),
            Fault::Drops { every } if is_turn(every) => return Reply::Last(b""),
            Fault::WrongLength { every } if is_turn(every) => {
                self.answer = [response, b"!"].concat();
                return Reply::Send(&self.answer);
            }
            Fault::WrongBody { every } if is_turn(every) => {
                self.answer = response.to_vec();
                if let Some(last) = self.answer.last_mut() {
                    *last ^= 1;
                }
                return Reply::Send(&self.answer);
            }
            Fault::Unanswered { every } if is_turn(every) => return Reply::Send(b""),
            Fault::Closes | Fault::SlowClose if asks_to_close(request) => {
                self.answer = saying_close(response);
                let is_honest = self.fault == Fault::Closes;
                return if is_honest { Reply::Last(&self.answer) } else { Reply::Send(&self.answer) };
            }
            _ => {}
        }
        match self.fault {
            Fault::Caches { .. } => Reply::Send(&self.answer),
            _ => Reply::Send(response),
        }
    }
}

impl http2::StreamBehaviour for Faulty {
    fn turn(&mut self) -> Turn {
        if let Some(slowness) = &mut self.slowness {
            slowness.one_more();
            return Turn::Send(Choice::Right);
        }
        self.requests += 1;
        let is_turn = |every: u64| self.requests.is_multiple_of(every);
        match self.fault {
            Fault::Stall { lasts, every } => std::thread::sleep(stall_left(lasts, every, uptime())),
            Fault::Drops { every } if is_turn(every) => return Turn::Close,
            Fault::WrongLength { every } if is_turn(every) => return Turn::Send(Choice::LongBody),
            Fault::WrongBody { every } if is_turn(every) => return Turn::Send(Choice::OtherBody),
            Fault::Unanswered { every } if is_turn(every) => return Turn::Never,
            Fault::MixedUp { every } if is_turn(every) => return Turn::OnThePrevious,
            _ => {}
        }
        Turn::Send(Choice::Right)
    }
}

/// A clock shared by all processes, so that stalls happen on schedule whichever process is frozen.
fn uptime() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Duration::new(now.tv_sec.cast_unsigned(), now.tv_nsec as u32)
}

/// The rest of a stall, which takes the first part of each period.
fn stall_left(lasts: Duration, every: Duration, now: Duration) -> Duration {
    let phase_ns = now.as_nanos() % every.as_nanos();
    lasts.saturating_sub(Duration::from_nanos(phase_ns as u64))
}

/// The last segment of the requested path, as an answer.
fn echo(request: &[u8]) -> Vec<u8> {
    let path = request.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    let label = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let length = label.len();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n");
    [head.as_bytes(), label].concat()
}

fn asks_to_close(request: &[u8]) -> bool {
    memchr::memmem::find(&request.to_ascii_lowercase(), b"connection: close").is_some()
}

fn saying_close(response: &[u8]) -> Vec<u8> {
    let (kept, closed) = (&b"Connection: keep-alive"[..], &b"Connection: close"[..]);
    match memchr::memmem::find(response, kept) {
        Some(at) => [&response[..at], closed, &response[at + kept.len()..]].concat(),
        None => response.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{http1::Behaviour, *};

    const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok";

    fn server(fault: &str) -> Faulty {
        Faulty::new(fault.parse().unwrap(), 0, AllAdded::default())
    }

    fn asked(server: &mut Faulty, path: &str) -> (String, bool) {
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n");
        match server.answer(request.as_bytes(), RESPONSE) {
            Reply::Send(bytes) => (String::from_utf8_lossy(bytes).into_owned(), true),
            Reply::Last(bytes) => (String::from_utf8_lossy(bytes).into_owned(), false),
        }
    }

    #[test]
    fn faults_are_read_from_words_and_others_are_refused() {
        assert_eq!("slower=3%".parse(), Ok(Fault::Slower(0.03)));
        let (lasts, every) = (Duration::from_millis(200), Duration::from_secs(1));
        assert_eq!("stall=200ms/1s".parse(), Ok(Fault::Stall { lasts, every }));
        assert_eq!("drops=1%".parse(), Ok(Fault::Drops { every: 100 }));
        assert_eq!("wrong-length".parse(), Ok(Fault::WrongLength { every: 1 }));
        assert_eq!("throttled=own:/a".parse(), Ok(Fault::Throttled(ThrottledGroup::Own("/a".into()))));
        for wrong in [
            "",
            "slower",
            "slower=3",
            "slower=0%",
            "drops=200%",
            "stall=2s/1s",
            "caches=x",
            "closes=1",
            "mixed-up=0%",
            "slow-handshake",
            "slow-handshake=0s",
        ] {
            assert_eq!(wrong.parse::<Fault>(), Err(UnknownFault(wrong.to_owned())), "{wrong}");
        }
    }

    #[test]
    fn one_in_a_hundred_is_dropped_and_not_the_first() {
        let mut server = server("drops=1%");
        let dropped: Vec<usize> = (0..300).filter(|_| !asked(&mut server, "/").1).collect();
        assert_eq!(dropped, [99, 199, 299]);
    }

    #[test]
    fn a_wrong_length_is_one_byte_too_much() {
        assert!(asked(&mut server("wrong-length"), "/").0.ends_with("\r\n\r\nok!"));
        assert!(asked(&mut server("wrong-length=1%"), "/").0.ends_with("\r\n\r\nok"));
    }

    #[test]
    fn a_wrong_body_has_the_right_length() {
        let mut server = server("wrong-body=50%");
        let (right, wrong) = (asked(&mut server, "/").0, asked(&mut server, "/").0);
        assert_eq!(right.as_bytes(), RESPONSE);
        assert!(wrong != right && wrong.ends_with("\r\n\r\noj"), "{wrong}");
    }

    #[test]
    fn what_is_not_answered_keeps_its_connection() {
        let mut server = server("unanswered=50%");
        let asked = [(); 4].map(|()| asked(&mut server, "/"));
        assert!(asked.iter().map(|(answer, stays)| (answer.is_empty(), *stays)).eq([
            (false, true),
            (true, true),
            (false, true),
            (true, true)
        ]));
    }

    #[test]
    fn each_fault_of_streams_has_its_turn() {
        let turns = |fault| {
            let mut server = server(fault);
            [(); 4].map(|()| http2::StreamBehaviour::turn(&mut server))
        };
        let right = Turn::Send(Choice::Right);
        for (fault, turn) in [
            ("drops=50%", Turn::Close),
            ("wrong-length=50%", Turn::Send(Choice::LongBody)),
            ("wrong-body=50%", Turn::Send(Choice::OtherBody)),
            ("unanswered=50%", Turn::Never),
            ("mixed-up=50%", Turn::OnThePrevious),
        ] {
            assert_eq!(turns(fault), [right, turn, right, turn], "{fault}");
        }
        assert_eq!(turns("slower=3%"), [right; 4]);
    }

    #[test]
    fn a_fault_is_refused_where_it_cannot_be() {
        let is_of = |fault: &str, version, over_tls| fault.parse::<Fault>().unwrap().is_of(version, over_tls);
        let (http1, http2) = (RawVersion::Http1, RawVersion::Http2);
        assert!(is_of("wrong-body=1%", http1, false) && is_of("wrong-body=1%", http2, true));
        assert!(is_of("mixed-up=1%", http2, false) && !is_of("mixed-up=1%", http1, false));
        assert!(is_of("slow-handshake=9ms", http1, true) && !is_of("slow-handshake=9ms", http2, false));
        assert!(is_of("caches", http1, true) && !is_of("caches", http2, true));
    }

    #[test]
    fn a_cache_answers_correctly_for_the_given_number_of_requests() {
        let mut server = server("caches=1");
        let bodies = ["/echo/a", "/echo/bc", "/echo/d", "/echo/e"].map(|path| asked(&mut server, path).0);
        let ends = ["\r\n\r\na", "\r\n\r\nbc", "\r\n\r\nbc", "\r\n\r\nbc"];
        assert!(bodies.iter().zip(ends).all(|(body, end)| body.ends_with(end)), "{bodies:?}");
        assert!(bodies[1].contains("Content-Length: 2\r\n"));
    }

    #[test]
    fn both_closers_promise_and_one_keeps_its_promise() {
        for (fault, stays) in [("closes", false), ("slow-close", true)] {
            let mut server = server(fault);
            let request = b"GET / HTTP/1.1\r\nconnection: close\r\n\r\n";
            let reply = server.answer(request, RESPONSE);
            assert_eq!(matches!(reply, Reply::Send(_)), stays);
            let (Reply::Send(bytes) | Reply::Last(bytes)) = reply;
            assert!(String::from_utf8_lossy(bytes).contains("\r\nConnection: close\r\n"));
            assert!(asked(&mut server, "/").1, "a request that does not ask for it");
        }
    }

    #[test]
    fn a_stall_takes_the_first_part_of_every_period() {
        let left =
            |ms| stall_left(Duration::from_millis(200), Duration::from_secs(1), Duration::from_millis(ms));
        assert_eq!(left(7_000), Duration::from_millis(200));
        assert_eq!(left(7_150), Duration::from_millis(50));
        assert_eq!((left(7_200), left(7_999)), (Duration::ZERO, Duration::ZERO));
    }

    proptest! {
        #[test]
        fn a_share_of_requests_is_met_over_any_number_of_them(percent in 1_u32..=100, rounds in 1_usize..5) {
            let mut server = server(&format!("drops={percent}%"));
            let every = (100.0 / f64::from(percent)).round() as usize;
            let dropped = (0..every * rounds).filter(|_| !asked(&mut server, "/").1).count();
            prop_assert_eq!(dropped, rounds);
        }

        #[test]
        fn the_rest_of_a_stall_is_shorter_than_the_stall(lasts_ms in 1_u64..500, more_ms in 1_u64..500, up_ms in 0_u64..100_000) {
            let (lasts, every) = (Duration::from_millis(lasts_ms), Duration::from_millis(lasts_ms + more_ms));
            let left = stall_left(lasts, every, Duration::from_millis(up_ms));
            prop_assert!(left <= lasts);
            let after = stall_left(lasts, every, Duration::from_millis(up_ms) + left);
            prop_assert_eq!(after, Duration::ZERO, "who waited for it is served");
        }

        #[test]
        fn a_cache_repeats_the_last_segment_of_any_path(path in "(/[a-zA-Z0-9._-]{0,12}){1,4}", other in "/[a-z]{1,9}") {
            let mut server = server("caches");
            let first = asked(&mut server, &path).0;
            let label = path.rsplit('/').next().unwrap();
            prop_assert!(first.ends_with(&format!("Content-Length: {}\r\n\r\n{label}", label.len())), "{}", first);
            prop_assert_eq!(asked(&mut server, &other).0, first);
        }

        #[test]
        fn no_words_are_too_much(
            name in "slower|stall|caches|drops|wrong-length|wrong-body|unanswered|mixed-up|slow-handshake|throttled",
            value in "[0-9a-z%/.:-]{0,20}",
        ) {
            let text = format!("{name}={value}");
            if let Ok(Fault::Drops { every } | Fault::WrongLength { every }) = text.parse::<Fault>() {
                prop_assert!(every >= 1, "{}", text);
            }
        }
    }
}
