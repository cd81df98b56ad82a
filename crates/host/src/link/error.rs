//! Why there is no link.

use std::io;

/// The device whose open files become interfaces.
pub(super) const TUN_DEVICE: &str = "/dev/net/tun";

#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    #[error("no network namespace can be made: {0}")]
    NewNamespace(#[source] io::Error),
    #[error("a network namespace cannot be entered: {0}")]
    Enter(#[source] io::Error),
    #[error("a thread of the link cannot be started: {0}")]
    Thread(#[source] io::Error),
    #[error("the link cannot be pinned to the cpus {cpus:?}: {source}")]
    Pin { cpus: Vec<usize>, source: io::Error },
    #[error("no interface can be made of {} ({_0}): {}", TUN_DEVICE, tun_advice(_0))]
    Tun(#[source] io::Error),
    #[error("the interface \"{name}\" cannot be {step}: {source}")]
    Interface { name: &'static str, step: &'static str, source: io::Error },
    #[error("\"{path}\" cannot be set ({source}): /proc/sys must be writable")]
    Setting { path: String, source: io::Error },
    #[error("netem is not available: {0}")]
    NoNetem(String),
}

fn tun_advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "load the module, `modprobe tun`, or give the container the device",
        io::ErrorKind::PermissionDenied => {
            "let every user open it, `chmod 0666 /dev/net/tun`, or run as root"
        }
        _ => "check that the kernel has CONFIG_TUN",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_for_no_tun_device_has_its_remedy() {
        for (kind, remedy) in [
            (io::ErrorKind::NotFound, "modprobe tun"),
            (io::ErrorKind::PermissionDenied, "chmod 0666 /dev/net/tun"),
            (io::ErrorKind::Unsupported, "CONFIG_TUN"),
        ] {
            let error = LinkError::Tun(kind.into()).to_string();
            assert!(
                error.starts_with("no interface can be made of /dev/net/tun (") && error.contains(remedy),
                "{error}"
            );
        }
    }
}
