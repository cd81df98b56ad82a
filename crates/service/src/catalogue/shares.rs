//! Validates `shares` of the build steps of a manifest.

use super::{Service, StepShares};
use tare_base::document::DocumentError;

/// Cargo's option that would lead past the folder that Tare names.
const OPTION: &str = "--target-dir";

/// `wrong` makes an error at the first line that contains its first argument.
pub(super) fn check(
    manifest: &Service,
    wrong: impl Fn(&str, String) -> DocumentError,
) -> Result<(), DocumentError> {
    for step in &manifest.build {
        let Some(StepShares::Cargo) = step.shares else { continue };
        if step.command.first().is_none_or(|program| program != "cargo") {
            let message = "shares = \"cargo\" is for a step whose program is cargo".to_owned();
            return Err(wrong("shares", message));
        }
        if step.command.iter().any(|word| word.starts_with(OPTION)) {
            let message =
                format!("a step with shares = \"cargo\" has no {OPTION}: its products come to \"target\"");
            return Err(wrong(OPTION, message));
        }
    }
    Ok(())
}
