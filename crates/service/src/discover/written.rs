//! Start commands that authors wrote down in a `Procfile` or a `Dockerfile`.

use std::path::{Path, PathBuf};

use super::{Guess, text};

/// The process `web`, which reads `PORT`.
pub(super) fn procfile(folder: &Path) -> Vec<Guess> {
    let command = text(folder, "Procfile")
        .and_then(|text| text.lines().find_map(|line| Some(line.strip_prefix("web:")?.trim().to_owned())));
    let guess = |command| Guess {
        what: "the process \"web\"".to_owned(),
        file: PathBuf::from("Procfile"),
        command,
        ..Guess::default()
    };
    command.into_iter().map(guess).collect()
}

/// The command of the image, with the exposed port replaced. It runs on this machine, not in a container.
pub(super) fn dockerfile(folder: &Path) -> Vec<Guess> {
    let Some(text) = text(folder, "Dockerfile") else { return Vec::new() };
    let lines = instructions(&text);
    let last = |name: &str| {
        lines.iter().rev().find_map(|line| {
            let (word, rest) = line.split_once(char::is_whitespace)?;
            word.eq_ignore_ascii_case(name).then(|| rest.trim().to_owned())
        })
    };
    let words = [last("ENTRYPOINT"), last("CMD")].into_iter().flatten().map(|words| shell(&words));
    let command = words.collect::<Vec<_>>().join(" ");
    let port = last("EXPOSE").map(|port| port.split(['/', ' ']).next().unwrap_or_default().to_owned());
    let command = match port.filter(|port| !port.is_empty()) {
        Some(port) => command.replace(&port, "{port}"),
        None => command,
    };
    let guess = Guess {
        what: "the command of the image, without a container".to_owned(),
        file: PathBuf::from("Dockerfile"),
        command,
        ..Guess::default()
    };
    Some(guess).filter(|guess| !guess.command.is_empty()).into_iter().collect()
}

/// The instructions, each joined into one line.
fn instructions(text: &str) -> Vec<String> {
    let whole = text.replace("\\\n", " ");
    whole.lines().map(str::trim).filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

/// `["node", "server.js"]` as a shell command; other forms are shell commands already.
fn shell(words: &str) -> String {
    match serde_json::from_str::<Vec<String>>(words) {
        Ok(list) => shlex::try_join(list.iter().map(String::as_str)).unwrap_or_else(|_| words.to_owned()),
        Err(_) => words.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::guessed;

    #[test]
    fn an_image_has_a_command_and_a_port() {
        let of = |text: &str| guessed(&[("Dockerfile", text)]);
        let head = "the command of the image, without a container (Dockerfile): ";
        assert_eq!(
            of("FROM node\nEXPOSE 3000/tcp\nCMD [\"node\", \"my server.js\", \"--port=3000\"]\n"),
            [format!("{head}node 'my server.js' '--port={{port}}'")]
        );
        assert_eq!(
            of("FROM a AS build\nCMD no\nFROM b\nENTRYPOINT [\"./shop\"]\ncmd -addr \\\n  :80\n"),
            [format!("{head}./shop -addr    :80")]
        );
        assert!(of("FROM node\nRUN make\n").is_empty());
    }
}
