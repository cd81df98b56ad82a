//! Checks that the guide's page of commands equals the output of `--help`.

use std::path::Path;
use std::process::Command;

const HEAD: &str = "# Commands\n\n\
    What `--help` prints. The page is written by a test, and not by hand: after a change of a help text run\n\
    `INSTA_UPDATE=always cargo test -p tare-http --test e2e reference`.\n";

#[test]
fn the_page_of_commands_is_what_help_prints() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/commands.md");
    let page = page();
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(&path, &page).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    let differing = stored.lines().zip(page.lines()).find(|(stored, now)| stored != now);
    assert!(
        stored == page,
        "docs/reference/commands.md is out of date ({differing:?}): its second line says what to run"
    );
}

fn page() -> String {
    let overview = help(&["--help"]);
    let sections =
        commands(&overview).map(|command| section(&format!("tare {command}"), &help(&[command, "--help"])));
    let all: String = std::iter::once(section("tare", &overview)).chain(sections).collect();
    format!("{HEAD}{all}")
}

/// The names below "Commands:"; more indented lines continue the line before.
fn commands(overview: &str) -> impl Iterator<Item = &str> {
    let listed =
        overview.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let first = listed.filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')));
    first.filter_map(|line| line.split(' ').next()).filter(|name| *name != "help")
}

fn section(title: &str, help: &str) -> String {
    let lines: Vec<&str> = help.trim().lines().map(str::trim_end).collect();
    format!("\n## {title}\n```text\n{}\n```\n", lines.join("\n"))
}

/// The help, without any environment variables of the command.
fn help(words: &[&str]) -> String {
    let mut tare = Command::new(env!("CARGO_BIN_EXE_tare"));
    for variable in ["TARE_ROOT", "TARE_HOME", "TARE_TRUST", "PORT", "THREADS", "COLUMNS", "CLICOLOR_FORCE"] {
        tare.env_remove(variable);
    }
    let output = tare.args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}");
    String::from_utf8(output.stdout).unwrap()
}
