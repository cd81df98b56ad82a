//! npm: `npm install PACKAGE@VERSION`; only in the lock file if later steps install what is locked.

use super::{ReleaseError, Service, Step, from_registry, needs};

pub(super) const FILE: &str = "package.json";
/// Lock files of other tools, which ignore npm's changes.
const OTHER_LOCKS: [&str; 4] = ["yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb"];

pub(super) fn build(service: &Service, name: &str, version: &str) -> Result<Vec<Step>, ReleaseError> {
    needs(service, FILE, "npm")?;
    let other = OTHER_LOCKS.map(|lock| service.folder.join(lock)).into_iter().find(|lock| lock.is_file());
    if let Some(lock) = other {
        return Err(ReleaseError::OtherLock(lock));
    }
    let release = format!("{name}@{version}");
    let mut words = vec!["npm", "install", "--save-exact", "--no-audit", "--no-fund", &release];
    if !service.build.is_empty() {
        words.insert(2, "--package-lock-only");
    }
    Ok([vec![from_registry(&words)], service.build.clone()].concat())
}
