//! Properties that every reader of foreign bytes must have for any input: one function each, which panics on
//! a violation. libFuzzer calls them through `fuzz/` (`make fuzz`). The test `corpus` calls them with every
//! stored input, so that regressions are found without a fuzzer. Inputs are in `corpus/`, and wherever the
//! repository has files of the kind.
//!
//! Parts of an input are separated by a zero byte, so that a corpus can be read and edited.

mod adopted;
mod agents;
mod audits;
mod clusters;
mod documents;
mod folders;
mod http2;
mod pushed;
mod recordings;
mod repositories;
mod sampled;
mod scratch;
mod sockets;
mod tls;
mod tools;
mod wire;
mod words;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// A reader with its property.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name as a fuzz target, and that of its folder in `corpus/`, if it has one.
    pub name: &'static str,
    pub check: fn(&[u8]),
    /// Files of the repository that it normally reads, and folders of them.
    pub seeds: &'static [&'static str],
}

impl Target {
    const fn new(name: &'static str, check: fn(&[u8])) -> Target {
        Target { name, check, seeds: &[] }
    }

    const fn with(self, seeds: &'static [&'static str]) -> Target {
        Target { seeds, ..self }
    }

    /// The files of all stored inputs.
    ///
    /// # Errors
    /// A folder cannot be listed.
    pub fn inputs(&self) -> io::Result<Vec<PathBuf>> {
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        let seeds = self.seeds.iter().map(|seed| own.join("../..").join(seed));
        let mut files = Vec::new();
        seeds.chain([own.join("corpus").join(self.name)]).try_for_each(|path| files_of(&path, &mut files))?;
        files.sort();
        Ok(files)
    }
}

/// Whether a file is an input, and no description of the folder.
fn is_input(path: &Path) -> bool {
    path.extension().is_none_or(|extension| extension != "md")
}

/// All files below `path`, which may be a file, or not exist.
fn files_of(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_file() {
        files.push(path.to_owned());
    }
    if !path.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let path = entry?.path();
        if is_input(&path) {
            files_of(&path, files)?;
        }
    }
    Ok(())
}

pub const TARGETS: &[Target] = &[
    Target::new("answer", wire::answer),
    Target::new("events", wire::events),
    Target::new("http2", http2::http2),
    Target::new("hpack", http2::hpack),
    Target::new("tls_record", tls::record),
    Target::new("pattern", wire::pattern),
    Target::new("words", words::words),
    Target::new("placeholders", words::placeholders),
    Target::new("contract", documents::contract).with(&["contracts"]),
    Target::new("manifest", documents::manifest).with(&[
        "services/java/spring-boot/service.toml",
        "services/node/express/service.toml",
        "services/rust/axum/service.toml",
    ]),
    Target::new("experiment", documents::experiment).with(&["experiments", "figures"]),
    Target::new("project", documents::project),
    Target::new("openapi", recordings::openapi)
        .with(&["parts/import/src/record/corpus/openapi", "parts/import/src/record/shop.yaml"]),
    Target::new("har", recordings::har).with(&["parts/import/src/record/corpus/har"]),
    Target::new("repository", repositories::repository),
    Target::new("dockerfile", adopted::dockerfile).with(&["parts/import/src/adopt/fixtures"]),
    Target::new("run", folders::run),
    Target::new("histogram", folders::histogram),
    Target::new("agent", agents::agent),
    Target::new("audit", audits::audit).with(&["parts/audit/data", "dev/crosscheck/src/reading/recorded"]),
    Target::new("machines", clusters::machines),
    Target::new("job_list", clusters::job_list),
    Target::new("queue", clusters::queue),
    Target::new("push", pushed::push),
    Target::new("bundle", pushed::bundle),
    Target::new("sockets", sockets::table),
    Target::new("perf_map", sampled::perf_map),
    Target::new("go_table", sampled::go_table),
    Target::new("samples", sampled::records),
    Target::new("tool", tools::tool).with(&["dev/crosscheck/src/reading/recorded"]),
];

/// Checks one input of the target with this name.
///
/// # Panics
/// If the property is violated, or there is no such target.
pub fn check(name: &str, input: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.unwrap_or_else(|| panic!("no target \"{name}\"")).check)(input);
}

/// The parts of an input; the last has all remaining bytes, and missing parts are empty.
fn parts<const N: usize>(input: &[u8]) -> [&[u8]; N] {
    let mut parts = input.splitn(N, |byte| *byte == 0);
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

/// The same for a text input; `None` if it is no text.
fn text_parts<const N: usize>(input: &[u8]) -> Option<[&str; N]> {
    let parts = parts::<N>(input).map(std::str::from_utf8);
    parts.iter().all(Result::is_ok).then(|| parts.map(Result::unwrap_or_default))
}
