//! What must hold of every reader of foreign bytes, whatever it is given: one function for each, which panics where it does not
//! hold. libFuzzer calls them by way of `fuzz/` (`make fuzz`); the test `corpus` calls them with every input that is kept in
//! `corpus/`, so that what was found once is found again without a fuzzer.
//!
//! An input of several parts has a zero byte between them, so that a corpus can be read and edited.

mod documents;
mod folders;
mod recordings;
mod repositories;
mod scratch;
mod tools;
mod wire;
mod words;

/// A reader, and what must hold of it.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name as a fuzz target, and that of its folder in `corpus/`.
    pub name: &'static str,
    pub check: fn(&[u8]),
}

/// All of them.
pub const TARGETS: &[Target] = &[
    Target { name: "answer", check: wire::answer },
    Target { name: "pattern", check: wire::pattern },
    Target { name: "words", check: words::words },
    Target { name: "placeholders", check: words::placeholders },
    Target { name: "contract", check: documents::contract },
    Target { name: "manifest", check: documents::manifest },
    Target { name: "experiment", check: documents::experiment },
    Target { name: "project", check: documents::project },
    Target { name: "openapi", check: recordings::openapi },
    Target { name: "har", check: recordings::har },
    Target { name: "repository", check: repositories::repository },
    Target { name: "run", check: folders::run },
    Target { name: "histogram", check: folders::histogram },
    Target { name: "tool", check: tools::tool },
];

/// Checks one input of the target with this name.
///
/// # Panics
/// If what must hold does not, or there is no such target.
pub fn check(name: &str, input: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.unwrap_or_else(|| panic!("no target \"{name}\"")).check)(input);
}

/// The parts of an input; the last has all that is left, and those that are missing are empty.
fn parts<const N: usize>(input: &[u8]) -> [&[u8]; N] {
    let mut parts = input.splitn(N, |byte| *byte == 0);
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

/// The same of an input that is text; absent if it is not.
fn text_parts<const N: usize>(input: &[u8]) -> Option<[&str; N]> {
    let parts = parts::<N>(input).map(std::str::from_utf8);
    parts.iter().all(Result::is_ok).then(|| parts.map(Result::unwrap_or_default))
}
