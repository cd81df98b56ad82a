//! Creates a ring as the driver needs it, or explains in plain words why it cannot.

use std::{fs, io};

use io_uring::{IoUring, Probe, opcode};

/// The most requests that are queued before they are submitted.
const SUBMISSIONS: u32 = 256;
/// Completions that the ring holds; the kernel keeps more in a list.
const COMPLETIONS: u32 = 1024;

const OPERATIONS: [(u8, &str); 5] = [
    (opcode::Connect::CODE, "connect"),
    (opcode::Send::CODE, "send"),
    (opcode::Recv::CODE, "recv"),
    (opcode::AsyncCancel::CODE, "cancel"),
    (opcode::Close::CODE, "close"),
];

pub(super) fn ring() -> io::Result<IoUring> {
    let mut builder = IoUring::builder();
    builder
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_submit_all()
        .setup_cqsize(COMPLETIONS)
        .dontfork();
    let ring = match builder.clone().setup_no_sqarray().build(SUBMISSIONS) {
        // The kernel is older than Linux 6.6.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => builder.build(SUBMISSIONS),
        result => result,
    };
    let ring = ring.map_err(|error| refused(&error))?;
    let parameters = ring.params();
    let features = [
        (parameters.is_feature_ext_arg(), "waiting with a time limit"),
        (parameters.is_feature_nodrop(), "keeping all completions"),
        (parameters.is_feature_fast_poll(), "waiting for sockets"),
        (parameters.is_feature_skip_cqe_on_success(), "skipping completions"),
    ];
    let mut probe = Probe::new();
    ring.submitter().register_probe(&mut probe)?;
    let operations = OPERATIONS.into_iter().map(|(code, name)| (probe.is_supported(code), name));
    match features.into_iter().chain(operations).find(|(supported, _)| !supported) {
        Some((_, name)) => Err(unsupported(&format!("it lacks \"{name}\""))),
        None => Ok(ring),
    }
}

/// The refusal of a ring, explained.
fn refused(error: &io::Error) -> io::Error {
    let switch = fs::read_to_string("/proc/sys/kernel/io_uring_disabled").unwrap_or_default();
    reason(error.raw_os_error(), switch.trim())
        .unwrap_or_else(|| io::Error::new(error.kind(), format!("no io_uring: {error}")))
}

fn reason(code: Option<i32>, switch: &str) -> Option<io::Error> {
    let denied = |text: String| Some(io::Error::new(io::ErrorKind::PermissionDenied, text));
    match (code?, switch) {
        (libc::EPERM, "1" | "2") => {
            denied(format!("io_uring is switched off (kernel.io_uring_disabled = {switch})"))
        }
        (libc::EPERM | libc::EACCES, _) => {
            denied("io_uring is forbidden to this process (a seccomp filter?)".to_owned())
        }
        (libc::ENOSYS, _) => Some(unsupported("it has none, or a seccomp filter hides it")),
        (libc::EINVAL, _) => Some(unsupported("it is older than Linux 6.1")),
        _ => None,
    }
}

fn unsupported(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, format!("no io_uring in this kernel: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_named_plainly() {
        let text = |code, switch| reason(Some(code), switch).map(|error| error.to_string());
        let off = "io_uring is switched off (kernel.io_uring_disabled = 2)";
        assert_eq!(text(libc::EPERM, "2").as_deref(), Some(off));
        assert!(text(libc::EPERM, "0").is_some_and(|text| text.contains("seccomp")));
        assert!(text(libc::ENOSYS, "").is_some_and(|text| text.contains("has none")));
        assert!(text(libc::EINVAL, "0").is_some_and(|text| text.contains("6.1")));
        assert_eq!(text(libc::ENOMEM, "0"), None);
    }
}
