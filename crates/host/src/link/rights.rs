//! The right to make network namespaces: this process has it already, or gets it by entering a user namespace.

use std::{fs, io};

use rustix::{
    process::{getegid, geteuid},
    thread::{CapabilitySet, UnshareFlags, capabilities, unshare_unsafe},
};

use super::{error::LinkError, namespace::Namespace};

/// How this process got the right to make namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    /// It already had the capabilities.
    Had,
    /// It entered a user namespace of its own.
    UserNamespace,
}

/// Why this process may not make namespaces.
#[derive(Debug, thiserror::Error)]
pub enum RightsError {
    #[error(
        "only a process with one thread may enter a user namespace, and this one has {0}: run as root, or ask before \
         the first thread is started"
    )]
    Threads(usize),
    #[error("no user namespace can be made ({source}): {}", advice())]
    Refused { source: io::Error },
    #[error("a user namespace was made, but gives no capabilities ({source}): {}", advice())]
    Powerless { source: io::Error },
    #[error("{0}: allow unshare in the container's seccomp profile, or run outside of it")]
    Useless(LinkError),
}

/// Advice according to the settings of this kernel.
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
    let fixes: Vec<String> = shut.map(|(_, _, fix)| format!("`sysctl {fix}`")).collect();
    match fixes.is_empty() {
        true => "run as root".to_owned(),
        false => format!("{}, or run as root", fixes.join(" and ")),
    }
}

/// Whether this process may make and configure network namespaces.
pub(crate) fn has() -> bool {
    let needed = CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN;
    capabilities(None).is_ok_and(|sets| sets.effective.contains(needed))
}

/// Makes sure that this process may make network namespaces. Without the capabilities it enters a user
/// namespace, which must happen before the first thread starts. User, group and file access stay the same.
/// Programs that it starts gain no rights, and `sudo` does not work in them.
///
/// # Errors
/// There is more than one thread, or the kernel or a container refuses; the error names the fix.
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
    // Without capabilities in the outer namespace, a group may be mapped only after setgroups is denied.
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
    fn a_process_with_threads_has_the_rights_or_gets_an_error() {
        // The test harness runs several threads.
        match (has(), obtain()) {
            (true, Ok(Rights::Had) | Err(RightsError::Useless(_)))
            | (false, Err(RightsError::Threads(2..))) => {}
            (had, answer) => panic!("{had} {answer:?}"),
        }
    }
}
