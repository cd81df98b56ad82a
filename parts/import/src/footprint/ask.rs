//! Runs other programs for their stdout, with a time limit.

use std::{ffi::OsStr, path::Path, process::Command, time::Duration};

use tare_host::process::Query;

/// Time limit: cargo may have to wait for another cargo.
const LIMIT: Duration = Duration::from_secs(20);

/// A program's stdout, whatever its status: it may report a part. Empty if it cannot be run.
pub(super) fn ask<A: AsRef<OsStr>>(
    folder: &Path,
    program: &str,
    arguments: impl IntoIterator<Item = A>,
) -> String {
    let mut command = Command::new(program);
    // The output is parsed, so it must not be in the user's language.
    command.args(arguments).current_dir(folder).env("LC_ALL", "C");
    let output = Query::put(&mut command, LIMIT).and_then(Query::answer);
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_answers_in_its_folder_and_in_one_language() {
        let folder = tempfile::tempdir().unwrap();
        let script = "pwd; echo $LC_ALL; echo no answer >&2; exit 3";
        let text = ask(folder.path(), "sh", ["-c", script]);
        let expected = format!("{}\nC\n", folder.path().canonicalize().unwrap().display());
        assert_eq!(text, expected);
        assert_eq!(ask(folder.path(), "no-such-program", [""; 0]), "");
    }

    #[test]
    fn a_program_may_print_much_and_no_utf_8() {
        let text = ask(Path::new("/"), "sh", ["-c", "yes | head -c 200000; printf '\\377'"]);
        assert_eq!((text.chars().count(), text.chars().last()), (200_001, Some('\u{fffd}')));
    }
}
