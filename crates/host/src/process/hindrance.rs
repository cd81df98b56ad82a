//! Why a service has not answered correctly yet, as far as the kernel shows it: where its processes listen,
//! what they wait for, and how the last probe ended. It knows nothing of the content that a service serves.

use std::{fmt, fs, time::Duration};

use super::{
    fallback,
    input::{self, Input},
    procfs::Process,
    sockets::{self, Listening, SocketPlace},
    unix,
};
use tare_base::Endpoint;

/// The result of one readiness probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probed {
    Ready,
    /// The connection was refused: no process listens at the address.
    Refused,
    /// No connection was accepted in time, or no byte came back.
    Silent,
    /// An incomplete answer came in time: words after "it". Absent while the probe still runs.
    Unfinished(Option<String>),
    /// An answer that does not mean ready: words after "it", such as "answers GET / with status 503".
    Unfit(String),
    /// A wrong answer: words after "it".
    Wrong(String),
    /// It can never become ready: a sentence with the fix. Only for a server that Tare did not start.
    Never(String),
}

impl From<bool> for Probed {
    fn from(is_ready: bool) -> Probed {
        if is_ready { Probed::Ready } else { Probed::Silent }
    }
}

/// The visible reason why a service is not ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotReadyReason {
    /// It answers, but not as a ready service: words after "it", and for how long.
    Unfit { words: String, lasts: Duration },
    /// Its answer differs from the expected one: words after "it", and for how long.
    Wrong { words: String, lasts: Duration },
    /// No complete answer has come: words after "it", and for how long.
    Unfinished { words: String, lasts: Duration },
    /// Connections wait at the address, and it does not accept them.
    Unaccepted { asked: Endpoint, queued: u32 },
    /// It listens at the address, but no byte came over a connection for this time.
    Silent { asked: Endpoint, lasts: Duration },
    /// It listens, but at other addresses.
    Elsewhere { asked: Endpoint, listens: Vec<SocketPlace> },
    /// It listens in a network namespace of its own.
    OtherNetwork { listens: Vec<SocketPlace> },
    /// One of its processes waits for input.
    Input { process: Process, input: Input },
    /// One of its processes is stopped, as by SIGSTOP.
    Stopped { process: Process },
    /// None of its processes listens; `stderr` is the last line of its stderr.
    Nowhere { stderr: String },
    /// Its processes cannot be seen.
    Hidden,
}

/// The visible state of a service and its processes at one instant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Observed {
    /// Where its processes listen in this network namespace.
    pub own: Vec<SocketPlace>,
    /// Where its processes listen in a network namespace of their own.
    pub apart: Vec<SocketPlace>,
    /// Connections that wait at the address, whichever process listens; absent if none does.
    pub queued: Option<u32>,
    pub input: Option<(Process, Input)>,
    pub stopped: Option<Process>,
    /// No process lets its files be seen.
    pub is_hidden: bool,
}

impl Observed {
    /// Observes these processes, and the listeners at `asked` in the network namespace of this thread.
    pub(super) fn of(pids: &[u32], asked: &Endpoint) -> Observed {
        let network = |process: &str| fs::read_link(format!("/proc/{process}/ns/net")).ok();
        let (here, around) = (network("thread-self"), sockets::in_network_of("thread-self"));
        let held: Vec<(u32, Vec<String>)> =
            pids.iter().filter_map(|pid| Some((*pid, sockets::held(*pid).ok()?))).collect();
        let mut seen = Observed { is_hidden: held.is_empty() && !pids.is_empty(), ..Observed::default() };
        for (pid, held) in &held {
            let pid = pid.to_string();
            let is_apart = network(&pid) != here;
            let other = if is_apart { sockets::in_network_of(&pid) } else { Vec::new() };
            let (around, found) = if is_apart { (&other, &mut seen.apart) } else { (&around, &mut seen.own) };
            let own = around.iter().filter(|listening| held.contains(&listening.inode));
            found.extend(own.map(|listening| listening.place.clone()));
        }
        [&mut seen.own, &mut seen.apart].into_iter().for_each(in_order);
        let at_path = match asked {
            Endpoint::Tcp(_) => Vec::new(),
            Endpoint::Unix(path) => unix::sockets_at(path),
        };
        let is_asked = |listening: &&Listening| match (&listening.place, asked) {
            (SocketPlace::Tcp(own), Endpoint::Tcp(asked)) => sockets::reaches(*own, *asked),
            _ => at_path.contains(&listening.inode),
        };
        seen.queued = around.iter().filter(is_asked).map(|listening| listening.queued).max();
        seen.input = pids.iter().find_map(|pid| Some((Process::of(*pid)?, input::awaited_by(*pid)?)));
        seen.stopped =
            pids.iter().filter(|pid| fallback::is_stopped(**pid)).find_map(|pid| Process::of(*pid));
        seen
    }
}

