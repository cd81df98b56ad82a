//! Tests that must not run beside others, because they measure a whole machine or process.

use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Signal, set_parent_process_death_signal};

/// Contains the name of the test that a process was started for.
const OWN: &str = "TARE_TEST_IN_OWN_PROCESS";

/// Locks out other measurements, which would disturb each other.
pub fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs the body of a test in a new process, which runs no other test. Otherwise allocations of other tests
/// would be counted, and memory they have freed would be available. `test` is the calling test's name.
pub fn in_own_process(test: &str, body: impl FnOnce()) {
    if std::env::var_os(OWN).is_some_and(|own| own == test) {
        // The child process ends with the process that waits for it.
        set_parent_process_death_signal(Some(Signal::KILL)).unwrap();
        return body();
    }
    let _alone = alone();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env(OWN, test).stderr(Stdio::inherit());
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    print!("{printed}");
    // A test name that does not exist would also exit with success.
    assert!(output.status.success() && printed.contains("1 passed"), "{test}: {}", output.status);
}
