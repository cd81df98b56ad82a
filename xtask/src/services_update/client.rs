//! Runs an ecosystem's client in a service's folder, with a deadline, and reports in one line why it failed.
//!
//! The deadline is that of coreutils' `timeout`, in the foreground, so that Ctrl-C ends the client too.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};

/// How long one question may take.
pub(super) const SECONDS: u32 = 60;

/// What a client printed.
#[derive(Debug)]
pub(super) struct Printed {
    pub stdout: String,
    pub stderr: String,
}

/// The output of the command in this folder, if it succeeds.
pub(super) fn run(folder: &Path, words: &[&str]) -> Result<Printed> {
    let output = Command::new("timeout")
        .args(["--foreground", "--kill-after=5", &SECONDS.to_string()])
        .args(words)
        .current_dir(folder)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .context("cannot run timeout")?;
    judged(words[0], &output)
}

fn judged(program: &str, output: &Output) -> Result<Printed> {
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.code() {
        Some(0) => Ok(Printed { stdout, stderr }),
        Some(124 | 137) => bail!("{program} gave no answer within {SECONDS} s"),
        Some(126 | 127) => bail!("{program} is not on this machine"),
        _ => bail!(
            "{program}: {}",
            reason(&stderr).or(reason(&stdout)).unwrap_or("failed without a word".to_owned())
        ),
    }
}

/// The first line that mentions an error, else the last non-empty line; long lines are shortened.
fn reason(text: &str) -> Option<String> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_error = |line: &&str| {
        let line = line.to_ascii_lowercase();
        line.contains("error") && !line.starts_with("warning")
    };
    let line = lines.clone().find(is_error).or(lines.next_back())?;
    Some(line.chars().take(100).collect())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    fn told(code: i32, stdout: &str, stderr: &str) -> String {
        let status = ExitStatus::from_raw(code << 8);
        let output = Output { status, stdout: stdout.into(), stderr: stderr.into() };
        judged("pip", &output).unwrap_err().to_string()
    }

    #[test]
    fn why_a_client_failed_is_one_line() {
        assert_eq!(told(127, "", "timeout: failed to run command"), "pip is not on this machine");
        assert_eq!(told(124, "", ""), "pip gave no answer within 60 s");
        let stderr = "WARNING: a ConnectionError\nERROR: No matching distribution\nbye\n";
        assert_eq!(told(1, "x\n", stderr), "pip: ERROR: No matching distribution");
        assert_eq!(told(1, "[INFO] a\n[ERROR] b\n[ERROR] c\n", "\n"), "pip: [ERROR] b");
        assert_eq!(told(1, "", "a\nb\n\n"), "pip: b");
        assert_eq!(told(1, "", &"é".repeat(200)), format!("pip: {}", "é".repeat(100)));
        assert_eq!(told(1, "", ""), "pip: failed without a word");
    }

    #[test]
    fn runs_in_the_folder_and_finds_out_what_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let printed = run(folder.path(), &["sh", "-c", "pwd; echo hint >&2"]).unwrap();
        assert_eq!(Path::new(printed.stdout.trim()), folder.path().canonicalize().unwrap());
        assert_eq!(printed.stderr, "hint\n");
        let error = run(folder.path(), &["no-such-client"]).unwrap_err().to_string();
        assert_eq!(error, "no-such-client is not on this machine");
    }
}
