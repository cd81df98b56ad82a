//! Before the commands that the files of a repository name are run for the first time, the user is asked.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    io::{BufRead, IsTerminal},
    path::Path,
};

use anyhow::{Context, bail};
use tare_host::foreign::quotable;
use tare_service::{
    catalogue::{GitSource, Service},
    workspace::Workspace,
};

/// A question shows this number of the commands; `tare trust --show` has them all.
const SHOWN: usize = 8;

/// Before anything runs for `services`: whether it may. On a terminal the user is asked.
pub(crate) fn ask<'s>(
    workspace: &Workspace,
    services: impl IntoIterator<Item = &'s Service>,
) -> anyhow::Result<()> {
    let services: Vec<&Service> = services.into_iter().collect();
    for folder in workspace.not_allowed(services.iter().copied()) {
        let of_folder = services.iter().copied().filter(|service| workspace.unit_of_trust(service) == folder);
        let commands = commands(of_folder);
        let is_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        if !is_terminal {
            bail!("{}", refusal(&folder, &commands));
        }
        tare_host::tell!("{}", question(&folder, &commands));
        if !is_yes(std::io::stdin().lock())? {
            bail!("{}: its commands are not allowed to run", folder.display());
        }
        workspace.trust().add(&folder).with_context(|| folder.display().to_string())?;
    }
    Ok(())
}

fn refusal(folder: &Path, commands: &BTreeSet<String>) -> String {
    format!(
        "{folder}: its files name commands that have not been allowed on this machine, such as `{first}`; `tare trust --show` prints \
         them, and `tare trust {folder}` allows them (or `--trust` for one command, TARE_TRUST=1 in CI)",
        folder = folder.display(),
        first = commands.first().map_or("", String::as_str),
    )
}

fn question(folder: &Path, commands: &BTreeSet<String>) -> String {
    let mut text = format!(
        "{}: its files name commands that have not been allowed on this machine.\n",
        folder.display()
    );
    for command in commands.iter().take(SHOWN) {
        let _a_string_takes_it = writeln!(text, "  {command}");
    }
    if commands.len() > SHOWN {
        let _a_string_takes_it = writeln!(text, "  and {} others: tare trust --show", commands.len() - SHOWN);
    }
    text + "Run them, now and later? [y/N]"
}

fn is_yes(mut input: impl BufRead) -> std::io::Result<bool> {
    let mut answer = String::new();
    input.read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// Whatever is run for services of files: what they need, how they are built and started, and how they say their version.
pub(crate) fn commands<'s>(services: impl IntoIterator<Item = &'s Service>) -> BTreeSet<String> {
    let written = services.into_iter().filter(|service| !service.typed && service.running.is_none());
    let of = |service: &'s Service| {
        let required = service.requires.iter().map(|required| &required.command);
        let built = service.build.iter().map(|step| &step.command);
        let own = [&service.run.command, &service.version.command];
        let written = required.chain(built).chain(own).filter(|words| !words.is_empty()).cloned();
        let fetched = service.sources.iter().map(GitSource::command);
        written.chain(fetched).map(|words| line(&words))
    };
    written.flat_map(of).collect()
}

/// As a shell would take it. The words are of others.
fn line(words: &[String]) -> String {
    let quoted = shlex::try_join(words.iter().map(String::as_str));
    quotable(&quoted.unwrap_or_else(|_| words.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        for (answer, yes) in [("y\n", true), ("Yes \n", true), ("", false), ("\n", false), ("yep\n", false)] {
            assert_eq!(is_yes(answer.as_bytes()).unwrap(), yes, "{answer:?}");
        }
    }

    #[test]
    fn a_question_has_some_of_the_commands_and_says_where_the_others_are() {
        let commands: BTreeSet<String> = (0..10).map(|number| format!("make {number}")).collect();
        insta::assert_snapshot!(question(Path::new("/repositories/shop"), &commands), @r"
        /repositories/shop: its files name commands that have not been allowed on this machine.
          make 0
          make 1
          make 2
          make 3
          make 4
          make 5
          make 6
          make 7
          and 2 others: tare trust --show
        Run them, now and later? [y/N]
        ");
        let refused = refusal(Path::new("/repositories/shop"), &commands);
        assert!(
            refused.starts_with("/repositories/shop: its files name commands that have not been allowed"),
            "{refused}"
        );
        assert!(
            refused.contains("such as `make 0`; ")
                && refused.contains("`tare trust /repositories/shop` allows them"),
            "{refused}"
        );
    }
}