/// Removes duplicates. If a service listens by TCP, its other sockets serve another purpose.
fn in_order(places: &mut Vec<SocketPlace>) {
    places.sort();
    places.dedup();
    if matches!(places.first(), Some(SocketPlace::Tcp(_))) {
        places.retain(|place| matches!(place, SocketPlace::Tcp(_)));
    }
}

impl NotReadyReason {
    /// Derives the reason from the observation and the last probe, unchanged for `lasts`.
    pub(super) fn of(
        asked: &Endpoint,
        met: Probed,
        lasts: Duration,
        seen: Observed,
        stderr: &str,
    ) -> NotReadyReason {
        let is_refused = met == Probed::Refused;
        let is_asked = |place: &SocketPlace| match (place, asked) {
            // A socket on all IPv6 addresses that refuses IPv4 is for IPv6 only.
            (SocketPlace::Tcp(own), Endpoint::Tcp(asked)) => {
                sockets::reaches(*own, *asked) && !(is_refused && own.is_ipv6() && asked.is_ipv4())
            }
            _ => false,
        };
        let is_out = matches!(met, Probed::Silent | Probed::Unfinished(None));
        let is_open = is_out || matches!(asked, Endpoint::Unix(_));
        let is_there = seen.own.iter().any(is_asked) || (is_open && seen.queued.is_some());
        let asked = asked.clone();
        match (met, seen) {
            (Probed::Unfit(words), _) => NotReadyReason::Unfit { words, lasts },
            (Probed::Unfinished(Some(words)), _) => NotReadyReason::Unfinished { words, lasts },
            (Probed::Wrong(words), _) => NotReadyReason::Wrong { words, lasts },
            (_, Observed { queued: Some(queued @ 1..), .. }) if is_out && is_there => {
                NotReadyReason::Unaccepted { asked, queued }
            }
            (Probed::Unfinished(None), _) if is_there => {
                NotReadyReason::Unfinished { words: "gives no whole answer".to_owned(), lasts }
            }
            _ if is_there => NotReadyReason::Silent { asked, lasts },
            (_, Observed { own, .. }) if !own.is_empty() => NotReadyReason::Elsewhere { asked, listens: own },
            (_, Observed { apart, .. }) if !apart.is_empty() => {
                NotReadyReason::OtherNetwork { listens: apart }
            }
            (_, Observed { stopped: Some(process), .. }) => NotReadyReason::Stopped { process },
            (_, Observed { input: Some((process, input)), .. }) => NotReadyReason::Input { process, input },
            (_, Observed { is_hidden: true, .. }) => NotReadyReason::Hidden,
            _ => NotReadyReason::Nowhere { stderr: stderr.to_owned() },
        }
    }

    /// Whether waiting alone may help. A service that listens elsewhere may still open the right address, but
    /// more likely it was started wrongly.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            NotReadyReason::Unfit { .. }
            | NotReadyReason::Unaccepted { .. }
            | NotReadyReason::Silent { .. }
            | NotReadyReason::Unfinished { .. }
            | NotReadyReason::Nowhere { .. }
            | NotReadyReason::Hidden => true,
            NotReadyReason::Wrong { .. }
            | NotReadyReason::Elsewhere { .. }
            | NotReadyReason::OtherNetwork { .. }
            | NotReadyReason::Input { .. }
            | NotReadyReason::Stopped { .. } => false,
        }
    }
}

