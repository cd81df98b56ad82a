//! How a service ended or failed to start, with messages that its author can act on.

use super::hindrance::NotReadyReason;
use super::port::PortOwner;
use super::procfs::Process;
use std::fmt;
use std::time::Duration;
use thiserror::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Status(i32),
    Signal(i32),
    Gone(ServerGone),
}

/// How a server that Tare did not start has changed. Its exit status is known only to its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerGone {
    Ended {
        pid: u32,
    },
    /// Another process listens on its port now.
    Replaced {
        pid: u32,
        by: u32,
    },
    /// Its socket is gone; its process was never visible.
    Closed,
}

impl fmt::Display for ServerGone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended { pid } => write!(f, "its process {pid} ended"),
            Self::Replaced { pid, by } => write!(f, "process {by} took the place of its process {pid}"),
            Self::Closed => f.write_str("it no longer listens"),
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(f, "exit status {status}"),
            Self::Gone(gone) => write!(f, "{gone}"),
            Self::Signal(number) => match name_of(*number) {
                Some(name) => write!(f, "killed by signal {number} ({name})"),
                None => write!(f, "killed by signal {number}"),
            },
        }
    }
}

fn name_of(signal: i32) -> Option<&'static str> {
    match signal_hook::low_level::signal_name(signal) {
        Some("SIGKILL") => Some("SIGKILL, perhaps out of memory"),
        name => name,
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unready {
    #[error("ended before it was ready: {status}{}{}", early(*.status, .left), quoted(.stderr_tail))]
    ExitedEarly {
        status: Exit,
        /// Its processes that still run.
        left: Vec<Process>,
        stderr_tail: String,
    },
    #[error("{0} before it answered")]
    Gone(ServerGone),
    /// Its answer contradicts the request: a sentence with the fix.
    #[error("{0}")]
    Never(String),
    #[error("gave no correct answer within {after:?}: {}", lacking(.hindrance.as_ref()))]
    Silent { after: Duration, hindrance: Option<NotReadyReason> },
    #[error(
        "gave no correct answer within {after:?} of its start: {}{}", to_be_changed(.hindrance.as_ref()), quoted(.stderr_tail)
    )]
    NotReady { after: Duration, hindrance: Option<NotReadyReason>, stderr_tail: String },
    /// The user interrupted the wait. The observation is kept, but says nothing about the service.
    #[error("interrupted before it answered{}", .hindrance.as_ref().map(|seen| format!(": {seen}")).unwrap_or_default())]
    Interrupted { hindrance: Option<NotReadyReason> },
}

/// The likely misunderstanding behind a program that ended by itself without an error.
fn early(status: Exit, left: &[Process]) -> String {
    match (status, left) {
        (Exit::Status(0), []) => ": a service runs until it is stopped, and its stdin is empty".to_owned(),
        (Exit::Status(0), left) => {
            format!(", and left {}, now killed: let it stay in the foreground", list(left))
        }
        _ => String::new(),
    }
}

/// Why a server that Tare did not start may not answer.
fn lacking(hindrance: Option<&NotReadyReason>) -> String {
    let unknown = || "it may serve no further connection, or be another server by now".to_owned();
    hindrance.map_or_else(unknown, ToString::to_string)
}

/// Why a service that Tare started is not ready, and what its user can do.
fn to_be_changed(hindrance: Option<&NotReadyReason>) -> String {
    match hindrance {
        None => "check that it listens on 127.0.0.1:$PORT, or raise `ready-timeout`".to_owned(),
        Some(hindrance) if hindrance.may_pass() => {
            format!("{hindrance}; if it needs more time, raise `ready-timeout`")
        }
        Some(hindrance) => hindrance.to_string(),
    }
}

#[derive(Debug, Error)]
pub enum FreezeError {
    #[error("service {name:?} did not freeze within {after:?}")]
    TooSlow { name: String, after: Duration },
    #[error("cannot freeze or thaw service {name:?}: {source}")]
    Refused { name: String, source: std::io::Error },
}

