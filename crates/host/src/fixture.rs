//! What tests of all crates share: a test that cannot be made on this machine is skipped by its name, or an error.

use std::io::{self, Write};

use crate::link::{Link, LinkError};

/// With TARE_TEST_ALL=1, as in CI, nothing may be skipped for want of set-up.
pub fn nothing_may_be_skipped() -> bool {
    std::env::var_os("TARE_TEST_ALL").is_some_and(|value| value == "1")
}

/// Tells what is skipped, and why.
///
/// # Panics
/// Where nothing may be skipped.
pub fn skip(what: &str, reason: &str) {
    match skipped(what, reason, nothing_may_be_skipped()) {
        Ok(told) => tell(&told),
        Err(error) => panic!("{error}"),
    }
}

/// Tells what no set-up brings to this machine, and so may be skipped everywhere.
pub fn excuse(what: &str, reason: &str) {
    tell(&format!("skipped: {what}: {reason}\n"));
}

fn skipped(what: &str, reason: &str, is_error: bool) -> Result<String, String> {
    match is_error {
        true => Err(format!("{what}: {reason}, and with TARE_TEST_ALL=1 nothing may be skipped")),
        false => Ok(format!("skipped: {what}: {reason}\n")),
    }
}

/// Not by `eprintln!`, which the test harness keeps to itself where nothing fails.
fn tell(text: &str) {
    let _told = io::stderr().write_all(text.as_bytes());
}

/// Whether a program is on this machine; `what` is skipped where it is not.
pub fn has_program(what: &str, program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_here = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    if !is_here {
        skip(what, &format!("{program} is not on this machine: make setup installs it"));
    }
    is_here
}

/// A slow link that was asked for; none where this machine allows none, and `test` is skipped then.
///
/// # Panics
/// Where it could not be made for another reason.
pub fn link(test: &str, made: Result<Link, LinkError>) -> Option<Link> {
    match made {
        Ok(link) => Some(link),
        Err(error @ (LinkError::NewNamespace(_) | LinkError::Tun(_))) => {
            skip(test, &error.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_skipped_is_told_or_an_error() {
        assert_eq!(skipped("a link", "no rights", false).unwrap(), "skipped: a link: no rights\n");
        let error = skipped("a link", "no rights", true).unwrap_err();
        assert_eq!(error, "a link: no rights, and with TARE_TEST_ALL=1 nothing may be skipped");
    }
}
