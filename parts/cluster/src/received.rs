//! The CPUs that a job really received, and which of them it shares. A figure of shared CPUs is not wrong,
//! but a reader must know about it.

use std::{fs, path::Path};

use serde::{Deserialize, Serialize};
use tare_host::cpus;

/// The information of the kernel and the engine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Received {
    /// The CPUs that the job may run on.
    pub cpus: Vec<usize>,
    /// The number of online CPUs of the machine.
    pub online: usize,
    /// The tightest CPU quota of the job's cgroup and its parents, in CPUs.
    pub quota_cpus: Option<f64>,
    /// CPUs of others that share a core with one of the job's.
    pub siblings_of_others: Vec<usize>,
    /// Whether the engine gives them to no other job; `None` if it does not say.
    pub is_exclusive: Option<bool>,
}

/// Why CPUs are not exclusive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "code")]
pub enum SharedCpus {
    TooFew { wanted: usize, received: usize },
    Quota { quota_cpus: f64, received: usize },
    SharedCores { siblings: Vec<usize> },
    NotExclusive,
    PerhapsNotExclusive,
}

impl Received {
    /// Reads them for this process. Values that the kernel does not report count as unlimited.
    pub fn here(is_exclusive: Option<bool>) -> Received {
        let cpus = cpus::available();
        let topology = Path::new("/sys/devices/system/cpu");
        let siblings_of_others = siblings_of_others(topology, &cpus);
        let online = fs::read_to_string(topology.join("online")).ok().and_then(|text| parse_cpus(&text));
        Received {
            online: online.map_or(cpus.len(), |online| online.len()),
            quota_cpus: quota(
                Path::new("/sys/fs/cgroup"),
                &fs::read_to_string("/proc/self/cgroup").unwrap_or_default(),
            ),
            siblings_of_others,
            is_exclusive,
            cpus,
        }
    }

    /// The shared or missing CPUs: a job must have `wanted` whole CPUs.
    pub fn shared(&self, wanted: usize) -> Vec<SharedCpus> {
        let received = self.cpus.len();
        let too_few = (received < wanted).then_some(SharedCpus::TooFew { wanted, received });
        let quota = self.quota_cpus.filter(|quota| *quota < received as f64);
        let siblings = Some(self.siblings_of_others.clone()).filter(|siblings| !siblings.is_empty());
        let exclusive = match self.is_exclusive {
            Some(true) => None,
            Some(false) => Some(SharedCpus::NotExclusive),
            None => Some(SharedCpus::PerhapsNotExclusive),
        };
        let found = [
            too_few,
            quota.map(|quota_cpus| SharedCpus::Quota { quota_cpus, received }),
            siblings.map(|siblings| SharedCpus::SharedCores { siblings }),
            exclusive,
        ];
        found.into_iter().flatten().collect()
    }
}

impl SharedCpus {
    pub fn text(&self) -> String {
        match self {
            SharedCpus::TooFew { wanted, received } => {
                format!("the job received {received} of the {wanted} CPUs that its class asks for")
            }
            SharedCpus::Quota { quota_cpus, received } => {
                format!(
                    "the job received {received} CPUs with a quota of {quota_cpus:.2} CPUs: the kernel throttles it"
                )
            }
            SharedCpus::SharedCores { siblings } => {
                format!("CPUs {siblings:?} share cores with the job's, and may run other jobs")
            }
            SharedCpus::NotExclusive => "the engine may run other jobs on the same CPUs".to_owned(),
            SharedCpus::PerhapsNotExclusive => {
                "the engine does not say whether it runs other jobs on the same CPUs".to_owned()
            }
        }
    }
}

/// CPUs that share a core with one of `own`, without `own`.
fn siblings_of_others(topology: &Path, own: &[usize]) -> Vec<usize> {
    let siblings = |cpu: &usize| {
        let path = topology.join(format!("cpu{cpu}/topology/thread_siblings_list"));
        fs::read_to_string(path).ok().and_then(|text| parse_cpus(&text)).unwrap_or_default()
    };
    let mut others: Vec<usize> = own.iter().flat_map(siblings).filter(|cpu| !own.contains(cpu)).collect();
    others.sort_unstable();
    others.dedup();
    others
}

