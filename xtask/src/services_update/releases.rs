//! services/releases.toml: the known releases and the day of the query. Stored in git, so that newer releases
//! are known without a network, with their history.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use jiff::civil::Date;
use serde::Deserialize;

use super::{Answer, Pinned};

const FORMAT: &str = "1.0";

const HEAD: &str = "\
# Made by `make services-update`: what each service used, and the newest release that is no pre-release, on the day when
# its registry was asked. A package that could not be asked keeps its earlier entry.
";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    #[serde(default)]
    release: Vec<Release>,
}

/// One package.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Release {
    package: String,
    used: String,
    newest: String,
    newest_date: Option<Date>,
    asked: Date,
}

/// The previous content; empty without a file.
pub(super) fn read(path: &Path) -> Result<Vec<Release>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| format!("cannot read '{}'", path.display())),
    };
    parse(&text).with_context(|| format!("'{}' (mend or delete it)", path.display()))
}

fn parse(text: &str) -> Result<Vec<Release>> {
    let file: File = toml::from_str(text)?;
    ensure!(file.format == FORMAT, "format is '{}', this knows '{FORMAT}'", file.format);
    Ok(file.release)
}

/// Today's answers, and earlier ones for packages without an answer. Packages without a service are removed.
pub(super) fn merge(
    earlier: &[Release],
    pinned: &[Pinned],
    answers: &[Result<Answer>],
    asked: Date,
) -> Vec<Release> {
    let mut merged: BTreeMap<String, Release> = BTreeMap::new();
    for (service, answer) in pinned.iter().zip(answers) {
        let Some(package) = service.package.as_ref().map(ToString::to_string) else { continue };
        let release = match answer {
            Ok(answer) => Some(Release {
                package: package.clone(),
                used: answer.used.clone(),
                newest: answer.newest.clone(),
                newest_date: answer.date,
                asked,
            }),
            Err(_) => earlier.iter().find(|release| release.package == package).cloned(),
        };
        // If two services share a package, the first one counts.
        if let Some(release) = release {
            merged.entry(package).or_insert(release);
        }
    }
    merged.into_values().collect()
}

/// Writes the file atomically.
pub(super) fn write(path: &Path, releases: &[Release]) -> Result<()> {
    let unfinished = path.with_extension("toml.part");
    let written = fs::write(&unfinished, render(releases)).and_then(|()| fs::rename(&unfinished, path));
    written.with_context(|| format!("cannot write '{}'", path.display()))
}

fn render(releases: &[Release]) -> String {
    let mut text = format!("{HEAD}format = \"{FORMAT}\"\n");
    for release in releases {
        let date = release.newest_date.map(|date| date.to_string());
        let asked = release.asked.to_string();
        text.push_str("\n[[release]]\n");
        for (key, value) in [
            ("package", Some(&release.package)),
            ("used", Some(&release.used)),
            ("newest", Some(&release.newest)),
            ("newest-date", date.as_ref()),
            ("asked", Some(&asked)),
        ] {
            if let Some(value) = value {
                text.push_str(&format!("{key:<11} = {}\n", toml::Value::from(value.as_str())));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;
    use jiff::civil::date;

    use super::*;

    fn pinned(package: &str) -> Pinned {
        let package = Some(package.parse().unwrap());
        Pinned { name: "any".to_owned(), folder: ".".into(), package }
    }

    fn answer(newest: &str, date: Option<Date>) -> Answer {
        Answer { used: "0.8.9".to_owned(), newest: newest.to_owned(), date, lock: None }
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        let services = [pinned("pkg:npm/koa"), pinned("pkg:cargo/axum")];
        let answers = [Ok(answer("0.9.0", None)), Ok(answer("0.8.9", Some(date(2026, 4, 14))))];
        let releases = merge(&[], &services, &answers, date(2026, 11, 21));
        let text = render(&releases);
        let body = text.strip_prefix(HEAD).unwrap();
        assert_eq!(
            body,
            "format = \"1.0\"\n\n\
             [[release]]\n\
             package     = \"pkg:cargo/axum\"\n\
             used        = \"0.8.9\"\n\
             newest      = \"0.8.9\"\n\
             newest-date = \"2026-04-14\"\n\
             asked       = \"2026-11-21\"\n\n\
             [[release]]\n\
             package     = \"pkg:npm/koa\"\n\
             used        = \"0.8.9\"\n\
             newest      = \"0.9.0\"\n\
             asked       = \"2026-11-21\"\n"
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("releases.toml");
        assert_eq!(read(&path).unwrap(), []);
        write(&path, &releases).unwrap();
        assert_eq!(read(&path).unwrap(), releases);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing unfinished is left");
    }

    #[test]
    fn who_could_not_be_asked_keeps_the_earlier_entry() {
        let (a, b) = (pinned("pkg:npm/a"), pinned("pkg:npm/b"));
        let first = [Ok(answer("1", None)), Ok(answer("1", None))];
        let earlier = merge(&[], &[a, b], &first, date(2026, 1, 1));
        let services = [pinned("pkg:npm/a"), pinned("pkg:npm/a"), pinned("pkg:npm/c")];
        let later = [Err(anyhow!("no npm")), Ok(answer("2", None)), Err(anyhow!("no npm"))];
        let merged = merge(&earlier, &services, &later, date(2026, 2, 2));
        assert_eq!(merged, earlier[..1], "the first speaks for a, b has gone, c was never known");
    }

    #[test]
    fn what_it_does_not_know_it_refuses() {
        let good = "format = \"1.0\"\n[[release]]\npackage = \"p\"\nused = \"1\"\nnewest = \"1\"\nasked = \"2026-11-21\"\n";
        assert_eq!(parse(good).unwrap().len(), 1);
        let other = format!("{good}latest = \"1\"\n");
        let broken = good.replace("11-21", "13-21");
        for bad in ["", "format = \"2.0\"\n", &other, &broken] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
