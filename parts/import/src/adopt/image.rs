//! The contents of known base images, and the toolchains that replace them.

/// A toolchain that replaces an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Toolchain {
    /// The name that messages show.
    pub name: &'static str,
    /// Commands that succeed if it is installed.
    pub commands: &'static [&'static [&'static str]],
    /// The packages of Debian 12 that provide it.
    pub debian: &'static [&'static str],
}

/// The known contents of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Image {
    /// A system with these toolchains.
    Toolchains(&'static [Toolchain]),
    /// A plain system, or nothing.
    System,
    /// Unknown programs, available only in the image.
    Unknown,
}

pub(super) const RUST: Toolchain =
    Toolchain { name: "Rust", commands: &[&["cargo", "--version"]], debian: &["cargo-web", "rustc-web"] };
pub(super) const GO: Toolchain =
    Toolchain { name: "Go", commands: &[&["go", "version"]], debian: &["golang-go"] };
pub(super) const PYTHON: Toolchain = Toolchain {
    name: "Python",
    commands: &[&["python3", "--version"], &["python3", "-m", "ensurepip", "--version"]],
    debian: &["python3-venv", "python3-dev"],
};
pub(super) const NODE: Toolchain = Toolchain {
    name: "Node",
    commands: &[&["node", "--version"], &["npm", "--version"]],
    debian: &["nodejs", "npm"],
};
const BUN: Toolchain = Toolchain { name: "Bun", commands: &[&["bun", "--version"]], debian: &[] };
const DENO: Toolchain = Toolchain { name: "Deno", commands: &[&["deno", "--version"]], debian: &[] };
pub(super) const UV: Toolchain = Toolchain { name: "uv", commands: &[&["uv", "--version"]], debian: &[] };
pub(super) const JAVA: Toolchain =
    Toolchain { name: "Java", commands: &[&["javac", "-version"]], debian: &["openjdk-17-jdk-headless"] };
const JRE: Toolchain =
    Toolchain { name: "Java", commands: &[&["java", "-version"]], debian: &["openjdk-17-jre-headless"] };
pub(super) const MAVEN: Toolchain =
    Toolchain { name: "Maven", commands: &[&["mvn", "--version"]], debian: &["maven"] };
const GRADLE: Toolchain =
    Toolchain { name: "Gradle", commands: &[&["gradle", "--version"]], debian: &["gradle"] };
const LEIN: Toolchain =
    Toolchain { name: "Leiningen", commands: &[&["lein", "version"]], debian: &["leiningen"] };
pub(super) const GCC: Toolchain = Toolchain {
    name: "C and C++",
    commands: &[&["gcc", "--version"], &["g++", "--version"], &["make", "--version"]],
    debian: &["build-essential"],
};
const RUBY: Toolchain = Toolchain {
    name: "Ruby",
    commands: &[&["ruby", "--version"], &["bundle", "--version"]],
    debian: &["ruby", "ruby-dev", "bundler"],
};
const DOTNET: Toolchain = Toolchain { name: ".NET", commands: &[&["dotnet", "--version"]], debian: &[] };
const SWIFT: Toolchain = Toolchain { name: "Swift", commands: &[&["swift", "--version"]], debian: &[] };
const DART: Toolchain = Toolchain { name: "Dart", commands: &[&["dart", "--version"]], debian: &[] };
const PERL: Toolchain = Toolchain { name: "Perl", commands: &[&["perl", "--version"]], debian: &["perl"] };
const ELIXIR: Toolchain =
    Toolchain { name: "Elixir", commands: &[&["mix", "--version"]], debian: &["elixir"] };
const ERLANG: Toolchain =
    Toolchain { name: "Erlang", commands: &[&["erl", "-version"]], debian: &["erlang"] };
const HASKELL: Toolchain =
    Toolchain { name: "Haskell", commands: &[&["ghc", "--version"]], debian: &["ghc", "cabal-install"] };
const PHP: Toolchain = Toolchain { name: "PHP", commands: &[&["php", "--version"]], debian: &["php-cli"] };

