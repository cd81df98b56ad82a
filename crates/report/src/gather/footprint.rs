//! Properties of services besides speed, as of the start of the run; for published benchmarks with their
//! claims.

use tare_bench::{figures::Aspect, folder::about::Profile, plan::Counted};
use tare_service::footprint::Footprint;

use super::columns::Columns;
use crate::document::Section;

const LEAD: &str = "What services are besides fast: licence, packages, code that a user writes, what must be shipped, what a build \
                    costs. Packages are counted as each ecosystem counts them.";

#[derive(Default)]
pub(crate) struct Described<'a> {
    pub(crate) label: &'a str,
    pub(crate) language: &'a str,
    pub(crate) framework: &'a str,
    pub(crate) version: Option<&'a str>,
    pub(crate) licence: &'a str,
    pub(crate) counted: Counted,
    pub(crate) footprint: Option<&'a Footprint>,
    pub(crate) profile: Option<&'a Profile>,
    pub(crate) version_published: Option<&'a str>,
    pub(crate) published: Option<&'a Aspect>,
    /// Its threads at every point, if they differ from the other services.
    pub(crate) threads: Option<usize>,
}

pub(crate) fn without(why: &str) -> Section {
    Section::without("footprint", "Footprint", LEAD).note(why)
}

pub(crate) fn section<'a>(services: impl IntoIterator<Item = Described<'a>>) -> Section {
    let columns = licences().and(packages()).and(costs()).and(opinions());
    Section::new("footprint", "Footprint", LEAD, columns.table("Services besides their speed", services))
}

fn licences<'a>() -> Columns<'a, Described<'a>> {
    let contradiction = |of: &Described| of.footprint?.licence.contradiction.clone();
    Columns::new()
        .text("label", "service", |of: &Described| of.label.to_owned())
        .language(|of| of.language.to_owned())
        .text("framework", "framework", |of| of.framework.to_owned())
        .text("version", "version", |of| of.version.map(str::to_owned))
        .text("version_published", "version, published", |of| of.version_published.map(str::to_owned))
        .facet("licence", "licence", |of| of.licence.to_owned())
        .text("licence_contradiction", "contradiction", contradiction)
        .text("licence_published", "licence, published", |of| Some(of.published?.licence.clone()))
}

fn packages<'a>() -> Columns<'a, Described<'a>> {
    let newest = |of: &Described| Some(of.footprint?.release.as_ref()?.newest.clone());
    Columns::new()
        .count("packages_direct", "packages asked for", |of: &Described| of.counted.packages_direct)
        .count("packages_total", "packages in the build", |of| of.counted.packages_total)
        .count("code_lines", "lines of code", |of| of.counted.code_lines)
        .text("code_languages", "in", languages)
        .hidden()
        .text("newest", "newest release", newest)
        .text("homepage", "website", |of| web_page(of.profile?.homepage.as_ref()))
        .hidden()
        .text("source", "source", |of| web_page(of.profile?.source.as_ref()))
        .hidden()
        .text("package_page", "package", |of| page_of(&of.footprint?.release.as_ref()?.package))
        .hidden()
}

/// The address, if a page may link to it. Run folders may come from others, and a script URL is no page.
fn web_page(address: Option<&String>) -> Option<String> {
    address.filter(|address| address.starts_with("https://") || address.starts_with("http://")).cloned()
}

/// The web page of a package in its registry, by package URL. It is only linked, and not requested. `None`
/// for an unknown registry or an invalid name.
fn page_of(package: &str) -> Option<String> {
    let (registry, name) = package.strip_prefix("pkg:")?.split_once('/')?;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._~/+-%@".contains(letter);
    let before = match registry {
        "cargo" => "https://crates.io/crates/",
        "deb" => "https://packages.debian.org/",
        "github" => "https://github.com/",
        "gitlab" => "https://gitlab.com/",
        "golang" => "https://pkg.go.dev/",
        "maven" => "https://central.sonatype.com/artifact/",
        "npm" => "https://www.npmjs.com/package/",
        "nuget" => "https://www.nuget.org/packages/",
        "pypi" => "https://pypi.org/project/",
        "swift" => "https://",
        _ => return None,
    };
    let name = if registry == "deb" { name.rsplit_once('/').map_or(name, |(_, name)| name) } else { name };
    (!name.is_empty() && name.chars().all(is_plain)).then(|| format!("{before}{name}"))
}

