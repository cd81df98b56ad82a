//! Finds out how the port of an entry can be set without a change of its source.

use std::{fs, path::Path};

use super::shell;
use tare_base::document::decoded;

/// The placeholder for the port in a manifest's command.
const PLACE: &str = "{port}";
/// Largest source that is searched, and the largest number of sources.
const SOURCE_BYTES_MAX: u64 = 1 << 20;
const SOURCES_MAX: usize = 2000;
const FOREIGN: [&str; 5] = ["node_modules", "vendor", "target", ".git", "__pycache__"];
const ENDINGS: [&str; 21] = [
    "go",
    "rs",
    "py",
    "js",
    "mjs",
    "cjs",
    "ts",
    "java",
    "kt",
    "c",
    "h",
    "cc",
    "cpp",
    "cs",
    "rb",
    "clj",
    "php",
    "yaml",
    "yml",
    "properties",
    "json",
];

/// How the port is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Port {
    /// By the command.
    Command { words: Vec<String>, how: String },
    /// By a variable that holds the port.
    Variable(String),
    /// The program reads `PORT` itself.
    Read { file: String },
    /// Fixed in the source, at this place if it was found.
    Fixed { port: u16, place: Option<String> },
}

/// A text file of an entry.
#[derive(Debug, Clone)]
pub(super) struct PortSource {
    /// Path relative to the entry.
    pub name: String,
    pub text: String,
}

/// The source files of an entry, ordered by name.
pub(super) fn sources(folder: &Path) -> Vec<PortSource> {
    let mut found = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(inner) = folders.pop() {
        let entries = fs::read_dir(folder.join(&inner)).into_iter().flatten().flatten();
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if inner.is_empty() { name.clone() } else { format!("{inner}/{name}") };
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !FOREIGN.contains(&name.as_str()) => folders.push(path),
                Ok(kind) if kind.is_file() && is_source(&name) && found.len() < SOURCES_MAX => {
                    found.push(path)
                }
                _ => {}
            }
        }
    }
    found.sort();
    let read = |name: String| {
        let bytes = tare_host::foreign::read(&folder.join(&name), SOURCE_BYTES_MAX).ok()?;
        Some(PortSource { name, text: decoded(&bytes).ok()? })
    };
    found.into_iter().filter_map(read).collect()
}

fn is_source(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| ENDINGS.contains(&ending)) && !name.ends_with("-lock.json")
}

/// `words` are the command, `variables` those of the image, `port` is the entry's port in its suite.
pub(super) fn find(
    words: &[String],
    variables: &[(String, String)],
    port: u16,
    sources: &[PortSource],
) -> Port {
    if let Some(words) = in_words(words, port) {
        return Port::Command { words, how: format!("{port} stands in the command") };
    }
    let is_port = |(name, value): &&(String, String)| *value == port.to_string() && name.contains("PORT");
    if let Some((name, _)) = variables.iter().find(is_port) {
        return Port::Variable(name.clone());
    }
    if let Some(source) = reader(words, port, sources) {
        return Port::Read { file: source.name.clone() };
    }
    if let Some((words, how)) = by_server(words, sources).or_else(|| by_flag(words, port, sources)) {
        return Port::Command { words, how };
    }
    Port::Fixed { port, place: place(port, sources) }
}

/// The command with `{port}` for the port, as in `8080`, `:8080` or `--port=8080`, also in a shell script.
fn in_words(words: &[String], port: u16) -> Option<Vec<String>> {
    let mut found = false;
    let replaced: Vec<String> = words
        .iter()
        .map(|word| {
            let replaced = replace(word, &port.to_string());
            found |= replaced != *word;
            replaced
        })
        .collect();
    found.then(|| replaced.iter().map(|word| on_loopback(word)).collect())
}

/// Replaces a number that is not part of a longer word by `{port}`.
fn replace(word: &str, number: &str) -> String {
    let mut done = String::new();
    let mut rest = word;
    while let Some(at) = rest.find(number) {
        let (before, after) = (&rest[..at], &rest[at + number.len()..]);
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_' || c == '-';
        let stands_alone =
            !before.chars().next_back().is_some_and(is_part) && !after.chars().next().is_some_and(is_part);
        // At the beginning of `rest` the preceding character is the end of `done`.
        let stands_alone =
            stands_alone && (!before.is_empty() || !done.chars().next_back().is_some_and(is_part));
        done += before;
        done += if stands_alone { PLACE } else { number };
        rest = after;
    }
    done + rest
}

/// Services listen on 127.0.0.1 only.
fn on_loopback(word: &str) -> String {
    word.replace("0.0.0.0", "127.0.0.1")
}

/// Whether a source reads the variable `PORT`.
fn reads_port(text: &str) -> bool {
    let ways = [
        "process.env.PORT",
        "process.env[\"PORT\"]",
        "Bun.env.PORT",
        "Getenv(\"PORT\")",
        "LookupEnv(\"PORT\")",
        "env::var(\"PORT\")",
        "environ.get(\"PORT\"",
        "environ.get('PORT'",
        "environ[\"PORT\"]",
        "environ['PORT']",
        "getenv(\"PORT\"",
        "getenv('PORT'",
        "ENV[\"PORT\"]",
        "ENV['PORT']",
        "ENV.fetch(\"PORT\"",
        "ENV.fetch('PORT'",
        "GetEnvironmentVariable(\"PORT\")",
        "${PORT:",
        "${PORT}",
    ];
    ways.iter().any(|way| text.contains(way))
}

