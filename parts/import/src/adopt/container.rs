//! Adopts an entry as a container, if podman is installed: it builds the image and runs it.

use std::{env, path::Path};

use super::{AdoptError, AdoptWish, Adopted, Note, base, context::ENTRY, entry::SuiteEntry};
use tare_service::catalogue::{Requirement, Step};

const PODMAN: &str = "podman";

/// Without podman the error names the package that provides it.
pub(super) fn adopted(entry: &SuiteEntry, wish: &AdoptWish) -> Result<Adopted, AdoptError> {
    let is_there = |folder: &Path| folder.join(PODMAN).is_file();
    let there =
        env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|folder| is_there(&folder)));
    match there {
        true => Ok(with_podman(entry, wish)),
        false => Err(AdoptError::NoPodman),
    }
}

/// Uses the entry's own image with its own command.
pub(super) fn with_podman(entry: &SuiteEntry, wish: &AdoptWish) -> Adopted {
    let mut adopted = base(entry, wish);
    let words = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
    let image = format!("localhost/tare-{}", adopted.name);
    let file = super::text::file_name(&entry.dockerfile);
    adopted.requires = vec![Requirement {
        command: words("podman --version"),
        debian: vec![PODMAN.to_owned()],
        at_least: None,
        hint: None,
    }];
    let arguments = entry
        .arguments
        .iter()
        .flat_map(|(name, value)| ["--build-arg".to_owned(), format!("{name}={value}")]);
    let build =
        words("podman build --network=host --tag").into_iter().chain([image.clone()]).chain(arguments);
    let of_file = ["--file".to_owned(), format!("{ENTRY}/{file}"), ENTRY.to_owned()];
    // If a registry is unreachable, the build's log has podman's message.
    adopted.build = vec![Step { command: build.chain(of_file).collect(), network: true, ..Step::default() }];
    adopted.version =
        ["podman", "image", "inspect", "--format", "{{.Id}}", &image].map(str::to_owned).to_vec();
    let run = "podman run --rm --network=host --cgroups=disabled --log-driver=none --env PORT --env THREADS";
    let command = entry.command.iter().flat_map(|command| super::shell::words(command));
    adopted.command = words(run).into_iter().chain([image]).chain(command).collect();
    adopted.port = entry.port;
    adopted.notes.push(Note::kept(
        "it runs in a container of podman, in the network of the machine and in no cgroup of its own",
        "so that Tare sees its port and accounts its processes; podman's own processes are among them",
    ));
    adopted.notes.push(Note::lost(
        "this way has not been tried where images of a registry cannot be fetched",
        "`tare build` shows what podman says if its registry does not answer",
    ));
    adopted
}