/// `C++ 69, C++ Header 22`.
fn languages(of: &Described) -> Option<String> {
    let code = of.footprint?.code.as_ref()?;
    let parts = code.languages.iter().map(|(language, lines)| format!("{language} {lines}"));
    Some(parts.collect::<Vec<_>>().join(", "))
}

fn costs<'a>() -> Columns<'a, Described<'a>> {
    fn build(of: &Described, value: fn(&tare_service::build::BuildCost) -> Option<f64>) -> Option<f64> {
        of.footprint?.build.as_ref().and_then(value)
    }
    let measured = |of: &Described| of.footprint?.measured.clone();
    Columns::new()
        .bytes("artefact_bytes", "artefact", |of: &Described| of.footprint?.artefact_bytes)
        .help("what must be on the target machine")
        .ns("build_ns", "build", |of| of.counted.build_s.map(|seconds| seconds * 1e9))
        .help("time of the last good build, if it depends on no build of another service")
        .ns("build_cpu_ns", "build CPU", |of| build(of, |cost| Some(cost.whole()?[1] * 1e9)))
        .help("CPU time of the last good build, if it depends on no build of another service")
        .ns("build_own_cpu_ns", "build CPU of its own code", |of| {
            build(of, |cost| Some(cost.own_cpu_seconds()? * 1e9))
        })
        .help("CPU time without crates that services share")
        .bytes("download_bytes", "download", |of| build(of, |cost| Some(cost.download_bytes? as f64)))
        .help("what the build brought")
        .bytes("disk_bytes", "on the disk", |of| build(of, |cost| Some(cost.disk_bytes as f64)))
        .help("of the build")
        .ns("idle_start_up_ns", "start when idle", move |of| measured(of).map(|found| found.start_up_ns))
        .help("median of fresh starts without load")
        .bytes("idle_rss_bytes", "memory when idle", move |of| measured(of).map(|found| found.rss_bytes))
        .help("a second after the first answer")
}

/// Published opinions, beside the measured counterparts.
fn opinions<'a>() -> Columns<'a, Described<'a>> {
    Columns::new()
        .count("ease_of_including", "ease of including, of 5", |of: &Described| {
            of.published.map(|aspect| u64::from(aspect.ease_of_including))
        })
        .help("A published opinion.")
        .count("ease_of_using", "ease of using, of 5", |of| {
            of.published.map(|aspect| u64::from(aspect.ease_of_using))
        })
        .help("A published opinion.")
        .count("threads", "THREADS at every point", |of| of.threads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_has_a_page_where_its_registry_is_known() {
        let pages = [
            "pkg:cargo/axum",
            "pkg:golang/github.com/gorilla/mux",
            "pkg:deb/debian/libasio-dev",
            "pkg:npm/%40koa/router",
        ];
        let pages = pages.map(|package| page_of(package).unwrap());
        let wanted = [
            "https://crates.io/crates/axum",
            "https://pkg.go.dev/github.com/gorilla/mux",
            "https://packages.debian.org/libasio-dev",
            "https://www.npmjs.com/package/%40koa/router",
        ];
        assert_eq!(pages, wanted);
        for none in [
            "pkg:cargo/",
            "pkg:cargo/a\"b",
            "pkg:swift/javascript:x",
            "pkg:other/x",
            "cargo/axum",
            "pkg:npm/a b",
        ] {
            assert_eq!(page_of(none), None, "{none}");
        }
    }
}
