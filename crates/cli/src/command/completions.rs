//! `tare completions`: shell completions for `tare`, from the same definition as the help.

use clap_complete::{Shell, generate};

use crate::{exit::Outcome, output};

/// Print the completions of `tare` for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare completions bash > ~/.local/share/bash-completion/completions/tare
  tare completions zsh > ~/.zfunc/_tare              with ~/.zfunc in $fpath, before compinit
  tare completions fish > ~/.config/fish/completions/tare.fish

Exit codes: 0 fine, 1 usage error.")]
pub(crate) struct Args {
    /// The shell that reads them
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(cli: clap::Command, args: &Args) -> anyhow::Result<Outcome> {
    output::print_bytes(&of(cli, args.shell))?;
    Ok(Outcome::Fine)
}

fn of(mut cli: clap::Command, shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    generate(shell, &mut cli, "tare", &mut script);
    script
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, ValueEnum};

    use super::*;
    use crate::{Cli, command::shown};

    #[test]
    fn each_shell_completes_every_command() {
        for shell in Shell::value_variants() {
            let script = String::from_utf8(of(Cli::command(), *shell)).unwrap();
            for command in shown(&Cli::command()) {
                assert!(script.contains(command.get_name()), "{shell}: no {}", command.get_name());
            }
            assert!(script.contains("until") && script.contains("at-least"), "{shell}: no options");
        }
    }
}
