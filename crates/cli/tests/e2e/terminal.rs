//! `tare run` on a terminal: a pseudo terminal made by `script` of util-linux, which every Debian has.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
};

use rustix::process::Signal;

use crate::support::{USUAL, Workspace, carrying, experiment, journal, send, within};

const SERVICES: [&str; 2] = ["raw-socket", "honest"];

/// Runs experiments/tiny.toml into the folder `out` on a terminal of 24 lines. `typescript` gets the
/// terminal's output, `table` gets the table; `before` and `after` get the terminal's settings.
fn start(workspace: &Workspace, blocks: usize, budget: &str, term: &str) -> Child {
    let experiment = experiment(&SERVICES, blocks).replace("\"0s\"", &format!("{budget:?}"));
    workspace.write("experiments/tiny.toml", &experiment);
    let tare = env!("CARGO_BIN_EXE_tare");
    let run = format!("echo $$ > pid; exec '{tare}' run experiments/tiny.toml --out out > table");
    let words =
        format!("stty rows 24 cols 80; stty -a > before; (sh -c \"{run}\"); echo $? > code; stty -a > after");
    let mut script = Command::new("script");
    script.args(["--quiet", "--flush", "--command", &words.replace("$$", "\\$\\$"), "typescript"]);
    script.current_dir(workspace.root()).env("TERM", term).env("SHELL", "/bin/sh").env_remove("NO_COLOR");
    script.env("TARE_TRUST", "1");
    script.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    script.spawn().expect("`script` is in the package bsdutils")
}

fn read(folder: &Path, name: &str) -> String {
    String::from_utf8_lossy(&fs::read(folder.join(name)).unwrap_or_default()).into_owned()
}

/// Waits for the end, and checks that no process and no changed terminal setting is left. Returns the exit
/// status and the terminal's output.
fn ended(workspace: &Workspace, mut script: Child) -> (String, String) {
    let folder = workspace.root();
    let has_ended = within(USUAL, || script.try_wait().unwrap().is_some());
    if !has_ended {
        send(read(folder, "pid").trim().parse().unwrap(), Signal::KILL);
        script.kill().unwrap();
        script.wait().unwrap();
    }
    let told = read(folder, "typescript");
    assert!(has_ended, "did not end within {USUAL:?}: {told}");
    let group = format!("TARE_GROUP=tare-{}-", read(folder, "pid").trim());
    assert_eq!(carrying(&group), Vec::<u32>::new(), "left running");
    assert_eq!(read(folder, "before"), read(folder, "after"), "{told}");
    assert!(!read(folder, "before").is_empty());
    // No hidden cursor, no alternate screen, no query: nothing that would have to be restored.
    assert!(!told.contains("\x1b[?"), "{told:?}");
    (read(folder, "code").trim().to_owned(), told)
}

#[test]
fn a_terminal_shows_a_run_and_is_left_as_it_was() {
    let workspace = Workspace::new(&[("honest", "correct")]);
    let script = start(&workspace, 3, "0s", "xterm");
    let (code, told) = ended(&workspace, script);
    assert!(["0", "4"].contains(&code.as_str()), "{code}: {told}");
    for text in ["Tiny", "block 1 of 3, ", "warming up ", "block 3 of 3, ", "of reference", "  honest"] {
        assert!(told.contains(text), "no {text:?}: {told:?}");
    }
    // The view is erased, and the final table is data.
    let last = told.rsplit("\x1b[J").next().unwrap();
    assert!(!last.contains("block ") && last.contains("stored in "), "{last:?}");
    let table = read(workspace.root(), "table");
    assert!(table.starts_with("Tiny\n") && table.contains("\nBlocks   3\n"), "{table:?}");
    assert!(!table.contains('\x1b'), "{table:?}");
}

#[test]
fn why_a_service_does_not_come_up_stays_above_the_view() {
    let workspace = Workspace::new(&[("honest", "slow-start")]);
    let script = start(&workspace, 1, "0s", "xterm");
    let (code, told) = ended(&workspace, script);
    assert!(["0", "4", "5"].contains(&code.as_str()), "{code}: {told}");
    let why = "honest: it listens on no port yet; waiting until 10s after its start";
    assert_eq!(told.matches(why).count(), 1, "once, however often it is started: {told:?}");
}

#[test]
fn a_signal_takes_the_view_away() {
    let workspace = Workspace::new(&[("honest", "correct")]);
    let mut script = start(&workspace, 1000, "1h", "xterm");
    let run = workspace.root().join("out");
    let in_second_block = |record: &serde_json::Value| record["kind"] == "sample" && record["block"] == 1;
    within(USUAL, || journal(&run).iter().any(in_second_block) || script.try_wait().unwrap().is_some());
    send(read(workspace.root(), "pid").trim().parse().unwrap(), Signal::TERM);
    let (code, told) = ended(&workspace, script);
    assert_eq!(code, "143", "{told}");
    let last = told.rsplit("\x1b[J").next().unwrap();
    assert!(!last.contains("block ") && last.contains("stored in "), "{last:?}");
    assert!(read(workspace.root(), "table").contains(": interrupted\n"));
}

#[test]
fn a_terminal_that_cannot_move_its_cursor_has_plain_lines() {
    let workspace = Workspace::new(&[("honest", "correct")]);
    let script = start(&workspace, 3, "0s", "dumb");
    let (code, told) = ended(&workspace, script);
    assert!(["0", "4"].contains(&code.as_str()), "{code}: {told}");
    assert!(told.contains("measuring: about ") && !told.contains("block 3 of 3"), "{told:?}");
    assert!(!told.contains("\x1b[J") && !told.contains("\x1b[K"), "{told:?}");
}
