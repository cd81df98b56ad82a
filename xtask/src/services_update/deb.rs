//! Debian: `apt-cache policy`, as of the last `apt-get update`. The newest version is that of this machine's
//! Debian release, which the service builds against; later upstream releases do not matter.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use jiff::civil::Date;
use jiff::fmt::rfc2822;

use super::{Answer, client};

pub(super) fn ask(folder: &Path, name: &str) -> Result<Answer> {
    let policy = client::run(folder, &["apt-cache", "policy", name])?.stdout;
    let used = line(&policy, "Installed:").with_context(|| format!("apt knows no {name}"))?;
    let newest = line(&policy, "Candidate:").with_context(|| format!("apt knows no {name}"))?;
    ensure!(used != "(none)", "{name} is not installed");
    // The machine has the changelog of the installed version only.
    let date = if used == newest { changelog_date(folder, name) } else { None };
    Ok(Answer { used: used.to_owned(), newest: newest.to_owned(), date, lock: None })
}

fn line<'a>(policy: &'a str, head: &str) -> Option<&'a str> {
    policy.lines().find_map(|line| line.trim().strip_prefix(head)).map(str::trim)
}

fn changelog_date(folder: &Path, name: &str) -> Option<Date> {
    let path = format!("/usr/share/doc/{name}/changelog.Debian.gz");
    signed(&client::run(folder, &["gzip", "-dc", &path]).ok()?.stdout)
}

/// The newest entry is the first, and ends in ` -- NAME <ADDRESS>  DATE`.
fn signed(changelog: &str) -> Option<Date> {
    let signature = changelog.lines().find(|line| line.starts_with(" -- "))?;
    let (_, date) = signature.split_once(">  ")?;
    Some(rfc2822::parse(date.trim()).ok()?.date())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy_names_what_is_installed_and_what_could_be() {
        let policy = "libasio-dev:\n  Installed: 1:1.22.1-1\n  Candidate: 1:1.22.1-2\n  Version table:\n";
        assert_eq!(line(policy, "Installed:"), Some("1:1.22.1-1"));
        assert_eq!(line(policy, "Candidate:"), Some("1:1.22.1-2"));
        assert_eq!(line("", "Installed:"), None);
    }

    #[test]
    fn a_changelog_is_dated_by_its_first_signature() {
        let changelog = "asio (1:1.22.1-1) unstable; urgency=medium\n\n  * New upstream release\n\n\
            \x20-- A Name <a@example.org>  Fri, 15 Apr 2022 21:38:44 +0200\n\n\
            asio (1:1.18.1-1) unstable; urgency=low\n\n -- B <b@example.org>  Thu, 01 Oct 2020 00:00:00 +0000\n";
        assert_eq!(signed(changelog).unwrap().to_string(), "2022-04-15");
        assert_eq!(signed("nothing\n"), None);
    }
}
