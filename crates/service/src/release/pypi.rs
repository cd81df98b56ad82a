//! Python: pip has no file in which it sets a release. So the same pip installs the release over the locked
//! one, and `pip check` rejects conflicts.

use std::path::Path;

use super::{ReleaseError, Service, Step, from_registry, no_build};

/// The usual file of package names; no tool needs it here.
pub(super) const FILE: &str = "requirements.txt";

pub(super) fn build(service: &Service, name: &str, version: &str) -> Result<Vec<Step>, ReleaseError> {
    let (place, pip) = pip_of(service).ok_or_else(|| no_build(service, " that is a `pip install`"))?;
    let pip: Vec<&str> = pip.iter().map(String::as_str).collect();
    let release = format!("{name}=={version}");
    let set = [from_registry(&[&pip[..], &["install", &release]].concat())];
    let check = [Step { network: false, ..from_registry(&[&pip[..], &["check"]].concat()) }];
    let (before, after) = service.build.split_at(place + 1);
    Ok([before, &set, &check, after].concat())
}

pub(super) fn is_of(service: &Service) -> bool {
    pip_of(service).is_some()
}

/// The last step that installs with pip, and its words for pip: `.venv/bin/pip`, `python -m pip`, `uv pip`.
fn pip_of(service: &Service) -> Option<(usize, &[String])> {
    let is_pip = |word: &String| {
        let name = Path::new(word).file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.strip_prefix("pip").is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
    };
    let of_step =
        |step: &'_ Step| step.command.windows(2).position(|pair| is_pip(&pair[0]) && pair[1] == "install");
    let steps = service.build.iter().enumerate().rev();
    steps.filter_map(|(place, step)| Some((place, &step.command[..=of_step(step)?]))).next()
}
