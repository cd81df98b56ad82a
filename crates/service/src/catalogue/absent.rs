//! Finds missing files that a user's command names: its program, or a script. Such a service has no plan.

use std::{
    env,
    path::{Path, PathBuf},
};

use super::{Service, Style};

/// Programs whose first argument is a file, unless it is an option or a subcommand.
const INTERPRETERS: [&str; 15] = [
    "node", "nodejs", "bun", "deno", "tsx", "ts-node", "python", "python3", "pypy3", "ruby", "php", "perl",
    "lua", "sh", "bash",
];
/// Extensions of files that another program runs.
const SCRIPTS: [&str; 15] =
    ["js", "mjs", "cjs", "ts", "mts", "py", "rb", "php", "pl", "lua", "jar", "war", "dll", "exs", "sh"];

/// A word of a command that names a missing file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absent {
    Program(String),
    /// The script that an interpreter is to run.
    Script(String),
    /// A word that ends like a script, but may be something else.
    Perhaps(String),
}

impl Service {
    /// Missing files of its command. Not checked with a manifest or a build, which may create them.
    pub fn absent(&self) -> Vec<Absent> {
        let is_typed =
            self.style == Style::Own && self.build.is_empty() && !self.run.env.contains_key("PATH");
        match self.run.command.split_first() {
            // The meaning of a shell script is unknown before it runs.
            Some((program, rest)) if is_typed && !is_shell_text(program, rest) => {
                absent(program, rest, &self.folder)
            }
            _ => Vec::new(),
        }
    }
}

fn is_shell_text(program: &str, rest: &[String]) -> bool {
    program == "sh" && rest.first().is_some_and(|word| word == "-c")
}

fn absent(program: &str, rest: &[String], folder: &Path) -> Vec<Absent> {
    if !is_program(program, folder) {
        return vec![Absent::Program(program.to_owned())];
    }
    let name = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or(program);
    let first = rest.iter().position(|word| !word.starts_with('-')).filter(|_| INTERPRETERS.contains(&name));
    let is_absent = |word: &str| is_script(word) && !folder.join(word).exists();
    let of_word = |(place, word): (usize, &String)| match is_absent(word) {
        true if first == Some(place) => Some(Absent::Script(word.clone())),
        true => Some(Absent::Perhaps(word.clone())),
        false => None,
    };
    rest.iter().enumerate().filter_map(of_word).collect()
}

fn is_script(word: &str) -> bool {
    let ending = Path::new(word).extension().and_then(|ending| ending.to_str());
    !word.starts_with('-')
        && !word.contains(['{', '=', ':'])
        && ending.is_some_and(|ending| SCRIPTS.contains(&ending))
}

/// Whether the program is at this path, relative to `folder`, or on `PATH`.
fn is_program(program: &str, folder: &Path) -> bool {
    if program.contains('/') {
        return folder.join(program).is_file();
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&folders).any(|on_path: PathBuf| on_path.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::command;

    fn of(line: &str) -> Vec<Absent> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("server.py"), "").unwrap();
        std::fs::write(folder.path().join("env"), "").unwrap();
        command::service(line, command::words(line), folder.path()).absent()
    }

    /// `env` and `sh` exist on every machine; files in the folder stand for interpreters.
    #[test]
    fn what_a_command_names_is_there_or_not() {
        assert_eq!(of("no-such-program --port {port}"), [Absent::Program("no-such-program".to_owned())]);
        assert_eq!(of("./bin/server --fast"), [Absent::Program("./bin/server".to_owned())]);
        assert_eq!(of("env server.py"), []);
        assert_eq!(of("./env -x srv.js"), [Absent::Perhaps("srv.js".to_owned())]);
        assert_eq!(of("env --config=x.js app:app app.py:app http://a/b.js {port}.js"), []);
        assert_eq!(of("node srv.js $PORT"), [], "a shell may make anything of it");
    }

    #[test]
    fn what_an_interpreter_runs_must_be_there() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("node"), "").unwrap();
        let of = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            absent("./node", &words, folder.path())
        };
        assert_eq!(of(&["srv.js"]), [Absent::Script("srv.js".to_owned())]);
        assert_eq!(
            of(&["--inspect", "lib/srv.mjs", "x.js"]),
            [Absent::Script("lib/srv.mjs".to_owned()), Absent::Perhaps("x.js".to_owned())]
        );
        assert_eq!(of(&["-m", "module"]), []);
        std::fs::write(folder.path().join("srv.js"), "").unwrap();
        assert_eq!(of(&["srv.js"]), []);
    }

    #[test]
    fn a_service_that_is_built_has_its_files_later() {
        let mut service = command::service("make-it x.js", command::words("make-it x.js"), Path::new("/"));
        assert_eq!(service.absent().len(), 1);
        service.built_by("make");
        assert_eq!(service.absent(), []);
        assert_eq!(Service { style: Style::Framework, build: Vec::new(), ..service }.absent(), []);
    }
}
