//! Checks that the guide's page of commands equals the output of `--help`.

use std::path::Path;

use crate::support::helps;

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
    let all: String = helps().iter().map(|(command, help)| section(command, help)).collect();
    format!("{HEAD}{all}")
}

fn section(title: &str, help: &str) -> String {
    let lines: Vec<&str> = help.trim().lines().map(str::trim_end).collect();
    format!("\n## {title}\n```text\n{}\n```\n", lines.join("\n"))
}
