//! Installs what services need, by the script that also sets up a checkout.

use std::{
    collections::BTreeSet,
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, bail, ensure};
use tare_service::catalogue::{RAW_SOCKET, Row};

use crate::{exit::Outcome, tools, workspace::Global};

/// The script, in the catalogue of this program.
const SCRIPT: &str = "scripts/setup.sh";

/// Installs what is missing for these services, and checks them afterwards.
pub(super) fn install(global: &Global, rows: &[Row]) -> anyhow::Result<Outcome> {
    let catalogue = global.bundle()?.unpack()?;
    let services = named(&catalogue, rows)?;
    if services.is_empty() {
        tare_host::message!("nothing to install: the raw socket is in this program");
        return Ok(Outcome::Fine);
    }
    let mut script = Command::new("bash");
    script.arg(SCRIPT).arg("services").args(&services).current_dir(&catalogue);
    script.env(tools::VARIABLE, tools::folder(&global.cache()?)).stdin(Stdio::null());
    let ended = script.status().context("cannot run bash, which installs them")?;
    ensure!(ended.success(), "the installation ended with {ended}");
    // The same command in another process: only one that starts now finds what was installed.
    let mut again = Command::new(std::env::current_exe()?);
    again.args(std::env::args_os().skip(1).filter(|word| word != super::INSTALL));
    Err(again.exec()).context("cannot check what was installed")
}

/// The names of the services, without the raw socket. The script knows those of this catalogue.
fn named(catalogue: &Path, rows: &[Row]) -> anyhow::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for service in rows.iter().map(|row| &row.service).filter(|service| service.id != RAW_SOCKET) {
        if !catalogue.join("services").join(&service.language).join(&service.name).is_dir() {
            bail!("{}: is no service that Tare brings, so you know better what it needs", service.id);
        }
        names.insert(service.name.clone());
    }
    Ok(names)
}

/// How much apt-get would fetch for these packages; absent if it does not know them.
pub(super) fn download_bytes(packages: &BTreeSet<String>) -> Option<u64> {
    if packages.is_empty() {
        return None;
    }
    let mut apt = Command::new("apt-get");
    apt.args(["install", "--print-uris", "-qq", "--no-install-recommends"]).args(packages);
    let told = apt.stdin(Stdio::null()).output().ok().filter(|told| told.status.success())?;
    Some(sizes(&String::from_utf8_lossy(&told.stdout)))
}

/// The sum of what lines such as `'http://…/gcc.deb' gcc.deb 1234 SHA256:…` say.
fn sizes(lines: &str) -> u64 {
    lines.lines().filter_map(|line| line.split(' ').nth(2)?.parse::<u64>().ok()).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_apt_would_fetch_is_summed() {
        let lines = "'http://a/b.deb' b.deb 1000 SHA256:x\nNOTE: this\n'http://a/c.deb' c.deb 234 MD5Sum:y\n";
        assert_eq!(sizes(lines), 1234);
        assert_eq!(sizes("'a' b 99999999999999999999 c\n'a' b x c\n"), 0);
    }
}