/// How a service was stopped. Except for `Unstoppable` and `LeftRunning`, none of its processes is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// It ended on SIGTERM and left nothing behind.
    Clean { status: Exit, took: Duration },
    /// It did not end within the grace period and was killed.
    StoppedLate { grace: Duration, stderr_tail: String },
    /// It ended, but processes that it had started still ran; they were killed.
    Leaked {
        /// How the service itself ended.
        status: Exit,
        /// The processes that it left behind.
        processes: Vec<Process>,
    },
    /// It had ended before SIGTERM: it crashed or was killed.
    ExitedBefore {
        status: Exit,
        stderr_tail: String,
        /// The processes that it left behind, now killed.
        leaked: Vec<Process>,
    },
    /// All its processes have ended, but another process listens on its port.
    PortHeld { port: u16, owner: PortOwner },
    /// Some of its processes survive SIGKILL: they hang in the kernel.
    Unstoppable { processes: Vec<Process> },
    /// Tare did not start it, so it does not stop it.
    LeftRunning,
}

impl Stopped {
    /// Whether it ended correctly: on SIGTERM, in time, with nothing left. Correct are status 0, the signal
    /// itself, and status 143 (128 + 15), by which a runtime reports the signal.
    pub fn is_clean(&self) -> bool {
        self.cleanly().is_some() || *self == Self::LeftRunning
    }

    /// Time that it took to end, if it ended correctly.
    pub fn cleanly(&self) -> Option<Duration> {
        match self {
            Self::Clean { status: Exit::Status(0 | 143) | Exit::Signal(15), took } => Some(*took),
            _ => None,
        }
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clean { status, took } => write!(f, "ended {took:?} after SIGTERM: {status}"),
            Self::StoppedLate { grace, stderr_tail } => write!(
                f,
                "did not end within {grace:?} of SIGTERM and was killed: handle SIGTERM and close idle \
                 connections{}",
                quoted(stderr_tail)
            ),
            Self::Leaked { status, processes } => write!(
                f,
                "ended ({status}) but left {}, now killed: end and wait for every child on SIGTERM",
                list(processes)
            ),
            Self::ExitedBefore { status, stderr_tail, leaked } => {
                write!(f, "had ended before it was stopped: {status}")?;
                if !leaked.is_empty() {
                    write!(f, ", leaving {}, now killed", list(leaked))?;
                }
                f.write_str(&quoted(stderr_tail))
            }
            Self::LeftRunning => f.write_str("runs on, for Tare did not start it"),
            Self::PortHeld { port, owner } => {
                write!(f, "has ended, but {owner} still listens on port {port}: end that process")
            }
            Self::Unstoppable { processes } => {
                write!(
                    f,
                    "does not end even on SIGKILL ({}): the processes hang in the kernel",
                    list(processes)
                )
            }
        }
    }
}

