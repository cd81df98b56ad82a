//! The commands of the help, in groups by the question that they answer.

use std::fmt::Write as _;

use clap::Command;

/// In the order of the help. Each visible command is in one of them.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Your service", &["init", "compare", "why", "slo", "load", "verify", "bisect", "history"]),
    ("Frameworks", &["run", "list", "build", "catalogue"]),
    ("Results", &["show", "report", "site", "serve", "audit", "merge"]),
    ("Contracts and services of others", &["record", "adopt"]),
    ("Many machines", &["cluster", "agent"]),
    ("Set-up", &["doctor", "trust", "cache", "selftest", "examples", "completions", "man"]),
];

/// Printed in place of clap's one list of commands. The option headings follow.
const TEMPLATE: &str = "{before-help}{about-with-newline}\n{usage-heading} {usage}\n\n";

/// The command whose help has groups. Its subcommands are hidden in it, since clap would list them once more.
pub(crate) fn of(cli: Command) -> Command {
    let template = format!("{TEMPLATE}{}{{all-args}}{{after-help}}", listed(&cli));
    let usage = format!("{} [OPTIONS] <COMMAND>", cli.get_name());
    let names: Vec<String> = cli.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let hidden = names.into_iter().fold(cli, |cli, name| cli.mut_subcommand(name, |one| one.hide(true)));
    hidden.help_template(template).override_usage(usage)
}

fn listed(cli: &Command) -> String {
    let styles = cli.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut text = String::new();
    for (title, names) in GROUPS {
        // A build may leave out parts, and their commands.
        let mut commands =
            names.iter().filter_map(|name| Some((name, cli.find_subcommand(name)?))).peekable();
        if commands.peek().is_none() {
            continue;
        }
        let _ = writeln!(text, "{header}{title}:{header:#}");
        for (name, command) in commands {
            let about = command.get_about();
            let _ = writeln!(text, "  {literal}{name:<12}{literal:#} {}", about.cloned().unwrap_or_default());
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::{Cli, command::shown};

    #[test]
    fn each_visible_command_is_in_one_group_and_on_one_line() {
        let cli = Cli::command();
        let all = GROUPS.iter().flat_map(|(_, names)| *names).copied();
        let mut grouped: Vec<&str> = all.filter(|name| crate::parts::left_out(name).is_none()).collect();
        let mut visible: Vec<&str> = shown(&cli).map(Command::get_name).collect();
        let help = of(cli.clone()).render_help().to_string();
        for name in &visible {
            let line = help.lines().find(|line| line.starts_with(&format!("  {name} "))).unwrap();
            assert!(line.len() <= 98, "{line}");
        }
        assert!(!help.contains(":\n\n"), "a heading without commands: {help}");
        grouped.sort_unstable();
        visible.sort_unstable();
        assert_eq!(grouped, visible);
        assert!(help.contains("Usage: tare [OPTIONS] <COMMAND>") && !help.contains("Commands:"), "{help}");
    }
}
