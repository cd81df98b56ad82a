//! A service that an agent starts itself. Its CPU time is read from the start, and it ends with the agent,
//! however that ends.

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use anyhow::Context;
use tare_host::process::{Exit, Isolation, Launch, RunningService, Stopped, Supervisor};

use super::super::agents::TOKEN_VARIABLE;
use crate::{exit::Outcome, workspace};

/// The time from SIGTERM to SIGKILL.
const GRACE: Duration = Duration::from_secs(5);
/// The interval of checks whether the service is alive.
const PAUSE: Duration = Duration::from_millis(100);

/// Runs `serve` with the service's process while the service is alive. If the service ends by itself, sets
/// `stop` and fails.
pub(super) fn beside(
    command: &[String],
    stop: &AtomicBool,
    serve: impl FnOnce(u32) -> anyhow::Result<Outcome>,
) -> anyhow::Result<Outcome> {
    let supervisor = Supervisor::start(&workspace::program()?, Isolation::detect())?;
    let service = RunningService::start(&launch(command)?, &supervisor)?;
    let pid = service.pid().context("the service has ended already")?;
    let is_over = AtomicBool::new(false);
    let (served, ended) = thread::scope(|scope| {
        let end = scope.spawn(|| end_of(&service, &is_over, stop));
        let served = serve(pid);
        is_over.store(true, Ordering::Relaxed);
        (served, end.join().ok().flatten())
    });
    if let Stopped::Unstoppable { .. } = service.stop(GRACE) {
        tare_host::message!("warning: the service does not end");
    }
    match ended {
        Some(exit) => {
            tare_host::message!("the service ended by itself: {exit}");
            Ok(Outcome::ServiceFailed)
        }
        None => served,
    }
}

/// How the service ended; `None` if it outlived the agent.
fn end_of(service: &RunningService, is_over: &AtomicBool, stop: &AtomicBool) -> Option<Exit> {
    while !is_over.load(Ordering::Relaxed) {
        if let Some(exit) = service.has_exited() {
            stop.store(true, Ordering::Relaxed);
            return Some(exit);
        }
        thread::sleep(PAUSE);
    }
    None
}

fn launch(command: &[String]) -> anyhow::Result<Launch> {
    // The agent prints the service's output: in a container that is the log.
    let output = Path::new("/dev/stderr").to_owned();
    Ok(Launch {
        name: "service".to_owned(),
        command: command.to_vec(),
        dir: std::env::current_dir().context("the current folder")?,
        // A process with the token could start loads.
        env: vec![(TOKEN_VARIABLE.to_owned(), String::new())],
        stdout: output.clone(),
        stderr: output,
        append: true,
        ..Launch::default()
    })
}
