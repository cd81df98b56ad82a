//! One running service, started by Tare or not: wait until it is ready, freeze, thaw and stop it. It knows
//! nothing of the content that the service serves.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::mpsc::{self, RecvTimeoutError},
    time::{Duration, Instant},
};

use super::{
    attached::{Attached, Server},
    compilers,
    files::InUse,
    hindrance::{NotReadyReason, Observed, Probed},
    launch::{Launch, StartError, Supervisor},
    outcome::{Exit, FreezeError, Stopped, Unready},
    procfs::Process,
    supervised::{Supervised, TAIL_LINES, TICK},
    vigil::{Notices, ReadinessWatch},
};
use crate::signals;

/// Time of the first look at a service that is not ready. The time between looks then doubles.
const FIRST_LOOK: Duration = Duration::from_millis(1_500);

/// A running service. Dropping it kills it if Tare started it.
#[derive(Debug)]
pub struct RunningService {
    pub(super) hold: Hold,
    notices: Notices,
}

/// What Tare may do with a service.
#[derive(Debug)]
pub(super) enum Hold {
    /// Everything: Tare started it.
    Supervised(Supervised),
    /// Observe it: it ran before, and keeps running.
    Attached(Attached),
}

impl RunningService {
    /// Starts a program, without waiting until it is ready.
    ///
    /// # Errors
    /// Its folder, program or CPUs do not exist, its port is in use, or its cgroups or output files cannot be
    /// made. Or the watchdog has ended, or the kernel refuses to execute it.
    pub fn start(launch: &Launch, supervisor: &Supervisor) -> Result<Self, StartError> {
        let notices = supervisor.notices().clone();
        Ok(Self { hold: Hold::Supervised(Supervised::start(launch, supervisor)?), notices })
    }

    /// Wraps a server that already runs. It is never frozen, stopped or killed.
    #[must_use]
    pub fn attach(server: &Server, notices: &Notices) -> Self {
        Self { hold: Hold::Attached(Attached::new(server.clone())), notices: notices.clone() }
    }

    /// Whether Tare only observes it.
    pub fn is_attached(&self) -> bool {
        matches!(self.hold, Hold::Attached(_))
    }

    /// The started process, or the first visible one of an attached server. The service may have further
    /// processes.
    pub fn pid(&self) -> Option<u32> {
        match &self.hold {
            Hold::Supervised(own) => Some(own.pid()),
            Hold::Attached(server) => server.pid(),
        }
    }

    /// Files, words and variables of its live processes; empty for an attached server.
    pub fn in_use(&self) -> InUse {
        match &self.hold {
            Hold::Supervised(own) => InUse::by(&own.pids()),
            Hold::Attached(_) => InUse::default(),
        }
    }

    /// Calls `probe` until the service is ready. Returns the time from exec (attached server: from the first
    /// call) to the end of that call. If that takes long, the reason is reported meanwhile.
    ///
    /// The probe must not block for long (give its sockets a timeout): the end of the service is noticed only
    /// between two calls. Calls come every millisecond at first, since the start-up time is a measured
    /// figure, and less often later.
    ///
    /// # Errors
    /// The service ended, was not ready within `timeout`, or an interrupt arrived.
    pub fn wait_ready<P: Into<Probed>>(
        &self,
        timeout: Duration,
        mut probe: impl FnMut() -> P,
    ) -> Result<Duration, Unready> {
        let began = match &self.hold {
            Hold::Supervised(own) => own.exec_at,
            Hold::Attached(_) => Instant::now(),
        };
        let vigil = &ReadinessWatch::begin(began);
        std::thread::scope(|scope| {
            // Dropping this end of the channel ends the watch.
            let (_waited, is_over) = mpsc::channel();
            scope.spawn(move || self.watch(vigil, began, timeout, &is_over));
            self.wait(vigil, began, timeout, &mut || probe().into())
        })
    }

    fn wait(
        &self,
        vigil: &ReadinessWatch,
        began: Instant,
        timeout: Duration,
        probe: &mut dyn FnMut() -> Probed,
    ) -> Result<Duration, Unready> {
        loop {
            vigil.ask(Instant::now());
            let found = probe();
            let elapsed = began.elapsed();
            // An interrupted probe says nothing about the service.
            let is_interrupted = signals::received().is_some();
            if !is_interrupted {
                vigil.note(&found);
            }
            // After a success too: if the service has ended, another process may have answered on its port.
            match self.has_exited() {
                None => {}
                Some(Exit::Gone(gone)) => return Err(Unready::Gone(gone)),
                Some(status) => return Err(self.exited_early(status)),
            }
            match found {
                Probed::Ready => return Ok(elapsed),
                Probed::Never(why) => return Err(Unready::Never(why)),
                _ if is_interrupted => {
                    return Err(Unready::Interrupted { hindrance: self.hindrance(vigil) });
                }
                _ => {}
            }
            if elapsed >= timeout || vigil.is_wrong_for_good(Instant::now()) {
                let after = if elapsed >= timeout { timeout } else { Duration::from_secs(elapsed.as_secs()) };
                let hindrance = self.hindrance(vigil);
                return Err(match &self.hold {
                    Hold::Supervised(own) => {
                        Unready::NotReady { after, hindrance, stderr_tail: own.stderr_tail(TAIL_LINES) }
                    }
                    Hold::Attached(_) => Unready::Silent { after, hindrance },
                });
            }
            let pause = (elapsed / 500).clamp(TICK, 20 * TICK);
            std::thread::sleep(pause.min(timeout.saturating_sub(elapsed)));
        }
    }

