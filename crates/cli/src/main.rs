//! The command `tare`: measures HTTP frameworks beside a raw socket.
#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]
// What only a part needs is unused where that part is left out.
#![cfg_attr(not(feature = "parts"), allow(dead_code, unused_imports))]

mod command;
mod exit;
mod groups;
mod memory;
mod output;
mod parts;
mod progress;
mod tools;
mod trust;
mod workspace;

use std::{process::ExitCode, time::SystemTime};

use clap::{
    CommandFactory, FromArgMatches, Parser, Subcommand,
    error::{ContextKind, ContextValue},
};

/// The allocator of a static program: musl's own returns memory to the kernel, and asks for it again, at each record of TLS that the raw
/// socket sends.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A benchmark of HTTP frameworks: what does each one cost, compared with a raw socket?
///
/// Tare builds one service per framework, verifies that all of them answer the same requests in the same way, loads them in
/// turns, and prints throughput, CPU time, latency and memory with confidence intervals.
#[derive(Debug, Parser)]
#[command(name = "tare", version, disable_version_flag = true, max_term_width = 110, after_help = exit::HELP)]
struct Cli {
    /// Print version; with --verbose also how it was built, and what the kernel gives it
    #[arg(short = 'V', long, action = clap::ArgAction::Version)]
    version: Option<bool>,
    #[command(flatten)]
    global: workspace::Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(command::init::Args),
    Compare(Box<command::compare::Args>),
    Slo(command::slo::Args),
    Load(Box<parts::load::Args>),
    Verify(command::verify::Args),
    Bisect(Box<command::bisect::Args>),
    History(command::history::Args),

    Run(Box<command::run::Args>),
    List(command::list::Args),
    Build(command::build::Args),
    Catalogue(command::catalogue::Args),

    Show(command::show::Args),
    Report(command::report::Args),

    Doctor(command::doctor::Args),
    Trust(command::trust::Args),
    Cache(command::cache::Args),
    Selftest(command::selftest::Args),
    Examples(command::examples::Args),
    Completions(command::completions::Args),
    Man(command::man::Args),

    #[command(hide = true)]
    RawSocket(command::raw_socket::Args),
    #[command(hide = true)]
    Data(command::data::Args),
    #[command(flatten)]
    Part(parts::PartCommand),
    /// The watchdog: it outlives a tare that was killed, and kills what that had started. Started by tare, not by people
    #[command(hide = true)]
    Watchdog,
    #[command(hide = true)]
    Upstream(command::upstream::Args),
    /// The first process of a service's process namespace. Started by tare, not by people
    #[command(hide = true)]
    ServiceInit {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<std::ffi::OsString>,
    },
}

impl Command {
    /// Whether it may build, or take out revisions.
    fn fills_the_cache(&self) -> bool {
        use Command::{Bisect, Build, Compare, History, Init, Load, Run, Slo, Verify};
        matches!(
            self,
            Bisect(_) | Build(_) | Compare(_) | History(_) | Init(_) | Load(_) | Run(_) | Slo(_) | Verify(_)
        )
    }
}

fn main() -> ExitCode {
    // If this fails, a write beyond the file-size limit kills Tare, like any other program.
    let _ends_it = tare_host::signals::survive_the_limit_of_a_file();
    if let Err(error) = memory::check() {
        return exit::of(Err(error));
    }
    let began = SystemTime::now();
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if command::version::is_verbose(&arguments) {
        return exit::of(command::version::run(&parts::listed()));
    }
    let mut cli = match parse() {
        Ok(cli) => cli,
        Err(error) => return exit::of_usage(&error),
    };
    cli.global.readers = parts::READERS;
    let (global, fills) = (&cli.global, cli.command.fills_the_cache());
    if let Ok(cache) = global.cache() {
        tools::enter(&cache);
    }
    let outcome = match cli.command {
        Command::Init(args) => command::init::run(global, &args),
        Command::Run(args) => command::run::run(global, *args, parts::RUN_AGENTS, parts::WHY),
        Command::Compare(args) => command::compare::run(global, *args, Some(parts::WHY)),
        Command::Load(args) => parts::load::run(global, *args),
        Command::History(args) => command::history::run(global, args, parts::WHY),
        Command::Bisect(args) => command::bisect::run(global, *args, parts::WHY),
        Command::Slo(args) => command::slo::run(global, args, parts::RUN_AGENTS),
        Command::Show(args) => command::show::run(global, args, parts::MERGED),
        Command::Report(args) => command::report::run(global, &args, parts::MERGED, parts::PARQUET),
        Command::Part(command) => command.run(global),
        Command::Verify(args) => command::verify::run(global, args),
        Command::Data(args) => command::data::run(global, &args),
        Command::Build(args) => command::build::run(global, args),
        Command::Catalogue(args) => command::catalogue::run(global, &args),
        Command::List(args) => command::list::run(global, args, parts::PRINT_FOOTPRINTS),
        Command::Doctor(args) => command::doctor::run(global, &args),
        Command::Selftest(args) => command::selftest::run(global, args),
        Command::Trust(args) => command::trust::run(global, &args),
        Command::Cache(args) => command::cache::run(global, &args),
        Command::RawSocket(args) => command::raw_socket::run(global, args),
        Command::Examples(args) => command::examples::run(&Cli::command(), &args),
        Command::Completions(args) => command::completions::run(Cli::command(), &args),
        Command::Man(args) => command::man::run(Cli::command(), &args),
        Command::Upstream(args) => command::upstream::run(&args),
        Command::Watchdog => {
            tare_host::process::watchdog::main(std::io::stdin(), std::io::stdout());
            Ok(exit::Outcome::Fine)
        }
        Command::ServiceInit { command } => {
            return tare_host::process::init::main(&command).into();
        }
    };
    if fills {
        command::cache::warn_of_growth(global, began);
    }
    exit::of(outcome)
}

