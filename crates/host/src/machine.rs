//! Finds out what the kernel of this machine allows, by trying it. `tare doctor` prints the findings.

use std::{fs, path::Path};

use rustix::{
    process::{Resource, getrlimit},
    thread::{CpuSet, sched_getaffinity, sched_setaffinity},
};
use serde::Serialize;

use crate::{
    link::{Link, LinkSpecError, rights},
    process::{Cgroups, Isolation},
};

/// File descriptors needed by the largest supported load, with a margin.
const DESCRIPTORS: u64 = 4096;

#[derive(Debug, Clone, Serialize)]
pub struct MachineFinding {
    pub subject: &'static str,
    /// False if measurements are possible but less precise.
    pub good: bool,
    pub text: String,
    /// The command or setting that would improve it.
    pub remedy: Option<String>,
}

/// Examines the prerequisites of every benchmark. It changes nothing about this process.
pub fn examine(cpus: &[usize]) -> Vec<MachineFinding> {
    let isolation = Isolation::detect();
    let [(_, freezing), (_, cpu_time), (_, killing), (_, bounds)] = isolation.describe();
    let by_cgroup = |subject, cgroups: &Cgroups, text| {
        let good = cgroups.folder().is_some();
        let as_root = || "run as root, or give this user a delegated cgroup v2 subtree".to_owned();
        MachineFinding { subject, good, text, remedy: (!good).then(as_root) }
    };
    vec![
        by_cgroup("freezing", &isolation.freezer, freezing),
        by_cgroup("CPU accounting", &isolation.accounting, cpu_time),
        MachineFinding { subject: "killing", good: true, text: killing, remedy: None },
        pinning(cpus),
        MachineFinding { subject: "bounds of CPUs", good: true, text: bounds, remedy: None },
        io_uring(),
        descriptors(),
        governor(),
    ]
}

fn pinning(cpus: &[usize]) -> MachineFinding {
    let allowed = sched_getaffinity(None).and_then(|set: CpuSet| sched_setaffinity(None, &set));
    let apart = cpus.len() > 1;
    let text = match (allowed, apart) {
        (Err(error), _) => format!("processes cannot be pinned: {error}"),
        (Ok(()), true) => format!("CPUs {cpus:?}: services and generator run on different ones"),
        (Ok(()), false) => "one CPU: services and generator share it".to_owned(),
    };
    let remedy = (!apart).then(|| "give this machine a second CPU".to_owned());
    MachineFinding { subject: "pinning", good: allowed.is_ok() && apart, text, remedy }
}

fn io_uring() -> MachineFinding {
    io_uring_allowed_by(&fs::read_to_string("/proc/sys/kernel/io_uring_disabled").unwrap_or_default())
}

fn io_uring_allowed_by(setting: &str) -> MachineFinding {
    let (good, text) = match setting.trim() {
        "0" => (true, "allowed by the kernel's setting".to_owned()),
        "1" => (false, "for members of one group only (kernel.io_uring_disabled = 1)".to_owned()),
        "2" => (false, "forbidden (kernel.io_uring_disabled = 2)".to_owned()),
        _ => (false, "this kernel has no such setting: older than 6.6, or without io_uring".to_owned()),
    };
    let remedy = matches!(setting.trim(), "1" | "2").then(|| "sysctl kernel.io_uring_disabled=0".to_owned());
    MachineFinding { subject: "io_uring", good, text: text + "; without it the generator uses epoll", remedy }
}

/// Makes a slow link and removes it again. Call it last: without root it moves this process into a user
/// namespace for good.
pub fn enter_and_try_slow_link() -> MachineFinding {
    let made = rights::obtain().map_err(|error| error.to_string()).and_then(|_| {
        let spec = "delay=1ms".parse().map_err(|error: LinkSpecError| error.to_string())?;
        Link::create(&spec, &[], 0).map_err(|error| error.to_string())
    });
    let (good, text) = match made {
        Ok(link) => (true, format!("can be made: {}", link.kind())),
        Err(error) => (false, format!("cannot be made, so experiments over a slow link cannot run: {error}")),
    };
    MachineFinding { subject: "slow link", good, text, remedy: None }
}

fn descriptors() -> MachineFinding {
    descriptors_within(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX))
}

fn descriptors_within(limit: u64) -> MachineFinding {
    let good = limit >= DESCRIPTORS;
    let remedy = (!good).then(|| format!("ulimit -n {DESCRIPTORS}"));
    MachineFinding { subject: "descriptors", good, text: format!("{limit} per process"), remedy }
}

fn governor() -> MachineFinding {
    let path = Path::new("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    governor_named(fs::read_to_string(path).ok().as_deref().map(str::trim))
}

fn governor_named(name: Option<&str>) -> MachineFinding {
    match name {
        Some(name) => {
            let good = name == "performance";
            let remedy = (!good).then(|| "cpupower frequency-set --governor performance".to_owned());
            MachineFinding { subject: "CPU frequency", good, text: format!("governor \"{name}\""), remedy }
        }
        None => {
            let text = "no frequency governor is visible; most likely this is a virtual machine".to_owned();
            MachineFinding { subject: "CPU frequency", good: true, text, remedy: None }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every bad finding has a remedy, and no good one has.
    fn assert_remedy(finding: &MachineFinding, is_good: bool) {
        assert_eq!((finding.good, finding.remedy.is_none()), (is_good, is_good), "{finding:?}");
    }

    #[test]
    fn each_value_of_a_setting_has_its_finding() {
        for (setting, is_good) in [("0\n", true), ("1\n", false), ("2\n", false)] {
            assert_remedy(&io_uring_allowed_by(setting), is_good);
        }
        let old = io_uring_allowed_by("");
        assert_eq!((old.good, old.remedy), (false, None), "no setting makes an old kernel newer");
        assert_remedy(&governor_named(Some("performance")), true);
        assert_remedy(&governor_named(Some("powersave")), false);
        assert_remedy(&governor_named(None), true);
        assert_remedy(&descriptors_within(DESCRIPTORS), true);
        let few = descriptors_within(DESCRIPTORS - 1);
        assert_remedy(&few, false);
        assert_eq!(few.remedy.as_deref(), Some("ulimit -n 4096"));
    }

    #[test]
    fn services_and_generator_need_a_cpu_each() {
        let pinned = |cpus: &[usize]| pinning(cpus);
        assert_remedy(&pinned(&[0]), false);
        assert!(pinned(&[0, 3]).text.contains("[0, 3]"));
    }

    #[test]
    fn each_subject_is_examined_once() {
        let subjects: Vec<&str> = examine(&[0, 1]).iter().map(|finding| finding.subject).collect();
        let expected = [
            "freezing",
            "CPU accounting",
            "killing",
            "pinning",
            "bounds of CPUs",
            "io_uring",
            "descriptors",
            "CPU frequency",
        ];
        assert_eq!(subjects, expected);
        assert!(examine(&[0, 1]).iter().all(|finding| !finding.text.is_empty()));
    }
}
