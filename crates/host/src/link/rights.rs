//! The right to make network namespaces: had, or got by a user namespace in which this process is its own master.

use std::{fs, io};

use rustix::{
    process::{getegid, geteuid},
    thread::{CapabilitySet, UnshareFlags, capabilities, unshare_unsafe},
};

use super::{LinkError, Namespace};

/// How this process may make namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    /// It was allowed to before.
    Had,
    /// It has moved into a user namespace of its own.
    UserNamespace,
}

/// Why it may not.
#[derive(Debug, thiserror::Error)]
pub enum RightsError {
    /// Too late.
    #[error(
        "a user namespace takes a process with one thread, and this one has {0}: run as root, or ask before the first \
         thread"
    )]
    Threads(usize),
    /// The kernel refuses.
    #[error("no user namespace can be made ({source}): {}", advice())]
    Refused {
        /// What it said.
        source: io::Error,
    },
    /// A user namespace that gives no rights, as AppArmor makes them.
    #[error("a user namespace was made, but gives no rights ({source}): {}", advice())]
    Powerless {
        /// What the kernel said.
        source: io::Error,
    },
    /// Rights that are no use, as in a container with a filter of system calls.
    #[error("{0}: allow unshare in the container's seccomp profile, or run outside of it")]
    Useless(LinkError),
}

/// What to do, by the settings that this kernel has.
fn advice() -> String {
    let switches = [
        ("kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"),
        (
            "kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        ("user/max_user_namespaces", "0", "user.max_user_namespaces=10000"),
        ("user/max_net_namespaces", "0", "user.max_net_namespaces=10000"),
    ];
    let shut = switches.iter().filter(|(path, bad, _)| {
        fs::read_to_string(format!("/proc/sys/{path}")).is_ok_and(|value| value.trim() == *bad)
    });
    let mend: Vec<String> = shut.map(|(_, _, mend)| format!("`sysctl {mend}`")).collect();
    match mend.is_empty() {
        true => "run as root".to_owned(),
        false => format!("{}, or run as root", mend.join(" and ")),
    }
}

/// Whether this process may make network namespaces and fill them.
#[must_use]
pub fn has() -> bool {
    let needed = CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN;
    capabilities(None).is_ok_and(|sets| sets.effective.contains(needed))
}

/// Sees to it that this process may make network namespaces. Whoever is not allowed to moves into a user namespace, which
/// is why it has to be asked before the first thread is started. User and group stay what they are, so files do too; the
/// programs that it starts have no more rights than before, and `sudo` no longer works in them.
pub fn obtain() -> Result<Rights, RightsError> {
    let rights = if has() { Rights::Had } else { move_into_user_namespace()? };
    match (Namespace::new(), rights) {
        (Ok(_), _) => Ok(rights),
        (Err(LinkError::NewNamespace(source)), Rights::UserNamespace) => {
            Err(RightsError::Powerless { source })
        }
        (Err(error), _) => Err(RightsError::Useless(error)),
    }
}

fn move_into_user_namespace() -> Result<Rights, RightsError> {
    let threads = fs::read_dir("/proc/self/task").map_or(1, Iterator::count);
    if threads > 1 {
        return Err(RightsError::Threads(threads));
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    // SAFETY: there is one thread, and no descriptor is unshared.
    unsafe { unshare_unsafe(UnshareFlags::NEWUSER) }
        .map_err(|error| RightsError::Refused { source: error.into() })?;
    // Without rights outside, a group may be mapped only by who cannot drop groups.
    for (file, text) in [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("{user} {user} 1")),
        ("gid_map", format!("{group} {group} 1")),
    ] {
        fs::write(format!("/proc/self/{file}"), text).map_err(|source| RightsError::Powerless { source })?;
    }
    Ok(Rights::UserNamespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_threads_has_the_rights_or_is_told_that_it_is_too_late() {
        // The harness has threads of its own.
        match (has(), obtain()) {
            (true, Ok(Rights::Had) | Err(RightsError::Useless(_)))
            | (false, Err(RightsError::Threads(2..))) => {}
            (had, answer) => panic!("{had} {answer:?}"),
        }
    }
}
