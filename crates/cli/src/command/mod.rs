//! One file per command.

pub(crate) mod asked;
pub(crate) mod bisect;
pub(crate) mod build;
pub(crate) mod cache;
pub(crate) mod catalogue;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod data;
pub(crate) mod doctor;
pub(crate) mod examples;
pub(crate) mod history;
pub(crate) mod init;
pub(crate) mod list;
pub(crate) mod load;
pub(crate) mod load_options;
pub(crate) mod man;
pub(crate) mod print;
pub(crate) mod raw_socket;
pub(crate) mod report;
pub(crate) mod revised;
pub(crate) mod run;
pub(crate) mod run_folders;
pub(crate) mod running;
pub(crate) mod selftest;
mod sent;
pub(crate) mod show;
pub(crate) mod slo;
pub(crate) mod start;
pub(crate) mod target;
pub(crate) mod trust;
pub(crate) mod turn;
pub(crate) mod upstream;
pub(crate) mod verify;
pub(crate) mod version;
pub(crate) mod words;

/// The visible commands, in the order of the help.
pub(crate) fn shown(cli: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    cli.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help")
}
