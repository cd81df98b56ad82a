//! One running service, whoever started it: wait until it is ready, freeze it, thaw it, stop it. It knows nothing of what the
//! service serves.

use std::time::{Duration, Instant};

use super::{
    attached::{Attached, Server},
    compilers,
    files::InUse,
    launch::{Launch, StartError, Supervisor},
    outcome::{Exit, FreezeError, Stopped, Unready},
    supervised::{Supervised, TAIL_LINES, TICK},
};
use crate::signals;

/// A service that runs. Dropping it kills it if Tare started it.
#[derive(Debug)]
pub struct Service {
    pub(super) hold: Hold,
}

/// What may be done with a service.
#[derive(Debug)]
pub(super) enum Hold {
    /// Everything: it was started here.
    Supervised(Supervised),
    /// Looking at it: it ran before, and will run on.
    Attached(Attached),
}

impl Service {
    /// Starts a program, without waiting until it is ready.
    ///
    /// # Errors
    /// Its folder, program or CPUs do not exist, its port is in use, its cgroups or output files cannot be made, the
    /// watchdog has ended, or the kernel refuses to execute it.
    pub fn start(launch: &Launch, supervisor: &Supervisor) -> Result<Self, StartError> {
        Ok(Self { hold: Hold::Supervised(Supervised::start(launch, supervisor)?) })
    }

    /// A server that runs already. It is never frozen, stopped or killed.
    #[must_use]
    pub fn attach(server: &Server) -> Self {
        Self { hold: Hold::Attached(Attached::new(server.clone())) }
    }

    /// Whether it ran before, and will run on.
    pub fn is_attached(&self) -> bool {
        matches!(self.hold, Hold::Attached(_))
    }

    /// The process that was started, or the first one of a server that ran already; absent if none can be seen. The service
    /// may have further processes.
    pub fn pid(&self) -> Option<u32> {
        match &self.hold {
            Hold::Supervised(own) => Some(own.pid()),
            Hold::Attached(server) => server.pid(),
        }
    }

    /// What its live processes have of files and words now; empty for a server that ran already, whose files are its own matter.
    pub fn in_use(&self) -> InUse {
        match &self.hold {
            Hold::Supervised(own) => InUse::by(&own.pids()),
            Hold::Attached(_) => InUse::default(),
        }
    }

    /// Calls `probe` until it returns true, and returns the time from exec (of a server that ran already, from the first
    /// call) to the end of that call.
    ///
    /// The probe must not block for long (give its sockets a timeout), as the end of the service is noticed only between
    /// two calls. It is called every millisecond at first, since the start-up time is a measured figure, and less often
    /// later.
    ///
    /// # Errors
    /// The service ended, was not ready within `timeout`, or there was an interrupt.
    pub fn wait_ready(
        &self,
        timeout: Duration,
        mut probe: impl FnMut() -> bool,
    ) -> Result<Duration, Unready> {
        let began = match &self.hold {
            Hold::Supervised(own) => own.exec_at,
            Hold::Attached(_) => Instant::now(),
        };
        loop {
            let is_ready = probe();
            let elapsed = began.elapsed();
            // Checked after a success too: if the service has ended, another process may have answered on its port.
            match self.has_exited() {
                None => {}
                Some(Exit::Gone(gone)) => return Err(Unready::Gone(gone)),
                Some(status) => {
                    return Err(Unready::ExitedEarly { status, stderr_tail: self.stderr_tail(TAIL_LINES) });
                }
            }
            if is_ready {
                return Ok(elapsed);
            }
            if signals::received().is_some() {
                return Err(Unready::Interrupted);
            }
            if elapsed >= timeout {
                return Err(match &self.hold {
                    Hold::Supervised(own) => {
                        Unready::NotReady { after: timeout, stderr_tail: own.stderr_tail(TAIL_LINES) }
                    }
                    Hold::Attached(_) => Unready::Silent { after: timeout },
                });
            }
            let pause = (elapsed / 500).clamp(TICK, 20 * TICK);
            std::thread::sleep(pause.min(timeout.saturating_sub(elapsed)));
        }
    }

    /// How it ended, if it has.
    pub fn has_exited(&self) -> Option<Exit> {
        match &self.hold {
            Hold::Supervised(own) => own.has_exited(),
            Hold::Attached(server) => server.gone().map(Exit::Gone),
        }
    }

    /// The last lines of its stderr, at most 64 KiB; empty for a server that ran already.
    pub fn stderr_tail(&self, lines: usize) -> String {
        match &self.hold {
            Hold::Supervised(own) => own.stderr_tail(lines),
            Hold::Attached(_) => String::new(),
        }
    }

    /// Freezes all its processes, and returns when they stand still. Connections stay open, and the kernel accepts new
    /// ones. A server that ran already runs on.
    ///
    /// # Errors
    /// The kernel refuses, or a process still runs after two seconds.
    pub fn freeze(&self) -> Result<(), FreezeError> {
        match &self.hold {
            Hold::Supervised(own) => own.freeze(),
            Hold::Attached(_) => Ok(()),
        }
    }

    /// Lets it run again. It has no effect on a service that is not frozen.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn thaw(&self) -> Result<(), FreezeError> {
        match &self.hold {
            Hold::Supervised(own) => own.thaw(),
            Hold::Attached(_) => Ok(()),
        }
    }

    /// Lets the threads that compile its code use other CPUs than those that they may use now. A server that ran already is left
    /// as it is.
    pub fn place_compilers(&self, from: &[usize], to: &[usize]) {
        let Hold::Supervised(own) = &self.hold else { return };
        // No thread can be where its cpuset is not.
        own.group.allow_cpus(&[from, to].concat());
        compilers::place(self.pids(), from, to);
        own.group.allow_cpus(to);
    }

    /// Stops it: thaw, SIGTERM to the process group, wait for `grace`, SIGKILL to whatever is left. Then checks that its
    /// groups are empty and its port is closed. A server that ran already is left as it is.
    pub fn stop(self, grace: Duration) -> Stopped {
        match self.hold {
            Hold::Supervised(own) => own.stop(grace),
            Hold::Attached(_) => Stopped::LeftRunning,
        }
    }
}
