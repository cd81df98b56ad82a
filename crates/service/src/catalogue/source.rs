//! Validates the `[[source]]` entries of a manifest.

use std::path::{Component, Path};

use super::{GitSource, Service};
use crate::git;
use tare_base::document::DocumentError;

/// URL schemes with which git runs no command from the URL.
const SCHEMES: [&str; 5] = ["https://", "http://", "ssh://", "git://", "file://"];
/// Hexadecimal digits of a SHA-1, which names commits and trees.
const DIGITS: usize = 40;

impl GitSource {
    /// An equivalent fetch command, for messages.
    pub fn command(&self) -> Vec<String> {
        [git::PROGRAM, "fetch", &self.git, &self.commit].map(str::to_owned).to_vec()
    }
}

/// `wrong` makes an error at the first line that contains its first argument.
pub(super) fn check(
    manifest: &Service,
    wrong: impl Fn(&str, String) -> DocumentError,
) -> Result<(), DocumentError> {
    for (index, source) in manifest.sources.iter().enumerate() {
        let GitSource { git, commit, tree, into, patch } = source;
        if !SCHEMES.iter().any(|scheme| git.len() > scheme.len() && git.starts_with(scheme)) {
            let message = format!("\"{git}\" is no URL of a git repository, such as \"https://HOST/PATH\"");
            return Err(wrong(&format!("\"{git}\""), message));
        }
        for (key, name) in [("commit", commit), ("tree", tree)] {
            if name.len() != DIGITS || !name.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
            {
                let message =
                    format!("{key} \"{name}\" is no full name: it has {DIGITS} digits of 0 to 9 and a to f");
                return Err(wrong(&format!("\"{name}\""), message));
            }
        }
        if let Some(path) = std::iter::once(into).chain(patch).find(|path| !is_within(path)) {
            let path = path.display();
            let message = format!("\"{path}\" is no path within the service's folder");
            return Err(wrong(&format!("\"{path}\""), message));
        }
        // An outer folder must come before the inner one, or it would find its place taken.
        let earlier = &manifest.sources[..index];
        if let Some(other) = earlier.iter().find(|other| other.into.starts_with(into)) {
            let message = match &other.into == into {
                true => format!("two sources go into \"{}\"", into.display()),
                false => format!(
                    "the source into \"{}\" must stand before that into \"{}\"",
                    into.display(),
                    other.into.display()
                ),
            };
            return Err(wrong(&format!("\"{}\"", into.display()), message));
        }
    }
    if !manifest.sources.is_empty() && manifest.build.is_empty() {
        let message = "a [[source]] is for a build, and there is no [[build]]".to_owned();
        return Err(wrong("[[source]]", message));
    }
    Ok(())
}

/// Whether a path is relative and has only normal components.
fn is_within(path: &Path) -> bool {
    path.components().next().is_some() && path.components().all(|part| matches!(part, Component::Normal(_)))
}