    /// Observes a service until the wait for it is over, and reports why it is not ready.
    fn watch(&self, vigil: &ReadinessWatch, began: Instant, timeout: Duration, is_over: &mpsc::Receiver<()>) {
        let mut look_at = FIRST_LOOK;
        while is_over.recv_timeout(look_at.saturating_sub(began.elapsed())) == Err(RecvTimeoutError::Timeout)
        {
            if let Some(hindrance) = self.hindrance(vigil).filter(|_| self.has_exited().is_none()) {
                self.notices.say(&self.name(), &hindrance, timeout);
            }
            look_at *= 2;
        }
    }

    /// Why it is not ready; absent if its address is unknown.
    fn hindrance(&self, vigil: &ReadinessWatch) -> Option<NotReadyReason> {
        let (pids, asked) = match &self.hold {
            Hold::Supervised(own) => (own.pids(), SocketAddr::from((Ipv4Addr::LOCALHOST, own.port?)).into()),
            Hold::Attached(server) => (server.live(), server.address().clone()),
        };
        let (met, lasts) = vigil.met(Instant::now());
        Some(NotReadyReason::of(&asked, met, lasts, Observed::of(&pids, &asked), &self.stderr_tail(1)))
    }

    fn exited_early(&self, status: Exit) -> Unready {
        let left = match &self.hold {
            Hold::Supervised(own) => own.pids().into_iter().filter_map(Process::of).collect(),
            Hold::Attached(_) => Vec::new(),
        };
        Unready::ExitedEarly { status, left, stderr_tail: self.stderr_tail(TAIL_LINES) }
    }

    fn name(&self) -> String {
        match &self.hold {
            Hold::Supervised(own) => own.name.clone(),
            Hold::Attached(server) => server.address().to_string(),
        }
    }

    /// How it ended, if it has.
    pub fn has_exited(&self) -> Option<Exit> {
        match &self.hold {
            Hold::Supervised(own) => own.has_exited(),
            Hold::Attached(server) => server.gone().map(Exit::Gone),
        }
    }

    /// The last lines of its stderr, at most 64 KiB; empty for an attached server.
    pub fn stderr_tail(&self, lines: usize) -> String {
        match &self.hold {
            Hold::Supervised(own) => own.stderr_tail(lines),
            Hold::Attached(_) => String::new(),
        }
    }

    /// Freezes all its processes and returns once none of them runs. Connections stay open, and the kernel
    /// accepts new ones. An attached server keeps running.
    ///
    /// # Errors
    /// The kernel refuses, or a process still runs after two seconds.
    pub fn freeze(&self) -> Result<(), FreezeError> {
        match &self.hold {
            Hold::Supervised(own) => own.freeze(),
            Hold::Attached(_) => Ok(()),
        }
    }

    /// Lets it run again. No effect on a service that is not frozen.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn thaw(&self) -> Result<(), FreezeError> {
        match &self.hold {
            Hold::Supervised(own) => own.thaw(),
            Hold::Attached(_) => Ok(()),
        }
    }

    /// Moves the threads that compile its code from the CPUs `from` to the CPUs `to`. An attached server is
    /// not changed.
    pub fn place_compilers(&self, from: &[usize], to: &[usize]) {
        let Hold::Supervised(own) = &self.hold else { return };
        // A thread can use only the CPUs of its cpuset.
        own.group.allow_cpus(&[from, to].concat());
        compilers::place(self.pids(), from, to);
        own.group.allow_cpus(to);
    }

    /// Stops it: thaw, SIGTERM to the process group, wait for `grace`, SIGKILL to the rest. Then checks that
    /// its groups are empty and its port is closed. An attached server keeps running.
    pub fn stop(self, grace: Duration) -> Stopped {
        match self.hold {
            Hold::Supervised(own) => own.stop(grace),
            Hold::Attached(_) => Stopped::LeftRunning,
        }
    }
}