fn list(processes: &[Process]) -> String {
    processes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// The stderr of a service for the end of a message: indented, or a note that it is empty.
fn quoted(stderr_tail: &str) -> String {
    if stderr_tail.is_empty() {
        return "; its stderr is empty".into();
    }
    let lines: Vec<String> = stderr_tail.lines().map(|line| format!("\n    {line}")).collect();
    format!("; the end of its stderr:{}", lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::sockets::SocketPlace;

    #[test]
    fn messages_say_what_happened_and_what_to_do() {
        let early = |status, count| {
            let left = vec![Process { pid: 7, command: "server".into() }; count];
            let early =
                Unready::ExitedEarly { status: Exit::Status(status), left, stderr_tail: "a\nb".into() };
            let text = early.to_string();
            text.strip_prefix("ended before it was ready: exit status ").unwrap().to_owned()
        };
        let stderr = "; the end of its stderr:\n    a\n    b";
        assert_eq!(early(3, 1), format!("3{stderr}"));
        assert_eq!(
            early(0, 0),
            format!("0: a service runs until it is stopped, and its stdin is empty{stderr}")
        );
        let left = "0, and left process 7 (\"server\"), now killed: let it stay in the foreground";
        assert_eq!(early(0, 1), format!("{left}{stderr}"));
        let processes = vec![Process { pid: 7, command: "sleep".into() }];
        assert_eq!(
            Stopped::Leaked { status: Exit::Status(0), processes }.to_string(),
            "ended (exit status 0) but left process 7 (\"sleep\"), now killed: end and wait for every child on SIGTERM"
        );
        assert_eq!(Exit::Signal(11).to_string(), "killed by signal 11 (SIGSEGV)");
        assert_eq!(Exit::Signal(34).to_string(), "killed by signal 34");
    }

    #[test]
    fn only_a_voluntary_end_is_clean() {
        let clean = |status| Stopped::Clean { status, took: Duration::ZERO }.is_clean();
        assert!(clean(Exit::Status(0)) && clean(Exit::Status(143)) && clean(Exit::Signal(15)));
        assert!(!clean(Exit::Status(1)) && !clean(Exit::Signal(11)));
    }

    #[test]
    fn each_outcome_names_its_remedy() {
        let processes =
            || vec![Process { pid: 7, command: "a".into() }, Process { pid: 8, command: "b".into() }];
        let owner = || PortOwner { process: None };
        let second = Duration::from_secs(1);
        let exit = Exit::Signal(9);
        for (stopped, expected) in [
            (
                Stopped::Clean { status: Exit::Status(0), took: second },
                "ended 1s after SIGTERM: exit status 0",
            ),
            (
                Stopped::StoppedLate { grace: second, stderr_tail: String::new() },
                "did not end within 1s of SIGTERM and was killed: handle SIGTERM and close idle connections; its stderr is empty",
            ),
            (
                Stopped::ExitedBefore { status: exit, stderr_tail: "x".into(), leaked: processes() },
                "had ended before it was stopped: killed by signal 9 (SIGKILL, perhaps out of memory), leaving process 7 (\"a\"), \
                 process 8 (\"b\"), now killed; the end of its stderr:\n    x",
            ),
            (Stopped::LeftRunning, "runs on, for Tare did not start it"),
            (
                Stopped::PortHeld { port: 80, owner: owner() },
                "has ended, but a process of another user still listens on port 80: end that process",
            ),
            (
                Stopped::Unstoppable { processes: processes() },
                "does not end even on SIGKILL (process 7 (\"a\"), process 8 (\"b\")): the processes hang in the kernel",
            ),
        ] {
            assert_eq!(stopped.to_string(), expected);
            assert_eq!(stopped.is_clean(), matches!(stopped, Stopped::Clean { .. } | Stopped::LeftRunning));
        }
    }

    #[test]
    fn a_service_without_an_answer_is_pointed_to_its_port() {
        let late = |hindrance| {
            let stderr_tail = String::new();
            Unready::NotReady { after: Duration::from_secs(2), hindrance, stderr_tail }.to_string()
        };
        let asked = tare_base::Endpoint::from(std::net::SocketAddr::from(([127, 0, 0, 1], 81)));
        let expected = "gave no correct answer within 2s of its start: check that it listens on 127.0.0.1:$PORT, or raise \
            `ready-timeout`; its stderr is empty";
        assert_eq!(late(None), expected);
        let silent = NotReadyReason::Silent { asked: asked.clone(), lasts: Duration::from_secs(1) };
        let expected = "gave no correct answer within 2s of its start: it listens at 127.0.0.1:81, and has answered nothing for \
            1.0 s; if it needs more time, raise `ready-timeout`; its stderr is empty";
        assert_eq!(late(Some(silent.clone())), expected);
        let elsewhere =
            NotReadyReason::Elsewhere { asked, listens: vec![SocketPlace::Tcp(([127, 0, 0, 1], 82).into())] };
        assert!(!late(Some(elsewhere)).contains("ready-timeout"), "no time helps it");
        let interrupted = |hindrance| Unready::Interrupted { hindrance }.to_string();
        assert_eq!(interrupted(None), "interrupted before it answered");
        let expected =
            "interrupted before it answered: it listens at 127.0.0.1:81, and has answered nothing for 1.0 s";
        assert_eq!(interrupted(Some(silent)), expected);
    }

    #[test]
    fn a_server_that_is_gone_says_how() {
        let of = |gone| Unready::Gone(gone).to_string();
        assert_eq!(of(ServerGone::Ended { pid: 7 }), "its process 7 ended before it answered");
        let replaced = ServerGone::Replaced { pid: 7, by: 8 };
        assert_eq!(of(replaced), "process 8 took the place of its process 7 before it answered");
        assert_eq!(Exit::Gone(ServerGone::Closed).to_string(), "it no longer listens");
    }

    #[test]
    fn signals_have_their_names_and_the_killer_its_likely_reason() {
        for (signal, name) in
            [(1, "SIGHUP"), (4, "SIGILL"), (6, "SIGABRT"), (7, "SIGBUS"), (8, "SIGFPE"), (13, "SIGPIPE")]
        {
            assert_eq!(Exit::Signal(signal).to_string(), format!("killed by signal {signal} ({name})"));
        }
        assert_eq!(Exit::Signal(9).to_string(), "killed by signal 9 (SIGKILL, perhaps out of memory)");
    }
}