/// Parses a list in the kernel's form: `0-3,8`.
fn parse_cpus(text: &str) -> Option<Vec<usize>> {
    /// More CPUs than any kernel supports.
    const CPUS_MAX: usize = 1 << 16;
    let mut cpus = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if last >= CPUS_MAX {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

/// The tightest quota of a process's cgroups, in CPUs. `membership` is its `/proc/PID/cgroup`.
fn quota(root: &Path, membership: &str) -> Option<f64> {
    let limits = membership.lines().flat_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        let path = path.trim_start_matches('/').to_owned();
        let is_v1 = controllers.split(',').any(|name| name == "cpu");
        let mounts: Vec<&str> = match (controllers.is_empty(), is_v1) {
            (true, _) => vec!["", "unified"],
            (false, true) => vec!["cpu,cpuacct", "cpu"],
            (false, false) => Vec::new(),
        };
        let folders = mounts.into_iter().map(|mount| root.join(mount)).collect::<Vec<_>>();
        folders.into_iter().flat_map(move |mount| {
            let own = mount.join(&path);
            let up = own.ancestors().take_while(|folder| folder.starts_with(&mount)).map(Path::to_owned);
            up.collect::<Vec<_>>()
        })
    });
    limits.filter_map(|folder| limit_of(&folder)).min_by(f64::total_cmp)
}

fn limit_of(folder: &Path) -> Option<f64> {
    let text = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| *number > 0.0);
    if let Some(both) = text("cpu.max") {
        let (quota, period) = both.trim().split_once(' ')?;
        return Some(number(quota)? / number(period)?);
    }
    Some(number(&text("cpu.cfs_quota_us")?)? / number(&text("cpu.cfs_period_us")?)?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn what_is_shared_is_a_finding_and_what_is_not_is_none() {
        let own = Received { cpus: vec![0, 1], online: 4, is_exclusive: Some(true), ..Received::default() };
        assert_eq!(own.shared(2), []);
        assert_eq!(own.shared(4), [SharedCpus::TooFew { wanted: 4, received: 2 }]);
        let shared = Received {
            quota_cpus: Some(1.5),
            siblings_of_others: vec![2, 3],
            is_exclusive: Some(false),
            ..own.clone()
        };
        let texts: Vec<String> = shared.shared(2).iter().map(SharedCpus::text).collect();
        insta::assert_snapshot!(texts.join("\n"), @r"
        the job received 2 CPUs with a quota of 1.50 CPUs: the kernel throttles it
        CPUs [2, 3] share cores with the job's, and may run other jobs
        the engine may run other jobs on the same CPUs
        ");
        assert_eq!(
            Received { is_exclusive: None, ..own.clone() }.shared(2),
            [SharedCpus::PerhapsNotExclusive]
        );
        assert_eq!(
            Received { quota_cpus: Some(2.0), ..own }.shared(2),
            [],
            "a quota of all of them bounds nothing"
        );
    }

    #[test]
    fn the_narrowest_quota_of_all_groups_above_counts() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        write(root, "a/b/cpu.max", "max 100000\n");
        write(root, "a/cpu.max", "150000 100000\n");
        assert_eq!(quota(root, "0::/a/b\n"), Some(1.5));
        assert_eq!(quota(root, "0::/\n"), None);
        write(root, "cpu/j/cpu.cfs_quota_us", "50000\n");
        write(root, "cpu/j/cpu.cfs_period_us", "100000\n");
        write(root, "cpu/cpu.cfs_quota_us", "-1\n");
        write(root, "cpu/cpu.cfs_period_us", "100000\n");
        assert_eq!(quota(root, "5:memory:/\n4:cpu,cpuacct:/j\n0::/a\n"), Some(0.5));
        assert_eq!(quota(root, "1:cpu:/\n"), None);
    }

    #[test]
    fn a_core_is_shared_with_the_sibling_that_others_have() {
        let root = tempfile::tempdir().unwrap();
        for (cpu, siblings) in [(0, "0,2"), (1, "1,3"), (2, "0,2"), (3, "1,3")] {
            write(root.path(), &format!("cpu{cpu}/topology/thread_siblings_list"), siblings);
        }
        assert_eq!(siblings_of_others(root.path(), &[0, 1]), [2, 3]);
        assert_eq!(siblings_of_others(root.path(), &[0, 2]), [] as [usize; 0]);
        assert_eq!(parse_cpus("0-3,8\n"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!((parse_cpus("0-99999999"), parse_cpus("x")), (None, None));
        let here = Received::here(Some(true));
        assert!(!here.cpus.is_empty() && here.online >= here.cpus.len(), "{here:?}");
    }

    proptest! {
        #[test]
        fn any_list_is_read_or_refused(text in "[0-9,x -]{0,20}") {
            let _ = parse_cpus(&text);
        }
    }
}
