//! Tests that must not run beside others, because they measure what a machine or a process has as a whole.

use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Signal, set_parent_process_death_signal};

/// Names the test that a process was started for.
const OWN: &str = "TARE_TEST_IN_OWN_PROCESS";

/// Two measurements at a time would measure each other.
pub fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs the body of a test in a new process, which runs no other test: what the others allocate would be counted too, and memory that
/// they have given back would be there for this one. `test` is the full name of the test that calls it.
pub fn in_own_process(test: &str, body: impl FnOnce()) {
    if std::env::var_os(OWN).is_some_and(|own| own == test) {
        // It ends with the process that waits for it.
        set_parent_process_death_signal(Some(Signal::KILL)).unwrap();
        return body();
    }
    let _alone = alone();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env(OWN, test).stderr(Stdio::inherit());
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    print!("{printed}");
    // A name that no test has is a process that ends well.
    assert!(output.status.success() && printed.contains("1 passed"), "{test}: {}", output.status);
}