/// The source that reads `PORT`, if it is the started one or if no other source names the port. In case of
/// doubt the port counts as fixed, which is safe: the service gets `PORT` anyway.
fn reader<'s>(words: &[String], port: u16, sources: &'s [PortSource]) -> Option<&'s PortSource> {
    let started = sources.iter().find(|source| is_named(source, words));
    let names = |source: &PortSource| {
        let mut lines = source.text.lines().filter(|line| !reads_port(line));
        lines.any(|line| replace(line, &port.to_string()) != line)
    };
    match started {
        Some(started) if reads_port(&started.text) => Some(started),
        Some(started) if names(started) => None,
        _ if sources.iter().any(|source| is_program(source) && names(source)) => None,
        _ => sources.iter().find(|source| reads_port(&source.text)),
    }
}

fn is_named(source: &PortSource, words: &[String]) -> bool {
    let name = source.name.rsplit('/').next().unwrap_or_default();
    words.iter().flat_map(|word| shell::words(word)).any(|word| word.rsplit('/').next() == Some(name))
}

/// Programs take precedence over configuration, which may belong to another program.
fn is_program(source: &PortSource) -> bool {
    ![".json", ".yaml", ".yml", ".properties"].iter().any(|end| source.name.ends_with(end))
}

/// Handles servers whose options override their file, and frameworks that read an argument.
fn by_server(words: &[String], sources: &[PortSource]) -> Option<(Vec<String>, String)> {
    let all = words.join(" ");
    let names = |name: &str| shell::words(&all).iter().any(|word| word.rsplit('/').next() == Some(name));
    let says = |text: &str| sources.iter().any(|source| source.text.contains(text));
    let appended = |more: &str, how: &str| Some((append(words, more), how.to_owned()));
    let before_jar = |more: &str, how: &str| Some((before(words, "-jar", more)?, how.to_owned()));
    match () {
        () if names("gunicorn") => {
            appended("--bind 127.0.0.1:{port}", "gunicorn: its command line counts more than its file")
        }
        () if names("hypercorn") => {
            appended("--bind 127.0.0.1:{port}", "hypercorn: its command line counts more than its file")
        }
        () if names("uvicorn") => {
            appended("--host 127.0.0.1 --port {port}", "uvicorn takes it as an argument")
        }
        () if names("granian") => {
            appended("--host 127.0.0.1 --port {port}", "granian takes it as an argument")
        }
        () if names("java") && says("org.springframework.boot") => {
            appended("--server.port={port}", "Spring Boot takes it as an argument")
        }
        () if names("java") && says("io.quarkus") => {
            before_jar("-Dquarkus.http.port={port}", "Quarkus takes it as a system property")
        }
        () if names("java") && says("io.micronaut") => {
            appended("-micronaut.server.port={port}", "Micronaut takes it as an argument")
        }
        () if names("java") && says("io.helidon") && sources.iter().any(is_helidon_configuration) => {
            before_jar(
                "-Dserver.port={port}",
                "Helidon takes it as a system property, which counts more than its file",
            )
        }
        () => None,
    }
}

fn is_helidon_configuration(source: &PortSource) -> bool {
    let name = source.name.rsplit('/').next().unwrap_or_default();
    ["application.yaml", "application.yml", "application.properties"].contains(&name)
}

/// Appends to the last word, if the command is a shell script, otherwise as words.
fn append(words: &[String], more: &str) -> Vec<String> {
    match words {
        [text] if text.contains(char::is_whitespace) => vec![format!("{text} {more}")],
        words => words.iter().cloned().chain(more.split(' ').map(str::to_owned)).collect(),
    }
}

fn before(words: &[String], word: &str, more: &str) -> Option<Vec<String>> {
    match words {
        [text] if text.contains(char::is_whitespace) => text
            .contains(&format!(" {word} "))
            .then(|| vec![text.replacen(&format!(" {word} "), &format!(" {more} {word} "), 1)]),
        words => {
            let at = words.iter().position(|other| other == word)?;
            let mut all = words.to_vec();
            all.insert(at, more.to_owned());
            Some(all)
        }
    }
}

/// Sets a flag that the program declares with the port as its default.
fn by_flag(words: &[String], port: u16, sources: &[PortSource]) -> Option<(Vec<String>, String)> {
    let line_of = |source: &PortSource| {
        let find = |line: &str| {
            let flag = go_flag(line, port).or_else(|| python_option(line, port))?;
            Some((flag, format!("{} declares an argument for it", source.name)))
        };
        source.text.lines().find_map(find)
    };
    // A helper program in the entry may declare flags too.
    let is_started = |source: &&PortSource| source.name.ends_with(".go") || is_named(source, words);
    let (flag, how) = sources.iter().filter(is_started).find_map(line_of)?;
    Some((append(words, &flag), how))
}

