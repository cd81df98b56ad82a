//! File descriptors: each connection takes one, and the usual limit of 1024 is low.

use anyhow::bail;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors for standard streams, drivers, files and the probe.
const BESIDE: u64 = 64;

/// Raises the limit of this process if the connections need it: up to the hard limit, and beyond it if the
/// system allows that.
pub(crate) fn ensure_for(connections: usize) -> anyhow::Result<()> {
    let needed = connections as u64 + BESIDE;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    let wanted = match maximum {
        Some(maximum) if maximum < needed => Rlimit { current: Some(needed), maximum: Some(needed) },
        maximum => Rlimit { current: maximum.or(Some(needed)), maximum },
    };
    if setrlimit(Resource::Nofile, wanted).is_err() {
        let allowed = maximum.unwrap_or_default();
        bail!(
            "{connections} connections need {needed} file descriptors and {allowed} are allowed: \
             raise the limit by `ulimit -n {needed}` as root, or use fewer connections"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_need_nothing_and_too_many_are_told() {
        let before = getrlimit(Resource::Nofile);
        ensure_for(1).unwrap();
        assert_eq!(getrlimit(Resource::Nofile), before);
        // More than any kernel allows (fs.nr_open), even for root.
        let refused = ensure_for(1 << 40).unwrap_err().to_string();
        assert!(refused.contains("`ulimit -n 1099511627840`"), "{refused}");
    }
}
