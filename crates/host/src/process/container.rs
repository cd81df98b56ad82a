//! The main process of a container, as the engine's command reports it. It knows nothing of servers.

use std::{io, process::Command, time::Duration};

use super::Query;

const ENGINES: [&str; 2] = ["docker", "podman"];
const WITHIN: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
pub enum ContainerError {
    #[error("neither docker nor podman is on PATH: name the process by --pid, or the cgroup by --cgroup")]
    NoEngine,
    #[error("no container \"{name}\" is known here: {}", .said.join("; "))]
    Unknown {
        name: String,
        /// The answers of the installed engines, each after the engine's name.
        said: Vec<String>,
    },
    #[error("the container \"{0}\" does not run")]
    NotRunning(String),
}

/// The PID of the main process of a running container, from the first engine that knows it.
///
/// # Errors
/// No engine is installed, none knows the container, or it does not run.
pub fn main_process(name: &str) -> Result<u32, ContainerError> {
    let mut said = Vec::new();
    for engine in ENGINES {
        match ask(engine, name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Ok(Ok(0)) => return Err(ContainerError::NotRunning(name.to_owned())),
            Ok(Ok(pid)) => return Ok(pid),
            Ok(Err(reason)) => said.push(format!("{engine}: {reason}")),
            Err(error) => said.push(format!("{engine}: {error}")),
        }
    }
    Err(match said.is_empty() {
        true => ContainerError::NoEngine,
        false => ContainerError::Unknown { name: name.to_owned(), said },
    })
}

/// The PID, or the engine's message instead.
fn ask(engine: &str, name: &str) -> io::Result<Result<u32, String>> {
    let mut command = Command::new(engine);
    command.args(["container", "inspect", "--format", "{{.State.Pid}}", name]);
    let output = Query::put(&mut command, WITHIN)?.answer()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().replace('\n', "; ");
    Ok(match output.status.success() {
        true => text(&output.stdout).parse().map_err(|_| text(&output.stdout)),
        false => Err(text(&output.stderr)),
    })
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    #[test]
    fn an_engine_says_the_number_or_why_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("docker");
        let asked = |script: &str| {
            fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            ask(path.to_str().unwrap(), "shop").unwrap()
        };
        assert_eq!(asked("[ \"$1 $2 $5\" = 'container inspect shop' ] && echo 4711"), Ok(4711));
        assert_eq!(asked("echo no such container >&2; exit 1"), Err("no such container".to_owned()));
        assert_eq!(asked("echo '<no value>'"), Err("<no value>".to_owned()));
        let missing = ask("/no/such/engine", "shop").unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
