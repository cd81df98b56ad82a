//! The help of `tare` and of each of its visible commands.

use std::process::Command;

/// Each command, such as `tare cluster plan`, with its help. The first is `tare` itself.
pub fn helps() -> Vec<(String, String)> {
    let mut found = Vec::new();
    enter(&mut found, &[]);
    found
}

fn enter(found: &mut Vec<(String, String)>, command: &[&str]) {
    let text = help(&[command, &["--help"]].concat());
    found.push(([&["tare"], command].concat().join(" "), text.clone()));
    for name in commands(&text) {
        enter(found, &[command, &[name]].concat());
    }
}

/// The names in the lists of commands, which stand between the usage and the arguments or options.
fn commands(help: &str) -> impl Iterator<Item = &str> {
    let end = |line: &&str| !["Arguments:", "Options:"].contains(line);
    let listed = help.lines().skip_while(|line| !line.starts_with("Usage:")).skip(1).take_while(end);
    let first = listed.filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')));
    first
        .filter_map(|line| line.split(' ').next())
        .filter(|name| *name != "help" && name.starts_with(|first: char| first.is_ascii_lowercase()))
}

/// Without any environment variables of the command.
fn help(words: &[&str]) -> String {
    let mut tare = Command::new(env!("CARGO_BIN_EXE_tare"));
    for variable in ["TARE_ROOT", "TARE_HOME", "TARE_TRUST", "PORT", "THREADS", "COLUMNS", "CLICOLOR_FORCE"] {
        tare.env_remove(variable);
    }
    let output = tare.args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}");
    String::from_utf8(output.stdout).unwrap()
}
