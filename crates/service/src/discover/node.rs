//! Discovers Node services in `package.json`.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Guess, text};
use crate::install;

const FILE: &str = "package.json";
/// Packages of frameworks, and the frameworks' names.
const FRAMEWORKS: [(&str, &str); 9] = [
    ("@nestjs/core", "NestJS"),
    ("next", "Next.js"),
    ("fastify", "Fastify"),
    ("express", "Express"),
    ("koa", "Koa"),
    ("hono", "Hono"),
    ("restify", "Restify"),
    ("polka", "Polka"),
    ("@hapi/hapi", "hapi"),
];

pub(super) fn guesses(folder: &Path) -> Vec<Guess> {
    let Some(package) = text(folder, FILE).and_then(|text| serde_json::from_str::<Value>(&text).ok()) else {
        return without_a_package(folder);
    };
    let depends = |name: &str| !package["dependencies"][name].is_null();
    let framework = FRAMEWORKS.iter().find(|(name, _)| depends(name)).map_or("Node", |(_, name)| name);
    let start = package["scripts"]["start"].as_str();
    let main = package["main"].as_str().filter(|main| folder.join(main).is_file());
    // npm would be a process between Tare and the program, so a simple script is started without npm.
    let is_program = |script: &str| script.starts_with("node ") && !script.contains(['&', '|', ';']);
    let by_script = start.map(|script| match is_program(script) {
        true => script.to_owned(),
        false => "npm start".to_owned(),
    });
    let commands = by_script.into_iter().chain(main.map(|main| format!("node {main}")));
    let guess = |command| Guess {
        what: framework.to_owned(),
        file: PathBuf::from(FILE),
        build: install::of_node(folder).map(|found| found.steps).unwrap_or_default(),
        command,
    };
    commands.map(guess).collect()
}

/// A single file needs no package.
fn without_a_package(folder: &Path) -> Vec<Guess> {
    let names = ["server.js", "server.mjs", "app.js", "index.js", "main.js"];
    let there = names.into_iter().find(|name| folder.join(name).is_file());
    let guess = |name: &str| Guess {
        what: "Node".to_owned(),
        file: PathBuf::from(name),
        command: format!("node {name}"),
        ..Guess::default()
    };
    there.map(guess).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::guessed;

    #[test]
    fn a_script_that_is_a_program_is_started_without_npm() {
        let of = |text: &str| guessed(&[("package.json", text), ("app.js", ""), ("package-lock.json", "")]);
        assert_eq!(
            of(r#"{"scripts": {"start": "node app.js"}, "dependencies": {"express": "5"}}"#),
            ["Express (package.json): npm ci && node app.js"]
        );
        assert_eq!(
            of(r#"{"scripts": {"start": "NODE_ENV=x node app.js", "build": "tsc"}, "main": "app.js"}"#),
            [
                "Node (package.json): npm ci && npm run build && npm start",
                "Node (package.json): npm ci && npm run build && node app.js"
            ]
        );
        assert_eq!(guessed(&[("server.js", "")]), ["Node (server.js): node server.js"]);
        assert!(of("no json").len() == 1, "then the file is looked at");
    }
}
