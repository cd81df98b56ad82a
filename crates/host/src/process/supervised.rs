//! A program that Tare started: freeze, thaw and stop it, and verify that nothing is left. It knows nothing
//! of the content that the program serves.

use super::group::Group;
use super::init;
use super::launch::{self, Launch, StartError, Started, Supervisor};
use super::outcome::{Exit, FreezeError, Stopped};
use super::procfs::Process;
use super::watchdog::Watchdog;
use super::{port, shorten, tail};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};
use std::io;
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

/// Number of stderr lines that an outcome quotes.
pub(super) const TAIL_LINES: usize = 12;
/// Time limit for a freeze, which the kernel completes within a quarter of a millisecond.
const FREEZE_WITHIN: Duration = Duration::from_secs(2);
/// Time for which children may outlive the service, within the grace period.
const LINGER: Duration = Duration::from_millis(300);
/// Time limit for SIGKILL.
const KILL_WITHIN: Duration = Duration::from_secs(5);
/// Time for which a port may stay open after the last process has died.
const PORT_WITHIN: Duration = Duration::from_millis(500);
pub(super) const TICK: Duration = Duration::from_millis(1);

/// Dropping it kills it.
#[derive(Debug)]
pub(super) struct Supervised {
    pub(super) name: String,
    pub(super) group: Group,
    child: Child,
    pub(super) exec_at: Instant,
    pub(super) port: Option<u16>,
    stderr: PathBuf,
    /// The output files to shorten; a log shared by several programs is not among them.
    outputs: Vec<PathBuf>,
    watchdog: Watchdog,
    /// Whether the started process is an init, with the service below it.
    own_pids: bool,
    gone: bool,
}

impl Supervised {
    pub(super) fn start(launch: &Launch, supervisor: &Supervisor) -> Result<Self, StartError> {
        let Started { child, group, exec_at } = launch::launch(launch, supervisor)?;
        let (name, port, stderr) = (launch.name.clone(), launch.port, launch.stderr.clone());
        let outputs =
            if launch.append { Vec::new() } else { vec![launch.stdout.clone(), launch.stderr.clone()] };
        let watchdog = supervisor.watchdog.clone();
        let own_pids = launch.sandbox.own_pids;
        Ok(Self { name, group, child, exec_at, port, stderr, outputs, watchdog, own_pids, gone: false })
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The process is not reaped before [`Supervised::stop`], so its PID, which is also its process group,
    /// cannot be reused until then.
    pub(super) fn has_exited(&self) -> Option<Exit> {
        let pid = Pid::from_raw(self.child.id().cast_signed())?;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(pid), options).ok().flatten()?;
        let signal = || status.terminating_signal().map(Exit::Signal);
        let exit = status.exit_status().map(Exit::Status).or_else(signal)?;
        Some(if self.own_pids { init::exit_below(exit) } else { exit })
    }

    /// Its live processes, without the init above it.
    pub(super) fn pids(&self) -> Vec<u32> {
        let mut pids = self.group.trace.live();
        pids.retain(|&pid| !self.own_pids || pid != self.pid());
        pids
    }

    pub(super) fn stderr_tail(&self, lines: usize) -> String {
        tail::tail(&self.stderr, lines)
    }

    /// Freezes it and returns once none of its processes runs.
    pub(super) fn freeze(&self) -> Result<(), FreezeError> {
        let refused = |source| FreezeError::Refused { name: self.name.clone(), source };
        self.group.set_frozen(true).map_err(refused)?;
        let began = Instant::now();
        let mut pause = Duration::from_micros(20);
        while !self.group.is_frozen().map_err(refused)? {
            if began.elapsed() > FREEZE_WITHIN {
                let _ = self.group.set_frozen(false);
                return Err(FreezeError::TooSlow { name: self.name.clone(), after: FREEZE_WITHIN });
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(TICK);
        }
        self.shorten_outputs();
        Ok(())
    }

    /// Call it while no process runs. It keeps a service that prints endlessly from filling the disk.
    fn shorten_outputs(&self) {
        for output in &self.outputs {
            // A file that cannot be shortened stays as it is: that is not a failure of the service.
            let _as_it_is = shorten::shorten(output);
        }
    }

    pub(super) fn thaw(&self) -> Result<(), FreezeError> {
        self.watchdog.ensure();
        self.group
            .set_frozen(false)
            .map_err(|source| FreezeError::Refused { name: self.name.clone(), source })
    }

    /// Stops it: thaw, SIGTERM to the process group, wait for `grace`, SIGKILL to the rest. Then checks that
    /// its groups are empty and its port is closed.
    pub(super) fn stop(mut self, grace: Duration) -> Stopped {
        if let Some(status) = self.has_exited() {
            let leaked = self.survivors(Instant::now());
            let stderr_tail = self.stderr_tail(TAIL_LINES);
            return self.finish(Stopped::ExitedBefore { status, stderr_tail, leaked });
        }
        // A service that cannot be thawed receives no SIGTERM; it is killed below after the grace period.
        let _ = self.group.set_frozen(false);
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

    /// Its processes that are still alive at the deadline.
    fn survivors(&self, deadline: Instant) -> Vec<Process> {
        loop {
            let live = self.group.trace.live();
            if live.is_empty() || Instant::now() > deadline {
                return live.into_iter().filter_map(Process::of).collect();
            }
            std::thread::sleep(TICK);
        }
    }

    /// Kills the rest and removes the groups. Returns `outcome`, unless a process or a listener remains.
    fn finish(&mut self, outcome: Stopped) -> Stopped {
        let hung = self.clear();
        if !hung.is_empty() {
            return Stopped::Unstoppable { processes: hung.into_iter().filter_map(Process::of).collect() };
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

    /// Kills everything, removes the cgroups, reaps the process. Returns the processes that are still alive.
    fn clear(&mut self) -> Vec<u32> {
        self.gone = true;
        let hung = self.group.trace.destroy(KILL_WITHIN);
        if hung.is_empty() {
            self.shorten_outputs();
            let _: io::Result<_> = self.child.wait();
            self.watchdog.delete(&self.group.trace.name);
        }
        hung
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        if !self.gone {
            self.clear();
        }
    }
}