/// Recognises `flag.String("bind", ":8080", ...)` and `flag.Int("port", 8080, ...)`.
fn go_flag(line: &str, port: u16) -> Option<String> {
    let (_, call) = line.split_once("flag.")?;
    let (kind, arguments) = call.split_once('(')?;
    let is_variable = kind.ends_with("Var");
    let mut parts = arguments.split(',').map(str::trim).skip(usize::from(is_variable));
    let name = parts.next()?.strip_prefix('"')?.strip_suffix('"')?;
    let value = parts.next()?.trim_matches('"').trim_end_matches(')');
    match value.rsplit(':').next()? == port.to_string() && is_word(name) {
        true if value.contains(':') => Some(format!("-{name} 127.0.0.1:{PLACE}")),
        true => Some(format!("-{name} {PLACE}")),
        false => None,
    }
}

/// Recognises `add_argument("--port", default=8080)` of argparse, and the form of optparse.
fn python_option(line: &str, port: u16) -> Option<String> {
    let arguments = line.split_once("add_argument(").or_else(|| line.split_once("add_option("))?.1;
    let has_default = arguments.replace(' ', "").contains(&format!("default={port}"));
    let words = arguments.split(['"', '\'']);
    let name = words.into_iter().find_map(|word| word.strip_prefix("--").filter(|name| is_word(name)))?;
    has_default.then(|| format!("--{name} {PLACE}"))
}

fn is_word(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
}

/// The place at which a source names the port.
fn place(port: u16, sources: &[PortSource]) -> Option<String> {
    let number = port.to_string();
    let named = |source: &PortSource| {
        let at = source.text.lines().position(|line| replace(line, &number) != line)?;
        Some(format!("{}:{}", source.name, at + 1))
    };
    let programs = sources.iter().filter(|source| is_program(source)).find_map(named);
    programs.or_else(|| sources.iter().find_map(named))
}

/// The place at which a program names a path such as `/data/`.
pub(super) fn naming(path: &str, sources: &[PortSource]) -> Option<String> {
    let named = |source: &PortSource| {
        let at = source.text.lines().position(|line| line.contains(path))?;
        Some(format!("{}:{}", source.name, at + 1))
    };
    sources.iter().filter(|source| is_program(source)).find_map(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(command: &str, variables: &[(&str, &str)], sources: &[(&str, &str)]) -> String {
        let words: Vec<String> = shell::words(command);
        let variables: Vec<_> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let source =
            |(name, text): &(&str, &str)| PortSource { name: (*name).to_owned(), text: (*text).to_owned() };
        let sources: Vec<PortSource> = sources.iter().map(source).collect();
        match find(&words, &variables, 8080, &sources) {
            Port::Command { words, .. } => words.join(" "),
            Port::Variable(name) => format!("variable {name}"),
            Port::Read { file } => format!("{file} reads it"),
            Port::Fixed { port, place } => format!("fixed {port} at {}", place.unwrap_or_default()),
        }
    }

    #[test]
    fn a_port_is_taken_from_where_the_program_takes_it() {
        let gunicorn = [("gunicorn_conf.py", "bind = '0.0.0.0:8080'")];
        for (command, variables, sources, wanted) in [
            (
                "uvicorn app:app --host 0.0.0.0 --port 8080",
                vec![],
                vec![],
                "uvicorn app:app --host 127.0.0.1 --port {port}",
            ),
            ("./a -l :8080 --id=18080 -v 8080.5", vec![], vec![], "./a -l :{port} --id=18080 -v 8080.5"),
            ("python3 app.py", vec![("APP_PORT", "8080")], vec![], "variable APP_PORT"),
            ("node app.js", vec![], vec![("app.js", "listen(process.env.PORT || 8080)")], "app.js reads it"),
            (
                "node app.js",
                vec![],
                vec![("app.js", "listen(8080)"), ("other.js", "listen(process.env.PORT || 8080)")],
                "fixed 8080 at app.js:1",
            ),
            (
                "gunicorn -c gunicorn_conf.py a:b",
                vec![],
                gunicorn.to_vec(),
                "gunicorn -c gunicorn_conf.py a:b --bind 127.0.0.1:{port}",
            ),
            (
                "./app",
                vec![],
                vec![("main.go", "\tbind := flag.String(\"bind\", \":8080\", \"where\")")],
                "./app -bind 127.0.0.1:{port}",
            ),
            (
                "python app.py",
                vec![],
                vec![("app.py", "p.add_option('-p', '--port', default=8080)")],
                "python app.py --port {port}",
            ),
            (
                "./app",
                vec![],
                vec![("other.py", "p.add_option('-p', '--port', default=8080)")],
                "fixed 8080 at other.py:1",
            ),
            (
                "/server",
                vec![],
                vec![("Cargo.json", "8080"), ("src/main.rs", "\nbind(\"0.0.0.0:8080\")")],
                "fixed 8080 at src/main.rs:2",
            ),
        ] {
            assert_eq!(found(command, &variables, &sources), wanted, "{command}");
        }
    }
}
