//! Helpers for the tests of all crates: a test that cannot run here is skipped with a message, or fails.

use std::io::{self, Write};

use crate::link::{Link, LinkError};

/// True with TARE_TEST_ALL=1, as in CI: a test that lacks its set-up then fails instead of being skipped.
pub fn nothing_may_be_skipped() -> bool {
    std::env::var_os("TARE_TEST_ALL").is_some_and(|value| value == "1")
}

/// Prints which test is skipped and why.
///
/// # Panics
/// If TARE_TEST_ALL=1 forbids skipping.
pub fn skip(what: &str, reason: &str) {
    match skipped(what, reason, nothing_may_be_skipped()) {
        Ok(message) => print(&message),
        Err(error) => panic!("{error}"),
    }
}

/// Prints which test is skipped, even with TARE_TEST_ALL=1: no set-up can provide what it needs here.
pub fn skip_always(what: &str, reason: &str) {
    print(&format!("skipped: {what}: {reason}\n"));
}

fn skipped(what: &str, reason: &str, is_error: bool) -> Result<String, String> {
    match is_error {
        true => Err(format!("{what}: {reason}, and with TARE_TEST_ALL=1 nothing may be skipped")),
        false => Ok(format!("skipped: {what}: {reason}\n")),
    }
}

/// Not `eprintln!`: the test harness hides its output unless a test fails.
fn print(text: &str) {
    let _ignored = io::stderr().write_all(text.as_bytes());
}

/// Whether a program is on `PATH`.
pub fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Whether a program that the set-up installs is on `PATH`. If it is not, prints that `what` is skipped.
pub fn has_program(what: &str, program: &str) -> bool {
    let is_here = is_on_path(program);
    if !is_here {
        skip(what, &format!("{program} is not on this machine: make setup installs it"));
    }
    is_here
}

/// The link. If this machine does not allow links, prints that `test` is skipped and returns nothing.
///
/// # Panics
/// The link could not be made for another reason.
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
    fn a_skip_is_a_message_or_an_error() {
        assert_eq!(skipped("a link", "no rights", false).unwrap(), "skipped: a link: no rights\n");
        let error = skipped("a link", "no rights", true).unwrap_err();
        assert_eq!(error, "a link: no rights, and with TARE_TEST_ALL=1 nothing may be skipped");
    }
}
