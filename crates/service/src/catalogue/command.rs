//! A service given by its command alone, without manifest and build.

use std::{
    path::{self, Path},
    time::Duration,
};

use super::{Catalogue, Place, Run, Service, Step, Style, Words};

/// Characters that need a shell.
const SHELL: [char; 13] = ['|', '&', ';', '<', '>', '(', ')', '$', '`', '*', '?', '~', '#'];
/// Default time limit for a service to become ready.
const READY_TIMEOUT: Duration = Duration::from_secs(60);

impl Service {
    /// Builds it by the user's command instead of its own steps.
    pub fn built_by(&mut self, line: &str) {
        self.build = vec![Step { command: words(line), network: true, ..Step::default() }];
        self.steps_elsewhere = true;
    }
}

impl Catalogue {
    /// Adds a service for a word that is a command, such as `node server.js`; its id is that word.
    pub(super) fn adopt_command(&mut self, word: &str, stands: Words) -> String {
        let text = without_number(word);
        if self.get(text).is_none() {
            let folder = Path::new(".").join(stands.folder());
            let folder = path::absolute(&folder).unwrap_or(folder);
            let typed = matches!(stands, Words::Typed);
            self.services.push(Service { typed, ..service(text, words(text), &folder) });
        }
        word.to_owned()
    }
}

/// A word is a command if it contains a space or is the path of a file.
pub(super) fn is_command(word: &str) -> bool {
    let word = without_number(word);
    word.contains(char::is_whitespace) || (word.contains('/') && Path::new(word).is_file())
}

/// The word without `@2`, which marks a second row of the same command.
pub(super) fn without_number(word: &str) -> &str {
    match word.rsplit_once('@') {
        Some((command, number)) if number.parse::<u32>().is_ok() => command,
        _ => word,
    }
}

/// Program and arguments. Variables, pipes and leading assignments make it a script for `sh -c`.
pub(crate) fn words(text: &str) -> Vec<String> {
    let by_shell = || vec!["sh".to_owned(), "-c".to_owned(), text.trim().to_owned()];
    let assigns = |words: &[String]| words.first().is_some_and(|word| word.contains('='));
    match shlex::split(text) {
        _ if text.contains(SHELL) => by_shell(),
        Some(words) if assigns(&words) => by_shell(),
        Some(words) => words,
        None => by_shell(),
    }
}

/// A service with this id in this folder.
pub(crate) fn service(id: &str, command: Vec<String>, folder: &Path) -> Service {
    let hash = blake3::hash(id.as_bytes()).to_hex();
    Service {
        id: id.to_owned(),
        name: format!("command+{}", &hash[..8]),
        style: Style::Own,
        run: Run { command, ready_timeout: READY_TIMEOUT, keeps_connections: true, ..Run::default() },
        folder: folder.to_owned(),
        build_root: folder.to_owned(),
        place: Place::new(folder.to_owned()),
        ..Service::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_a_shell_gets_one() {
        let of = |text| words(text).join("|");
        assert_eq!(of("node server.js --port {port}"), "node|server.js|--port|{port}");
        assert_eq!(of("java -jar 'my shop.jar'"), "java|-jar|my shop.jar");
        assert_eq!(of("uvicorn app:app --port $PORT"), "sh|-c|uvicorn app:app --port $PORT");
        assert_eq!(of("WEB_CONCURRENCY=1 uvicorn app:app"), "sh|-c|WEB_CONCURRENCY=1 uvicorn app:app");
        assert_eq!(of("it's"), "sh|-c|it's", "what has no end is for the shell to refuse");
    }

    #[test]
    fn a_word_with_a_space_or_the_path_of_a_file_is_a_command() {
        let program = std::env::current_exe().unwrap();
        let path = program.to_str().unwrap();
        assert!(is_command("node server.js") && is_command(path) && is_command(&format!("{path}@2")));
        assert!(!is_command("hyper") && !is_command("./no-such-file") && !is_command("hyper@2"));
        assert!(!is_command(program.parent().unwrap().to_str().unwrap()), "a folder has a manifest");
    }
}
