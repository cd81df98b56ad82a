//! The text of a new `tare.toml`, as a person would write it.

use std::path::{Path, PathBuf};

use tare_service::{catalogue::Step, discover::Guess};

/// The contents of the file.
pub(super) struct ProjectText<'a> {
    pub name: &'a str,
    pub guess: &'a Guess,
    /// The base branch of pull requests.
    pub base: &'a str,
    /// Whether there is a contract yet, which a gate needs.
    pub has_contract: bool,
}

/// The folder of contracts. Its name has no other meaning in a repository.
const CONTRACTS: &str = "tare";

pub(super) fn contract(name: &str) -> PathBuf {
    Path::new(CONTRACTS).join(format!("{name}.toml"))
}

impl ProjectText<'_> {
    pub(super) fn text(&self) -> String {
        let name = self.name;
        let contracts = match self.has_contract {
            true => {
                format!("contracts = [{}]   # a folder: what the service must answer\n", quoted(CONTRACTS))
            }
            false => String::new(),
        };
        let service = format!(
            "[service.{name}]\ncommand = {}\n{}",
            quoted(&self.guess.command),
            build(&self.guess.build)
        );
        let gate = if self.has_contract { self.gate() } else { String::new() };
        format!("# What `tare` measures here.\nformat    = \"1.0\"\n{contracts}\n{service}{gate}")
    }

    fn gate(&self) -> String {
        let (name, base) = (self.name, quoted(self.base));
        format!(
            "\n# `tare compare --gate {name}`: is this branch more expensive than where it began?\n[gate.{name}]\n\
             service = \"{name}\"\nbase    = {base}\nmetrics = [\"cpu\"]   # CPU time per request: steady on shared machines\n\
             delta   = \"3%\"      # the smallest regression that matters\nbudget  = \"2m\"\nagain   = true      # also against itself: \
             what can this machine see?\nfail-on = \"regression\"\n"
        )
    }
}

fn build(steps: &[Step]) -> String {
    let step = |step: &Step| {
        let words: Vec<String> = step.command.iter().map(|word| quoted(word)).collect();
        let network = if step.network { ", network = true" } else { "" };
        format!("    {{ command = [{}]{network} }},\n", words.join(", "))
    };
    let steps: Vec<String> = steps.iter().map(step).collect();
    if steps.is_empty() { String::new() } else { format!("build = [\n{}]\n", steps.concat()) }
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_can_read_it() {
        let guess = Guess {
            command: ".venv/bin/uvicorn api:app --port {port}".to_owned(),
            build: vec![
                Step { command: vec!["python3".into(), "-m".into(), "venv".into()], ..Step::default() },
                Step { command: vec!["pip".into(), "a \"b\"".into()], network: true, ..Step::default() },
            ],
            ..Guess::default()
        };
        let text = ProjectText { name: "shop", guess: &guess, base: "origin/main", has_contract: true };
        insta::assert_snapshot!(text.text());
    }
}
