//! `cargo xtask services-update`: newer upstream releases than the pinned ones. One file per ecosystem.
//!
//! It uses the ecosystems' own clients as configured on this machine, so it needs no registry addresses, and
//! changes no lock. It reads only the key `package` of a manifest. An old version is no failure: a newer one
//! may need a toolchain that is not available, and a check that fails over time would be disabled.

mod cargo;
mod client;
mod deb;
mod golang;
mod maven;
mod npm;
mod pinned;
mod pypi;
mod releases;
mod table;
mod version;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::thread;

use anyhow::{Context, Result, bail};
use jiff::civil::Date;
use packageurl::PackageUrl;

use crate::services;
use pinned::Pinned;

/// A registry's data about the package of one service.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Answer {
    /// The locked version
    used: String,
    /// The newest that is no pre-release
    newest: String,
    /// When the newest appeared, if the client reports it
    date: Option<Date>,
    /// How many of the other locked packages have something newer, if the client reports it cheaply
    lock: Option<usize>,
}

/// Asks for every service, prints the table, and writes services/releases.toml.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let path = root.join("services/releases.toml");
    let earlier = releases::read(&path)?;
    let pinned = services::all(root)?.iter().map(pinned::read).collect::<Result<Vec<_>>>()?;
    eprintln!("asking for the packages of {} services (at most {} s each)", pinned.len(), client::SECONDS);

    let answers = ask_all(&pinned);
    print!("{}", table::render(&pinned, &answers));
    if answers.iter().all(Result::is_err) {
        bail!("no registry could be asked; '{}' stays as it was", path.display());
    }
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    releases::write(&path, &releases::merge(&earlier, &pinned, &answers, today))?;
    Ok(ExitCode::SUCCESS)
}

/// The answers in the order of the services. Ecosystems are queried in parallel, and each ecosystem one
/// package after another, because its client locks anyway.
fn ask_all(pinned: &[Pinned]) -> Vec<Result<Answer>> {
    let mut ecosystems: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
    for (index, service) in pinned.iter().enumerate() {
        ecosystems.entry(service.package.as_ref().map(PackageUrl::ty)).or_default().push(index);
    }
    let ask_each = |indexes: Vec<usize>| -> Vec<(usize, Result<Answer>)> {
        indexes.into_iter().map(|index| (index, ask(&pinned[index]))).collect()
    };
    let mut answers: Vec<(usize, Result<Answer>)> = thread::scope(|scope| {
        let asked: Vec<_> =
            ecosystems.into_values().map(|indexes| scope.spawn(|| ask_each(indexes))).collect();
        asked.into_iter().flat_map(|thread| thread.join().expect("a parser has panicked")).collect()
    });
    answers.sort_by_key(|(index, _)| *index);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

fn ask(service: &Pinned) -> Result<Answer> {
    let package = service.package.as_ref().context("it comes with the language")?;
    let (folder, name) = (service.folder.as_path(), package.name());
    match package.ty() {
        "cargo" => cargo::ask(folder, name),
        "deb" => deb::ask(folder, name),
        "golang" => golang::ask(folder, &full_name(package, "/")),
        "maven" => maven::ask(folder, &full_name(package, ":")),
        "npm" => npm::ask(folder, &full_name(package, "/")),
        "pypi" => pypi::ask(folder, name),
        other => bail!("{other} has no client that tells releases"),
    }
}

/// The name with its namespace, in the syntax of the ecosystem's client.
fn full_name(package: &PackageUrl, between: &str) -> String {
    match package.namespace() {
        Some(namespace) => format!("{namespace}{between}{}", package.name()),
        None => package.name().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(package: Option<&str>) -> Pinned {
        let package = package.map(|text| text.parse().unwrap());
        Pinned { name: "any".to_owned(), folder: ".".into(), package }
    }

    #[test]
    fn names_are_those_of_the_clients() {
        for (url, between, name) in [
            ("pkg:golang/github.com/go-chi/chi/v5", "/", "github.com/go-chi/chi/v5"),
            ("pkg:maven/io.netty/netty-codec-http", ":", "io.netty:netty-codec-http"),
            ("pkg:npm/%40hono/node-server", "/", "@hono/node-server"),
            ("pkg:npm/koa", "/", "koa"),
        ] {
            assert_eq!(full_name(&url.parse().unwrap(), between), name);
        }
    }

    #[test]
    fn clients_that_fail_are_reported_with_the_reason_and_in_order() {
        let services = [service(Some("pkg:github/a/b")), service(None), service(Some("pkg:gitlab/a/b"))];
        let reasons: Vec<String> =
            ask_all(&services).into_iter().map(|answer| answer.unwrap_err().to_string()).collect();
        assert_eq!(
            reasons,
            [
                "github has no client that tells releases",
                "it comes with the language",
                "gitlab has no client that tells releases"
            ]
        );
    }
}
