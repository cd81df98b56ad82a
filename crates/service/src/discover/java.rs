//! Discovers JVM services packaged by Maven or Gradle.

use std::path::{Path, PathBuf};

use super::{Guess, text};
use crate::{catalogue::Step, install};

pub(super) fn guesses(folder: &Path) -> Vec<Guess> {
    let maven = text(folder, "pom.xml").map(|pom| ("pom.xml", pom));
    let gradle = ["build.gradle.kts", "build.gradle"]
        .into_iter()
        .find_map(|name| text(folder, name).map(|text| (name, text)));
    maven
        .into_iter()
        .filter_map(|found| of_maven(folder, found))
        .chain(gradle.map(|found| of_gradle(folder, found)))
        .collect()
}

fn of_maven(folder: &Path, (file, pom): (&str, String)) -> Option<Guess> {
    // The name of the project itself: its parent and dependencies have names too.
    let own = without(&without(&without(&pom, "parent"), "dependencies"), "profiles");
    let element = |name: &str| between(&own, &format!("<{name}>"), &format!("</{name}>"));
    let name = match element("finalName").filter(|name| !name.contains("${")) {
        Some(name) => name.to_owned(),
        None => format!(
            "{}-{}",
            element("artifactId")?,
            element("version").or_else(|| between(&pom, "<version>", "</version>"))?
        ),
    };
    if !is_plain(&name) {
        return None;
    }
    let build = steps(install::of_maven(folder));
    let command = format!("java -jar target/{name}.jar{}", port(&pom));
    Some(Guess { what: framework(&pom).to_owned(), file: PathBuf::from(file), build, command })
}

/// Whether a name is valid in Maven coordinates. It becomes part of a command, so nothing else is safe.
fn is_plain(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || "._-+".contains(c))
}

/// The archive's name is configurable; the pattern works if there is one executable archive.
fn of_gradle(folder: &Path, (file, script): (&str, String)) -> Guess {
    let build = steps(install::of_gradle(folder));
    let command = format!("exec java -jar build/libs/*.jar{}", port(&script));
    Guess { what: framework(&script).to_owned(), file: PathBuf::from(file), build, command }
}

fn steps(found: Option<install::InFolder>) -> Vec<Step> {
    found.map(|found| found.steps).unwrap_or_default()
}

fn framework(text: &str) -> &'static str {
    let known = [
        ("spring-boot", "Spring Boot"),
        ("springframework.boot", "Spring Boot"),
        ("io.quarkus", "Quarkus"),
        ("io.micronaut", "Micronaut"),
        ("io.javalin", "Javalin"),
        ("io.helidon", "Helidon"),
    ];
    known.into_iter().find(|(word, _)| text.contains(word)).map_or("Java", |(_, name)| name)
}

/// The option by which its framework sets the port; other frameworks read `PORT`.
fn port(text: &str) -> &'static str {
    match framework(text) {
        "Spring Boot" => " --server.port={port}",
        "Micronaut" => " -micronaut.server.port={port}",
        _ => "",
    }
}

fn between<'t>(text: &'t str, begin: &str, end: &str) -> Option<&'t str> {
    let rest = &text[text.find(begin)? + begin.len()..];
    Some(rest[..rest.find(end)?].trim())
}

/// The text without the first element with this name.
fn without(text: &str, name: &str) -> String {
    let (begin, end) = (format!("<{name}>"), format!("</{name}>"));
    let cut = text.find(&begin).and_then(|from| Some((from, text.find(&end)? + end.len())));
    match cut.filter(|(from, to)| from < to) {
        Some((from, to)) => format!("{}{}", &text[..from], &text[to..]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::guessed;

    #[test]
    fn an_archive_has_the_name_of_the_project() {
        let pom = "<project><parent><artifactId>spring-boot-starter-parent</artifactId><version>4.0</version></parent>\
                   <artifactId>shop</artifactId><version>1.2</version>\
                   <dependencies><dependency><artifactId>x</artifactId></dependency></dependencies></project>";
        assert_eq!(
            guessed(&[("pom.xml", pom)]),
            [
                "Spring Boot (pom.xml): mvn --batch-mode --quiet -DskipTests package && java -jar target/shop-1.2.jar \
              --server.port={port}"
            ]
        );
        let named =
            "<project><artifactId>a</artifactId><build><finalName>service</finalName></build></project>";
        assert_eq!(
            guessed(&[("pom.xml", named), ("mvnw", "")]),
            [
                "Java (pom.xml): ./mvnw --batch-mode --quiet -DskipTests package && java -jar target/service.jar"
            ]
        );
        assert!(guessed(&[("pom.xml", "<project></artifactId><artifactId>")]).is_empty());
        for name in ["shop\n", "a b", "x; reboot"]
            .map(|name| format!("<project><finalName>{name}.1</finalName></project>"))
        {
            assert!(guessed(&[("pom.xml", &name)]).is_empty(), "{name}");
        }
    }
}
