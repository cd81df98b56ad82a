//! `tare --version --verbose`: how this program was built, and what the kernel gives it.

use tare_host::{cpus, environment::Environment, machine};
use tare_load::ChosenDriver;

use crate::{exit::Outcome, output::print};

/// Whether only the version and its details are asked for.
pub(crate) fn is_verbose<S: AsRef<str>>(arguments: &[S]) -> bool {
    let is = |argument: &S, long: &str, short: char| match argument.as_ref().strip_prefix("--") {
        Some(name) => name == long,
        None => argument.as_ref().strip_prefix('-').is_some_and(|letters| letters.contains(short)),
    };
    let is_known = |argument: &S| {
        let letters = argument.as_ref().strip_prefix('-').unwrap_or_default();
        matches!(letters, "-version" | "-verbose")
            || (!letters.is_empty() && letters.bytes().all(|letter| b"vV".contains(&letter)))
    };
    let has = |long, short| arguments.iter().any(|argument| is(argument, long, short));
    arguments.iter().all(is_known) && has("version", 'V') && has("verbose", 'v')
}

/// Prints all that is known; `parts` are those of this build.
pub(crate) fn run(parts: &str) -> anyhow::Result<Outcome> {
    let environment = Environment::read(None);
    let mut text = format!("tare {}\n", env!("CARGO_PKG_VERSION"));
    let mut line = |name: &str, value: &str| text += &format!("{:<16} {value}\n", format!("{name}:"));
    line("build", &build());
    line("parts", parts);
    line("allocator", ALLOCATOR);
    line("kernel", &environment.kernel);
    line("driver", &ChosenDriver::probe().to_string());
    for finding in machine::examine(&cpus::available()) {
        line(finding.subject, &finding.text);
    }
    print(&text)?;
    Ok(Outcome::Fine)
}

/// `main` gives a static program its own, and leaves that of the C library to others.
const ALLOCATOR: &str = if cfg!(target_env = "musl") { "mimalloc" } else { "malloc of glibc" };

fn build() -> String {
    let profile =
        if cfg!(debug_assertions) { "debug, with assertions" } else { "release, without assertions" };
    let library = if cfg!(target_env = "musl") { "musl, static" } else { "glibc" };
    format!("{profile}; {}, {library}", std::env::consts::ARCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_options_in_any_form_ask_for_the_details() {
        for arguments in [&["--version", "--verbose"][..], &["--verbose", "-V"], &["-vV"], &["-V", "-v"]] {
            assert!(is_verbose(arguments), "{arguments:?}");
        }
        for arguments in
            [&["--version"][..], &[], &["-V"], &["--verbose"], &["load", "-V", "-v"], &["-vVx"], &["-"]]
        {
            assert!(!is_verbose(arguments), "{arguments:?}");
        }
    }
}