/// The command line, or the error with what helps.
fn parse() -> Result<Cli, clap::Error> {
    let found = groups::of(Cli::command()).try_get_matches().and_then(|found| Cli::from_arg_matches(&found));
    found.map_err(|mut error| {
        if command_asked().is_some_and(|command| command == "load") {
            command::load::advise(&mut error);
        }
        match left_out(&error) {
            Some(left_out) => Cli::command().error(error.kind(), left_out),
            None => {
                suggest_nearest(&mut error);
                error
            }
        }
    })
}

/// The first argument that is a command.
fn command_asked() -> Option<String> {
    let cli = Cli::command();
    std::env::args().skip(1).find(|argument| cli.find_subcommand(argument).is_some())
}

/// What is said of the unknown command or option if a part has it that this build leaves out.
fn left_out(error: &clap::Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let of_command = || Some(format!("{} {}", command_asked()?, text(ContextKind::InvalidArg)?));
    let asked = text(ContextKind::InvalidSubcommand).map(str::to_owned).or_else(of_command)?;
    parts::left_out(&asked)
}

/// Suggests the one command nearest to an unknown word. clap lists all that are somewhat similar, the least
/// similar first.
fn suggest_nearest(error: &mut clap::Error) {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidSubcommand) else { return };
    let cli = Cli::command();
    let names: Vec<&str> = command::shown(&cli).map(clap::Command::get_name).collect();
    let above = command::shown(&cli).find(|command| command.find_subcommand(given).is_some());
    let nested = above.map(|command| format!("{} {given}", command.get_name()));
    let nearest = || tare_base::spelling::nearest(given, names).map(str::to_owned);
    if let Some(name) = nested.or_else(nearest) {
        let tip = ContextValue::Strings(vec![name]);
        error.insert(ContextKind::SuggestedSubcommand, tip);
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::{Cli, suggest_nearest};

    #[test]
    fn a_mistyped_command_is_met_with_the_nearest_one() {
        for (given, meant) in [
            ("comapre", "compare"),
            ("compre", "compare"),
            ("completion", "completions"),
            ("biscet", "bisect"),
            ("hsitory", "history"),
            ("vefiry", "verify"),
            ("lsit", "list"),
            ("raport", "report"),
            ("submit", "cluster submit"),
        ] {
            if super::parts::left_out(meant.split(' ').next().unwrap()).is_some() {
                continue;
            }
            let mut error = Cli::try_parse_from(["tare", given]).unwrap_err();
            suggest_nearest(&mut error);
            let text = error.to_string();
            assert!(text.contains(&format!("'{meant}'")), "{text}");
            assert_eq!(text.matches("exists:").count(), 1, "{text}");
            assert!(!text.contains("some similar"), "{text}");
        }
    }

    #[test]
    fn every_help_ends_with_examples() {
        let mut cli = Cli::command();
        cli.build();
        let shown = |command: &&mut clap::Command| !command.is_hide_set() && command.get_name() != "help";
        for command in cli.get_subcommands_mut().filter(shown) {
            let help = command.render_long_help().to_string();
            assert!(help.contains("\nExamples:\n  tare "), "tare {}", command.get_name());
        }
        assert!(cli.render_help().to_string().contains("\nExamples:\n  tare "));
    }
}
