//! Asks the user before the commands in the files of a repository run for the first time.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    io::{BufRead, IsTerminal},
};

use anyhow::{Context, bail};
use tare_host::foreign::quotable;
use tare_service::{
    catalogue::Service,
    workspace::{NamedCommand, Purpose, TrustQuestion, Workspace},
};

/// The most commands that a question shows; `tare trust --show` prints all.
const SHOWN: usize = 8;

/// Checks that the commands of `services` may run. On a terminal the user is asked.
pub(crate) fn ask<'s>(
    workspace: &Workspace,
    services: impl IntoIterator<Item = &'s Service>,
) -> anyhow::Result<()> {
    for asked in workspace.not_allowed(services) {
        let is_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        if !is_terminal {
            bail!("{}", refusal(&asked));
        }
        tare_host::message!("{}", question(&asked));
        let TrustQuestion { folder, new, .. } = asked;
        if !is_yes(std::io::stdin().lock())? {
            bail!("{}: its commands are not allowed to run", folder.display());
        }
        workspace.trust().allow(&folder, new).with_context(|| folder.display().to_string())?;
    }
    Ok(())
}

fn refusal(asked: &TrustQuestion) -> String {
    let TrustQuestion { folder, new, gone } = asked;
    let first = |commands: &BTreeSet<NamedCommand>| commands.first().map(line).unwrap_or_default();
    let which = match gone.is_empty() {
        true => format!("such as `{}`", first(new)),
        false => format!("such as `{}` in place of `{}`", first(new), first(gone)),
    };
    let folder = folder.display();
    let way = match ["tare.toml", "service.toml"].iter().any(|name| asked.folder.join(name).is_file()) {
        true => format!(
            "`tare trust --show {folder}` prints them, and `tare trust {folder}` allows them (or `--trust` for one command, \
             TARE_TRUST=1 in CI)"
        ),
        // `tare trust --show` cannot print commands that Tare derived itself, such as package installation.
        false => "`--trust` allows them for one command (TARE_TRUST=1 in CI)".to_owned(),
    };
    format!("{folder}: its files name commands that have not been allowed on this machine, {which}; {way}")
}

fn question(TrustQuestion { folder, new, gone }: &TrustQuestion) -> String {
    let what = if gone.is_empty() { "have not been allowed" } else { "have changed since they were allowed" };
    let mut text = format!("{}: its files name commands that {what} on this machine.\n", folder.display());
    let (plus, minus) = if gone.is_empty() { (" ", " ") } else { ("+", "-") };
    let gone = gone.iter().map(|command| (minus, command));
    let lines: Vec<String> = gone
        .chain(new.iter().map(|command| (plus, command)))
        .map(|(mark, command)| format!("{mark} {}", line(command)))
        .collect();
    for line in lines.iter().take(SHOWN) {
        let _a_string_takes_it = writeln!(text, "{line}");
    }
    if lines.len() > SHOWN {
        let _a_string_takes_it =
            writeln!(text, "  and {} others: tare trust --show {}", lines.len() - SHOWN, folder.display());
    }
    text + "Run them, now and later? [y/N]"
}

fn is_yes(mut input: impl BufRead) -> std::io::Result<bool> {
    let mut answer = String::new();
    input.read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// The folder, the purpose, and the command in shell syntax. The texts come from others, so they are escaped.
pub(crate) fn line(command: &NamedCommand) -> String {
    let folder = match command.folder.as_os_str().is_empty() {
        true => ".".to_owned(),
        false => command.folder.display().to_string(),
    };
    let shell = |word: &String| shlex::try_quote(word).map_or_else(|_| word.clone(), Into::into);
    let set = command.env.iter().map(|(name, value)| format!("{name}={}", shell(value)));
    let words: Vec<String> = set.chain(command.words.iter().map(shell)).collect();
    let quoted = words.join(" ");
    quotable(&format!("{folder}: {}: {quoted}", purpose(command.purpose)))
}

fn purpose(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Require => "asks",
        Purpose::Fetch => "fetches",
        Purpose::Build => "builds",
        Purpose::Version => "asks the version",
        Purpose::Start => "starts",
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        for (answer, yes) in [("y\n", true), ("Yes \n", true), ("", false), ("\n", false), ("yep\n", false)] {
            assert_eq!(is_yes(answer.as_bytes()).unwrap(), yes, "{answer:?}");
        }
    }

    fn command(words: &str, env: &[(&str, &str)]) -> NamedCommand {
        NamedCommand {
            folder: PathBuf::from("services/shop"),
            purpose: Purpose::Build,
            words: words.split(' ').map(str::to_owned).collect(),
            env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        }
    }

    fn asked(
        new: impl IntoIterator<Item = NamedCommand>,
        gone: impl IntoIterator<Item = NamedCommand>,
    ) -> TrustQuestion {
        TrustQuestion {
            folder: PathBuf::from("/repositories/shop"),
            new: new.into_iter().collect(),
            gone: gone.into_iter().collect(),
        }
    }

    #[test]
    fn a_question_has_some_of_the_commands_and_says_where_the_others_are() {
        let asked = asked((0..10).map(|number| command(&format!("make {number}"), &[])), []);
        insta::assert_snapshot!(question(&asked), @r"
        /repositories/shop: its files name commands that have not been allowed on this machine.
          services/shop: builds: make 0
          services/shop: builds: make 1
          services/shop: builds: make 2
          services/shop: builds: make 3
          services/shop: builds: make 4
          services/shop: builds: make 5
          services/shop: builds: make 6
          services/shop: builds: make 7
          and 2 others: tare trust --show /repositories/shop
        Run them, now and later? [y/N]
        ");
        let refused = refusal(&asked);
        assert!(
            refused.starts_with("/repositories/shop: its files name commands that have not been allowed"),
            "{refused}"
        );
        assert!(
            refused.contains("such as `services/shop: builds: make 0`; ")
                && refused.contains("`--trust` allows them for one command"),
            "{refused}"
        );
    }

    #[test]
    fn what_changed_is_shown_as_a_difference_with_its_variables() {
        let asked = asked([command("make all", &[("LD_PRELOAD", "./a b.so")])], [command("make", &[])]);
        insta::assert_snapshot!(question(&asked), @r"
        /repositories/shop: its files name commands that have changed since they were allowed on this machine.
        - services/shop: builds: make
        + services/shop: builds: LD_PRELOAD='./a b.so' make all
        Run them, now and later? [y/N]
        ");
        assert!(
            refusal(&asked).contains("make all` in place of `services/shop: builds: make`; "),
            "{}",
            refusal(&asked)
        );
    }
}
