//! One running service: wait until it is ready, freeze it, thaw it, stop it and prove that nothing is left.
//! It knows nothing of what the service serves.

use super::group::Group;
use super::launch::{self, Launch, StartError, Started, Supervisor};
use super::outcome::{Exit, FreezeError, Process, Stopped, Unready};
use super::{Keeper, port, tail};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};
use std::io;
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

/// How many lines of stderr an outcome carries.
const TAIL_LINES: usize = 12;
/// How long a service may take to stand still. The kernel needs a quarter of a millisecond.
const FREEZE_WITHIN: Duration = Duration::from_secs(2);
/// How long the children of a service may live on after it has ended, if the grace lasts that long: some are still
/// on their way out.
const LINGER: Duration = Duration::from_millis(300);
/// How long SIGKILL may take.
const KILL_WITHIN: Duration = Duration::from_secs(5);
/// How long a port may stay open after the last process is dead.
const PORT_WITHIN: Duration = Duration::from_millis(500);
const TICK: Duration = Duration::from_millis(1);

/// A service that was started. Dropping it kills it.
#[derive(Debug)]
pub struct Service {
    name: String,
    pub(super) group: Group,
    child: Child,
    exec_at: Instant,
    port: Option<u16>,
    stderr: PathBuf,
    keeper: Keeper,
    gone: bool,
}

impl Service {
    /// Starts a program. It runs from here on, ready or not.
    pub fn start(launch: &Launch, supervisor: &Supervisor) -> Result<Self, StartError> {
        let Started { child, group, exec_at } = launch::launch(launch, supervisor)?;
        let (name, port, stderr) = (launch.name.clone(), launch.port, launch.stderr.clone());
        let keeper = supervisor.keeper.clone();
        Ok(Self { name, group, child, exec_at, port, stderr, keeper, gone: false })
    }

    /// Its name, as the launch gave it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The process that was started; others may belong to it too.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks `probe` until it says yes, and returns the time from exec to that answer.
    ///
    /// The probe must not block for long (give its sockets a timeout), for the death of the service is noticed between
    /// two probes. It is asked every millisecond at first, since the start-up time is a measured figure, and less often
    /// the longer it takes.
    pub fn wait_ready(
        &self,
        timeout: Duration,
        mut probe: impl FnMut() -> bool,
    ) -> Result<Duration, Unready> {
        loop {
            let yes = probe();
            let elapsed = self.exec_at.elapsed();
            // Also after a yes: on the port of a dead service somebody else may have answered.
            if let Some(status) = self.has_exited() {
                return Err(Unready::ExitedEarly { status, stderr_tail: self.stderr_tail(TAIL_LINES) });
            }
            if yes {
                return Ok(elapsed);
            }
            if elapsed >= timeout {
                return Err(Unready::NotReady { after: timeout, stderr_tail: self.stderr_tail(TAIL_LINES) });
            }
            let pause = (elapsed / 500).clamp(TICK, 20 * TICK);
            std::thread::sleep(pause.min(timeout.saturating_sub(elapsed)));
        }
    }

    /// How it ended, if it has. The process is not waited for before [`Service::stop`]: so long its number, which is
    /// that of the process group too, cannot go to another.
    pub fn has_exited(&self) -> Option<Exit> {
        let pid = Pid::from_raw(self.child.id().cast_signed())?;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(pid), options).ok().flatten()?;
        let signal = || status.terminating_signal().map(Exit::Signal);
        status.exit_status().map(Exit::Status).or_else(signal)
    }

    /// The last lines of its stderr; of a very long end only 64 KiB.
    pub fn stderr_tail(&self, lines: usize) -> String {
        tail::tail(&self.stderr, lines)
    }

    /// Makes all its processes stand still, and returns when they do. Connections stay open, and the kernel accepts
    /// more for it.
    pub fn freeze(&self) -> Result<(), FreezeError> {
        let refused = |source| FreezeError::Refused { name: self.name.clone(), source };
        self.group.freeze().map_err(refused)?;
        let began = Instant::now();
        let mut pause = Duration::from_micros(20);
        while !self.group.is_frozen().map_err(refused)? {
            if began.elapsed() > FREEZE_WITHIN {
                let _ = self.group.thaw();
                return Err(FreezeError::TooSlow { name: self.name.clone(), after: FREEZE_WITHIN });
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(TICK);
        }
        Ok(())
    }

    /// Lets it run again. Thawing what is not frozen does nothing.
    pub fn thaw(&self) -> Result<(), FreezeError> {
        self.group.thaw().map_err(|source| FreezeError::Refused { name: self.name.clone(), source })
    }

    /// Ends it: thaw, SIGTERM to the process group, `grace`, then SIGKILL to all that is left; and proves that its
    /// groups are empty and its port is closed.
    pub fn stop(mut self, grace: Duration) -> Stopped {
        if let Some(status) = self.has_exited() {
            let leaked = self.survivors(Instant::now());
            let stderr_tail = self.stderr_tail(TAIL_LINES);
            return self.finish(Stopped::ExitedBefore { status, stderr_tail, leaked });
        }
        // A service that cannot be thawed does not hear SIGTERM; it is killed as late below.
        let _ = self.group.thaw();
        let began = Instant::now();
        self.group.signal(Signal::TERM);
        let Some(status) = self.wait_exit(began + grace) else {
            let stderr_tail = self.stderr_tail(TAIL_LINES);
            return self.finish(Stopped::StoppedLate { grace, stderr_tail });
        };
        let took = began.elapsed();
        let processes = self.survivors((began + grace).min(Instant::now() + LINGER));
        if processes.is_empty() {
            self.finish(Stopped::Clean { status, took })
        } else {
            self.finish(Stopped::Leaked { status, processes })
        }
    }

    fn wait_exit(&self, deadline: Instant) -> Option<Exit> {
        loop {
            let exit = self.has_exited();
            if exit.is_some() || Instant::now() > deadline {
                return exit;
            }
            std::thread::sleep(TICK);
        }
    }

    /// What of it lives on until the deadline.
    fn survivors(&self, deadline: Instant) -> Vec<Process> {
        loop {
            let live = self.group.trace.live();
            if live.is_empty() || Instant::now() > deadline {
                return live.into_iter().filter_map(Process::look).collect();
            }
            std::thread::sleep(TICK);
        }
    }

    /// Kills and clears away what is left; the outcome is that one unless the proof fails.
    fn finish(&mut self, outcome: Stopped) -> Stopped {
        let stuck = self.clear();
        if !stuck.is_empty() {
            return Stopped::Unstoppable { processes: stuck.into_iter().filter_map(Process::look).collect() };
        }
        let deadline = Instant::now() + PORT_WITHIN;
        while let Some((port, owner)) = self.port.and_then(|port| Some((port, port::port_in_use(port)?))) {
            if Instant::now() > deadline {
                return Stopped::PortHeld { port, owner };
            }
            std::thread::sleep(TICK);
        }
        outcome
    }

    /// Kills everything, removes the cgroups, waits for the process. Returns what is alive all the same.
    fn clear(&mut self) -> Vec<u32> {
        self.gone = true;
        let stuck = self.group.trace.destroy(KILL_WITHIN);
        if stuck.is_empty() {
            let _: io::Result<_> = self.child.wait();
            self.keeper.delete(&self.group.trace.name);
        }
        stuck
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if !self.gone {
            self.clear();
        }
    }
}
