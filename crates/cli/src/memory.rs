//! Checks that there is enough memory for the program. An allocation that fails later ends it without a
//! message. An allocator with a better message would need unsafe code.

use anyhow::bail;
use rustix::process::{Resource, getrlimit};

/// With less, the program and its threads end at any point: 60 MiB were too little for every command, 180 MiB
/// for a site; 215 MiB were enough for all tested commands.
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

/// Why a limit is refused; `option` is the option of the shell's `ulimit` that sets it.
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
