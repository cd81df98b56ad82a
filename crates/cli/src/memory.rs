//! Whether there is room for the program at all. Memory that is refused later ends it without a word of ours: what it allocates it
//! cannot do without, and an allocator that explains itself would need unsafe code for a message that this one gives in time.

use anyhow::bail;
use rustix::process::{Resource, getrlimit};

/// With less the program and its threads end in the middle of anything: 60 MiB were too little for every command, 180 MiB for a
/// site; 215 MiB were enough for all that were tried.
const BYTES_MIN: u64 = 256 << 20;

/// # Errors
/// A limit on memory leaves too little.
pub(crate) fn check() -> anyhow::Result<()> {
    for (resource, option) in [(Resource::As, "-v"), (Resource::Data, "-d")] {
        if let Some(reason) = refusal(getrlimit(resource).current, option) {
            bail!(reason);
        }
    }
    Ok(())
}

/// Why a limit is refused; `option` is that of the shell's `ulimit` which sets it.
fn refusal(limit: Option<u64>, option: &str) -> Option<String> {
    let limit = limit.filter(|limit| *limit < BYTES_MIN)?;
    Some(format!(
        "this process may have {} MiB of memory (`ulimit {option}`), and tare needs {} MiB: raise the limit, such as by `ulimit {option} \
         unlimited`",
        limit >> 20,
        BYTES_MIN >> 20,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_leaves_too_little_is_refused_with_the_fix() {
        assert_eq!(refusal(None, "-v"), None);
        assert_eq!(refusal(Some(BYTES_MIN), "-v"), None);
        assert_eq!(
            refusal(Some(60 << 20), "-v").as_deref(),
            Some(
                "this process may have 60 MiB of memory (`ulimit -v`), and tare needs 256 MiB: raise the limit, such as by `ulimit -v \
                 unlimited`"
            )
        );
    }
}