impl fmt::Display for NotReadyReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotReadyReason::Unfit { words, lasts }
            | NotReadyReason::Unfinished { words, lasts }
            | NotReadyReason::Wrong { words, lasts } => {
                write!(f, "it {words}, for {} so far", seconds(*lasts))
            }
            NotReadyReason::Unaccepted { asked, queued } => {
                write!(f, "it listens at {asked} and accepts no connection ({queued} waiting)")
            }
            NotReadyReason::Silent { asked, lasts } => {
                write!(f, "it listens at {asked}, and has answered nothing for {}", seconds(*lasts))
            }
            NotReadyReason::Elsewhere { asked, listens } => write!(
                f,
                "it listens on {}, and not on {asked}, where it is asked: {}",
                named(listens),
                fix(asked, listens)
            ),
            NotReadyReason::OtherNetwork { listens } => write!(
                f,
                "it listens on {} in a network namespace of its own, where it cannot be asked: let it use the network of this \
                 machine",
                named(listens)
            ),
            NotReadyReason::Input { process, input } => {
                let from = match input {
                    Input::Stdin => "on its stdin",
                    Input::Terminal => "from a terminal",
                };
                write!(
                    f,
                    "its {process} waits for input {from}, and gets none: start it so that it asks for nothing"
                )
            }
            NotReadyReason::Stopped { process } => write!(
                f,
                "its {process} is stopped, as one is that reads from a terminal in the background: start it so that it asks for \
                 nothing"
            ),
            NotReadyReason::Nowhere { stderr } if stderr.is_empty() => {
                f.write_str("it listens on no port yet")
            }
            NotReadyReason::Nowhere { stderr } => {
                write!(f, "it listens on no port yet, and its stderr ends: {stderr}")
            }
            NotReadyReason::Hidden => f.write_str(
                "its processes cannot be seen by this user: check that it listens on 127.0.0.1:$PORT",
            ),
        }
    }
}

/// How to make a service that listens on these addresses reachable at `asked`.
fn fix(asked: &Endpoint, listens: &[SocketPlace]) -> String {
    let Endpoint::Tcp(asked) = asked else { return "let it listen there".to_owned() };
    let has = |wanted: fn(&SocketPlace) -> bool| listens.iter().any(wanted);
    let has_port =
        listens.iter().any(|place| matches!(place, SocketPlace::Tcp(own) if own.port() == asked.port()));
    if has_port {
        format!("let it listen on {} or on all addresses", asked.ip())
    } else if has(|place| matches!(place, SocketPlace::Tcp(_))) {
        "let it take its port from the variable PORT, or write {port} in its command".to_owned()
    } else if has(|place| matches!(place, SocketPlace::Unix(_))) {
        format!("let it listen on {}:$PORT", asked.ip())
    } else {
        format!("let it listen on {}:$PORT by TCP", asked.ip())
    }
}

