//! The machine on which a run was made: everything known to influence the figures, read once before the first
//! block.

use std::{collections::BTreeMap, fs, io::Read, path::Path};

use serde::{Deserialize, Serialize};

use crate::process::Isolation;

/// Kernel settings that are known to influence a benchmark over loopback.
const SYSCTLS: &[&str] = &[
    "kernel/randomize_va_space",
    "kernel/io_uring_disabled",
    "net/core/somaxconn",
    "net/ipv4/ip_local_port_range",
    "net/ipv4/tcp_congestion_control",
    "net/ipv4/tcp_tw_reuse",
    "net/ipv4/tcp_max_syn_backlog",
];

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    pub kernel: String,
    pub cpu: String,
    /// Number of CPUs that this process may use.
    pub cpus: usize,
    pub memory_bytes: u64,
    pub system: String,
    /// Frequency governor of the first CPU, if it has one.
    pub governor: Option<String>,
    /// Load average over one minute before the run.
    pub load_average: String,
    /// Values of these settings.
    pub sysctls: BTreeMap<String, String>,
    /// Whether the kernel accounts interrupts and softirqs separately, instead of charging the process that
    /// they interrupted. Absent if the kernel's configuration cannot be read.
    pub irq_time_apart: Option<bool>,
    /// How services are isolated from each other: one sentence for each means.
    pub isolation: Vec<String>,
    /// Source of the CPU time of services, without the path of the cgroup, which differs between machines.
    /// Absent from older runs.
    pub cpu_time: Option<String>,
    /// The kernel's name of the instruction set, such as `x86_64`. Absent from older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// Hash of `/etc/machine-id`, which it does not disclose: the same for all runs of one machine. Absent if
    /// there is no machine id, and from older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
}

impl Environment {
    /// Reads /proc and /sys. What cannot be read stays empty.
    pub fn read(isolation: Option<&Isolation>) -> Environment {
        let uname = rustix::system::uname();
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
        let sysctl = |name: &&str| {
            let value = text(&format!("/proc/sys/{name}"));
            (!value.is_empty()).then(|| (name.replace('/', "."), value.replace('\t', " ")))
        };
        let governor = Path::new("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
        Environment {
            kernel: format!("{} {}", uname.sysname().to_string_lossy(), uname.release().to_string_lossy()),
            cpu: field(&text("/proc/cpuinfo"), "model name", ':'),
            cpus: super::cpus::available().len(),
            memory_bytes: memory_bytes(&text("/proc/meminfo")),
            system: field(&text("/etc/os-release"), "PRETTY_NAME", '=').trim_matches('"').to_owned(),
            governor: fs::read_to_string(governor).ok().map(|name| name.trim().to_owned()),
            load_average: text("/proc/loadavg").split(' ').next().unwrap_or_default().to_owned(),
            sysctls: SYSCTLS.iter().filter_map(sysctl).collect(),
            irq_time_apart: kernel_config(&uname.release().to_string_lossy())
                .map(|config| config.lines().any(|line| line == "CONFIG_IRQ_TIME_ACCOUNTING=y")),
            isolation: isolation.map(Isolation::lines).unwrap_or_default(),
            cpu_time: isolation.map(|isolation| isolation.cpu_time().to_owned()),
            architecture: Some(uname.machine().to_string_lossy().into_owned()),
            machine: machine(&text("/etc/machine-id")),
        }
    }
}

/// machine-id(5) asks programs not to disclose the id itself, but a hash of it with a key of the program.
fn machine(id: &str) -> Option<String> {
    let is_id = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let key = || blake3::derive_key("tare 2026-11-26 the machine of a run", id.as_bytes());
    is_id.then(|| key()[..8].iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The configuration of the running kernel, from /proc/config.gz or from its package in /boot.
fn kernel_config(release: &str) -> Option<String> {
    let from_kernel = || {
        let mut text = String::new();
        let packed = fs::File::open("/proc/config.gz").ok()?;
        flate2::read::GzDecoder::new(packed).read_to_string(&mut text).ok()?;
        Some(text)
    };
    from_kernel().or_else(|| fs::read_to_string(format!("/boot/config-{release}")).ok())
}

fn field(text: &str, key: &str, separator: char) -> String {
    let line = text.lines().find(|line| line.starts_with(key));
    line.and_then(|line| line.split_once(separator))
        .map(|(_, value)| value.trim().to_owned())
        .unwrap_or_default()
}

fn memory_bytes(meminfo: &str) -> u64 {
    let kibibytes = field(meminfo, "MemTotal", ':');
    kibibytes.trim_end_matches(" kB").parse::<u64>().unwrap_or(0).saturating_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_the_kernels_files_are_read() {
        assert_eq!(memory_bytes("MemTotal:       24639332 kB\nMemFree: 1 kB"), 24639332 * 1024);
        assert_eq!(field("processor\t: 0\nmodel name\t: A B\n", "model name", ':'), "A B");
        let here = Environment::read(None);
        assert!(here.kernel.starts_with("Linux ") && here.cpus > 0 && here.memory_bytes > 0, "{here:?}");
    }

    #[test]
    fn a_machine_has_a_name_that_does_not_disclose_its_id() {
        let (one, other) = ("0123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcdee");
        let name = machine(one).unwrap();
        assert!(name.len() == 16 && !one.contains(&name), "{name}");
        assert_eq!(machine(one), Some(name.clone()));
        assert_ne!(machine(other), Some(name));
        assert_eq!([machine(""), machine("uninitialized")], [None, None]);
    }

    #[test]
    fn an_absent_field_is_empty() {
        assert_eq!(
            (field("", "model name", ':'), field("model name", "model name", ':')),
            Default::default()
        );
        assert_eq!((memory_bytes("MemFree: 1 kB"), memory_bytes("MemTotal: many kB")), (0, 0));
    }

    #[test]
    fn a_value_may_contain_the_separator() {
        let release = "NAME=x\nPRETTY_NAME=\"A = B 1.2\"\n";
        assert_eq!(field(release, "PRETTY_NAME", '='), "\"A = B 1.2\"");
    }

    #[test]
    fn a_setting_has_dots_in_its_name_and_blanks_in_its_value() {
        let here = Environment::read(Some(&Isolation::none("a test")));
        let ports = here.sysctls.get("net.ipv4.ip_local_port_range").expect("every Linux has it");
        assert!(ports.split(' ').all(|port| port.parse::<u16>().is_ok()), "{ports:?}");
        assert!(here.isolation[0].starts_with("freezing: SIGSTOP"), "{:?}", here.isolation);
        assert_eq!(here.cpu_time.as_deref(), Some("CPU clocks of the live processes"));
    }

    #[test]
    fn the_environment_of_an_older_run_is_read() {
        let here = Environment::read(None);
        let mut json = serde_json::to_value(&here).unwrap();
        assert_eq!(serde_json::from_value::<Environment>(json.clone()).unwrap(), here);
        json.as_object_mut().unwrap().remove("irq_time_apart");
        assert_eq!(serde_json::from_value::<Environment>(json).unwrap().irq_time_apart, None);
    }
}
