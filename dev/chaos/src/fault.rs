//! The faults that a measurement may meet.

use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use std::{
    fmt,
    fs::{self, File},
    io::Write,
    time::Duration,
};

use crate::{
    ground::{Ground, Place, Site},
    started::Started,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumIter, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Fault {
    KillTare,
    KillWatchdog,
    KillService,
    KillTareAndWatchdog,
    StopTare,
    StopWatchdog,
    StopService,
    Interrupt,
    Terminate,
    HangUp,
    /// The reader of the output goes away.
    CloseOutput,
    LimitFiles,
    LimitDescriptors,
    LimitMemory,
    FillDisk,
    /// Writing the journal fails with EIO.
    FailWrites,
    /// The same for one write only, so that the next record fits.
    FailOneWrite,
    /// The time of day jumps by ten hours.
    JumpClock,
    /// Another Tare measures at the same time.
    SecondRun,
    /// Another Tare tries to write into the same folder.
    SameFolder,
    /// No cgroup can be made, from the start.
    RefuseCgroups,
    /// No namespace can be made, from the start.
    RefuseNamespaces,
}

/// How a fault is undone once the measurement has ended.
pub(crate) struct Injected {
    pub second: Option<Started>,
}

impl Fault {
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }

    /// Whether the fault attacks the services, which may then fail.
    pub(crate) fn hits_services(self) -> bool {
        matches!(self, Fault::KillService | Fault::StopService | Fault::LimitMemory | Fault::SecondRun)
    }

    /// Whether no process is left to clean up, so that the next Tare that starts services does it.
    pub(crate) fn leaves_it_to_the_next(self) -> bool {
        self == Fault::KillTareAndWatchdog
    }

    /// Whether this signal may end the program.
    pub(crate) fn may_end_by(self, signal: i32) -> bool {
        let signals: &[Signal] = match self {
            Fault::KillTare | Fault::KillTareAndWatchdog => &[Signal::KILL],
            Fault::HangUp => &[Signal::HUP],
            // A Rust program aborts when an allocation fails.
            Fault::LimitMemory => &[Signal::ABORT],
            _ => &[],
        };
        signals.iter().any(|allowed| allowed.as_raw() == signal)
    }

    /// The place for a measurement with this fault.
    pub(crate) fn place(self) -> Place {
        match self {
            Fault::FillDisk => Place::SmallDisk,
            Fault::RefuseCgroups => Place::WithoutCgroups,
            Fault::RefuseNamespaces => Place::WithoutNamespaces,
            Fault::FailWrites | Fault::FailOneWrite | Fault::JumpClock => Place::Shimmed,
            _ => Place::Usual,
        }
    }

    pub(crate) fn inject(
        self,
        ground: &Ground,
        site: &Site,
        measurement: &mut Started,
        draw: u64,
    ) -> anyhow::Result<Injected> {
        let mut second = None;
        let pause = Duration::from_millis(200 + draw % 2_500);
        let service = |measurement: &Started| {
            let services = measurement.services();
            services.get(draw as usize % services.len().max(1)).copied()
        };
        match self {
            Fault::KillTare => send(Some(measurement.pid()), Signal::KILL),
            Fault::KillWatchdog => send(measurement.watchdog(), Signal::KILL),
            Fault::KillService => send(service(measurement), Signal::KILL),
            Fault::KillTareAndWatchdog => {
                let watchdog = measurement.watchdog();
                send(Some(measurement.pid()), Signal::KILL);
                send(watchdog, Signal::KILL);
            }
            Fault::StopTare => stop_for(Some(measurement.pid()), pause),
            Fault::StopWatchdog => stop_for(measurement.watchdog(), pause),
            Fault::StopService => stop_for(service(measurement), pause),
            Fault::Interrupt => send(Some(measurement.pid()), Signal::INT),
            Fault::Terminate => send(Some(measurement.pid()), Signal::TERM),
            Fault::HangUp => send(Some(measurement.pid()), Signal::HUP),
            Fault::CloseOutput => measurement.close_output(),
            Fault::LimitFiles => {
                let journal = fs::metadata(site.stored().0.join("journal.ndjson"));
                let size = journal.map_or(0, |journal| journal.len());
                limit(measurement.pid(), Resource::Fsize, size + draw % 4_000);
            }
            Fault::LimitDescriptors => limit(measurement.pid(), Resource::Nofile, 8 + draw % 40),
            Fault::LimitMemory => limit(measurement.pid(), Resource::As, (100 + draw % 400) << 20),
            Fault::FillDisk => fill(&site.runs())?,
            Fault::FailWrites | Fault::FailOneWrite | Fault::JumpClock => {
                drop(File::create(site.root().join(self.name()))?);
            }
            Fault::SecondRun => second = Some(ground.start_second(measurement, "runs/second")?),
            Fault::SameFolder => second = Some(ground.start_second(measurement, crate::measurement::OUT)?),
            Fault::RefuseCgroups | Fault::RefuseNamespaces => {}
        }
        Ok(Injected { second })
    }

    /// Removes the cause of the fault.
    pub(crate) fn mend(self, site: &mut Site) {
        if self == Fault::RefuseNamespaces {
            site.place = Place::Usual;
        }
        for trigger in [Fault::FailWrites, Fault::FailOneWrite, Fault::JumpClock].map(Fault::name) {
            let _it_may_not_be_there = fs::remove_file(site.root().join(trigger));
        }
        if self == Fault::FillDisk {
            let _it_may_not_be_there = fs::remove_file(site.runs().join("filler"));
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Sends a signal; a process that has gone is ignored.
fn send(pid: Option<u32>, signal: Signal) {
    if let Some(pid) = pid.and_then(|pid| Pid::from_raw(pid.cast_signed())) {
        let _it_may_have_gone = kill_process(pid, signal);
    }
}

fn stop_for(pid: Option<u32>, pause: Duration) {
    send(pid, Signal::STOP);
    std::thread::sleep(pause);
    send(pid, Signal::CONT);
}

fn limit(pid: u32, resource: Resource, most: u64) {
    if let Some(pid) = Pid::from_raw(pid.cast_signed()) {
        let _it_may_have_gone =
            prlimit(Some(pid), resource, Rlimit { current: Some(most), maximum: Some(most) });
    }
}

fn fill(disk: &std::path::Path) -> anyhow::Result<()> {
    let mut filler = File::create(disk.join("filler"))?;
    while filler.write_all(&[7; 4096]).is_ok() {}
    while filler.write_all(&[7]).is_ok() {}
    Ok(())
}
