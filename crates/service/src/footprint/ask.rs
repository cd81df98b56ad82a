//! What other programs know: their stdout, within a deadline.

use std::{
    ffi::OsStr,
    io::Read,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// Cargo may have to wait for another cargo; whoever takes longer is not asked again.
const LIMIT: Duration = Duration::from_secs(20);

/// What a program prints, whatever its status: some know a part of what they are asked. Empty where it cannot be run.
pub fn ask<A: AsRef<OsStr>>(folder: &Path, program: &str, arguments: impl IntoIterator<Item = A>) -> String {
    let mut command = Command::new(program);
    // Words that are parsed must not depend on who reads them.
    command.args(arguments).current_dir(folder).env("LC_ALL", "C");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return String::new() };
    let Some(mut stdout) = child.stdout.take() else { return String::new() };
    // Beside the wait, since a program that cannot get rid of its output does not end.
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stdout.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    let began = Instant::now();
    while let Ok(None) = child.try_wait() {
        if began.elapsed() > LIMIT {
            let _ = child.kill();
            let _ = child.wait();
            return String::new();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    reader.join().unwrap_or_default()
}