fn named(places: &[SocketPlace]) -> String {
    /// A longer list would hide what matters.
    const NAMED_MAX: usize = 4;
    let names: Vec<String> = places.iter().take(NAMED_MAX).map(ToString::to_string).collect();
    match places.len().saturating_sub(NAMED_MAX) {
        0 => names.join(" and "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream, UdpSocket};

    use super::*;

    fn asked() -> Endpoint {
        std::net::SocketAddr::from(([127, 0, 0, 1], 18_100)).into()
    }

    fn tcp(address: &str) -> SocketPlace {
        SocketPlace::Tcp(address.parse().unwrap())
    }

    fn process() -> Process {
        Process { pid: 7, command: "python3".to_owned() }
    }

    fn said(met: Probed, seen: Observed) -> String {
        NotReadyReason::of(&asked(), met, Duration::from_millis(1_420), seen, "").to_string()
    }

    #[test]
    fn a_service_that_listens_elsewhere_is_told_what_to_change() {
        let of = |own: Vec<SocketPlace>| said(Probed::Refused, Observed { own, ..Observed::default() });
        let address = "let it listen on 127.0.0.1 or on all addresses";
        let asked = "and not on 127.0.0.1:18100, where it is asked";
        assert_eq!(of(vec![tcp("[::1]:18100")]), format!("it listens on [::1]:18100, {asked}: {address}"));
        // The refusal shows that this socket is for IPv6 only.
        assert_eq!(of(vec![tcp("[::]:18100")]), format!("it listens on [::]:18100, {asked}: {address}"));
        assert_eq!(
            of(vec![tcp("10.0.0.2:18100")]),
            format!("it listens on 10.0.0.2:18100, {asked}: {address}")
        );
        let port = "let it take its port from the variable PORT, or write {port} in its command";
        let both = vec![tcp("0.0.0.0:18300"), tcp("127.0.0.1:9229")];
        assert_eq!(of(both), format!("it listens on 0.0.0.0:18300 and 127.0.0.1:9229, {asked}: {port}"));
        let udp = SocketPlace::Udp("0.0.0.0:18100".parse().unwrap());
        assert!(of(vec![udp]).ends_with(
            "by UDP, and not on 127.0.0.1:18100, where it is asked: let it listen on 127.0.0.1:$PORT by TCP"
        ));
        let unix = SocketPlace::Unix("/run/a.sock".to_owned());
        let expected =
            format!("it listens on the Unix socket /run/a.sock, {asked}: let it listen on 127.0.0.1:$PORT");
        assert_eq!(of(vec![unix]), expected);
        let many = (1..=6).map(|number| tcp(&format!("127.0.0.1:{number}"))).collect();
        assert!(of(many).contains("127.0.0.1:4 and 2 more, and not"));
    }

    #[test]
    fn a_service_that_listens_where_it_is_asked_is_silent_or_does_not_accept() {
        let own = vec![tcp("[::]:18100")];
        let seen = |queued| Observed { own: own.clone(), queued: Some(queued), ..Observed::default() };
        let silent = "it listens at 127.0.0.1:18100, and has answered nothing for 1.4 s";
        assert_eq!(said(Probed::Silent, seen(0)), silent);
        assert_eq!(
            said(Probed::Silent, seen(3)),
            "it listens at 127.0.0.1:18100 and accepts no connection (3 waiting)"
        );
        let out = "it gives no whole answer, for 1.4 s so far";
        assert_eq!(said(Probed::Unfinished(None), seen(0)), out);
        let part = Probed::Unfinished(Some("gives no answer to GET / (20 bytes came)".to_owned()));
        let waiting = Observed { own: own.clone(), queued: Some(3), ..Observed::default() };
        assert_eq!(said(part, waiting), "it gives no answer to GET / (20 bytes came), for 1.4 s so far");
        // The listener belongs to a container engine, not to the service.
        assert_eq!(said(Probed::Silent, Observed { queued: Some(0), ..Observed::default() }), silent);
        // The service began to listen after the last probe.
        let seen = Observed { own: vec![tcp("127.0.0.1:18100")], queued: Some(1), ..Observed::default() };
        assert_eq!(said(Probed::Refused, seen), silent);
    }

    #[test]
    fn what_comes_instead_of_a_right_answer_matters_more_than_sockets() {
        let seen = Observed { own: vec![tcp("127.0.0.1:9")], ..Observed::default() };
        let met = Probed::Unfit("answers GET / with status 503".to_owned());
        assert_eq!(said(met, seen), "it answers GET / with status 503, for 1.4 s so far");
    }

    #[test]
    fn a_service_that_listens_nowhere_waits_for_something_or_has_not_come_up() {
        let of = |seen| said(Probed::Refused, seen);
        let input = |input| Observed { input: Some((process(), input)), ..Observed::default() };
        let start = "and gets none: start it so that it asks for nothing";
        assert_eq!(
            of(input(Input::Stdin)),
            format!("its process 7 (\"python3\") waits for input on its stdin, {start}")
        );
        assert_eq!(
            of(input(Input::Terminal)),
            format!("its process 7 (\"python3\") waits for input from a terminal, {start}")
        );
        let stopped = of(Observed { stopped: Some(process()), ..Observed::default() });
        assert!(stopped.starts_with("its process 7 (\"python3\") is stopped"), "{stopped}");
        let apart = of(Observed { apart: vec![tcp("127.0.0.1:18100")], ..Observed::default() });
        assert!(
            apart.starts_with("it listens on 127.0.0.1:18100 in a network namespace of its own"),
            "{apart}"
        );
        assert_eq!(of(Observed::default()), "it listens on no port yet");
        let waits =
            NotReadyReason::of(&asked(), Probed::Refused, Duration::ZERO, Observed::default(), "no database");
        assert_eq!(waits.to_string(), "it listens on no port yet, and its stderr ends: no database");
        assert!(of(Observed { is_hidden: true, ..Observed::default() }).contains("cannot be seen"));
    }

    #[test]
    fn what_this_process_listens_on_is_seen() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
        let here = listener.local_addr().unwrap();
        let me = [std::process::id()];
        let asked = Endpoint::from(here);
        let seen = Observed::of(&me, &asked);
        assert!(seen.own.contains(&SocketPlace::Tcp(here)), "{seen:?}");
        assert!(
            !seen.own.contains(&SocketPlace::Udp(datagrams.local_addr().unwrap())),
            "beside TCP it says nothing"
        );
        assert_eq!((seen.queued, seen.is_hidden, seen.stopped), (Some(0), false, None));
        let _waits = TcpStream::connect(here).unwrap();
        assert_eq!(Observed::of(&me, &asked).queued, Some(1));
        drop(listener);
        assert_eq!(Observed::of(&me, &asked).queued, None);
    }
}