/// Image names without registry, and the toolchains that replace them.
const KNOWN: [(&str, &[Toolchain]); 37] = [
    ("rust", &[RUST, GCC]),
    ("golang", &[GO]),
    ("python", &[PYTHON]),
    ("node", &[NODE]),
    ("oven/bun", &[BUN]),
    ("denoland/deno", &[DENO]),
    ("maven", &[MAVEN, JAVA]),
    ("gradle", &[GRADLE, JAVA]),
    ("clojure", &[LEIN, JAVA]),
    ("eclipse-temurin", &[JAVA]),
    ("openjdk", &[JAVA]),
    ("amazoncorretto", &[JAVA]),
    ("azul/zulu-openjdk", &[JAVA]),
    ("bellsoft/liberica-openjdk-debian", &[JAVA]),
    ("bellsoft/liberica-openjdk-alpine", &[JAVA]),
    ("bellsoft/liberica-openjre-debian", &[JRE]),
    ("bellsoft/liberica-openjre-alpine", &[JRE]),
    ("distroless/java17-debian12", &[JRE]),
    ("distroless/java21-debian12", &[JRE]),
    ("gcc", &[GCC]),
    ("buildpack-deps", &[GCC]),
    ("ruby", &[RUBY]),
    ("dotnet/sdk", &[DOTNET]),
    ("dotnet/aspnet", &[DOTNET]),
    ("dotnet/runtime", &[DOTNET]),
    ("dotnet/runtime-deps", &[]),
    ("swift", &[SWIFT]),
    ("dart", &[DART]),
    ("perl", &[PERL]),
    ("elixir", &[ELIXIR]),
    ("erlang", &[ERLANG]),
    ("haskell", &[HASKELL]),
    ("php", &[PHP]),
    ("debian", &[]),
    ("ubuntu", &[]),
    ("alpine", &[]),
    ("busybox", &[]),
];

/// Registries that serve images under these names.
const REGISTRIES: [&str; 8] = [
    "docker.io/",
    "index.docker.io/",
    "library/",
    "mcr.microsoft.com/",
    "gcr.io/",
    "public.ecr.aws/docker/library/",
    "ghcr.io/",
    "quay.io/",
];

/// The image name of a `FROM`, without registry and tag.
fn name_of(image: &str) -> &str {
    let mut name = image.split('@').next().unwrap_or(image);
    if let Some((before, tag)) = name.rsplit_once(':')
        && !tag.contains('/')
    {
        name = before;
    }
    while let Some(rest) = REGISTRIES.iter().find_map(|registry| name.strip_prefix(registry)) {
        name = rest;
    }
    name
}

/// The known contents of the image of a `FROM`.
pub(super) fn image(image: &str) -> Image {
    let name = name_of(image);
    if name == "scratch" || name.starts_with("distroless/") && !name.contains("java") {
        return Image::System;
    }
    match KNOWN.iter().find(|(known, _)| *known == name) {
        Some((_, [])) => Image::System,
        Some((_, toolchains)) => Image::Toolchains(toolchains),
        None => Image::Unknown,
    }
}

/// Whether the image uses another C library (musl) than the systems that Tare supports.
pub(super) fn has_musl(image: &str) -> bool {
    image.contains("alpine") || image.contains("musl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_known_by_its_name_alone() {
        let named = |name: &str| match image(name) {
            Image::Toolchains(all) => all.iter().map(|one| one.name).collect::<Vec<_>>().join("+"),
            Image::System => "system".to_owned(),
            Image::Unknown => "unknown".to_owned(),
        };
        for (name, wanted) in [
            ("rust:1.94", "Rust+C and C++"),
            ("docker.io/golang:1.26-alpine@sha256:00", "Go"),
            ("docker.io/library/node", "Node"),
            ("mcr.microsoft.com/dotnet/sdk:10.0", ".NET"),
            ("gcr.io/distroless/cc-debian12", "system"),
            ("gcr.io/distroless/java21-debian12", "Java"),
            ("localhost:5000/rust", "unknown"),
            ("scratch", "system"),
            ("nginx:1", "unknown"),
        ] {
            assert_eq!(named(name), wanted, "{name}");
        }
    }
}
