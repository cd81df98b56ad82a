//! The generators that are asked: their names, where they are, and how to get them. What they print is read elsewhere.

use std::{
    fmt,
    path::{Path, PathBuf},
    process::Command,
};

use serde::{Deserialize, Serialize};

/// A load generator that is not ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tool {
    /// <https://github.com/wg/wrk>.
    Wrk,
    /// Of nghttp2, with HTTP/1.1.
    H2load,
    /// <https://github.com/httperf/httperf>.
    Httperf,
    /// <https://locust.io>.
    Locust,
}

/// A tool that is on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Which.
    pub tool: Tool,
    /// Its program.
    pub program: PathBuf,
    /// What it says of itself, without its name.
    pub version: String,
}

impl Tool {
    /// All, in the order in which they are shown.
    pub const ALL: [Tool; 4] = [Tool::Wrk, Tool::H2load, Tool::Httperf, Tool::Locust];

    /// The name of its program, which is its own.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Wrk => "wrk",
            Tool::H2load => "h2load",
            Tool::Httperf => "httperf",
            Tool::Locust => "locust",
        }
    }

    /// The tool of this name.
    pub fn named(name: &str) -> Option<Tool> {
        Tool::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// The command that brings it.
    pub fn install(self) -> &'static str {
        match self {
            Tool::Wrk => "apt-get install wrk",
            Tool::H2load => "apt-get install nghttp2-client",
            Tool::Httperf => "apt-get install httperf",
            Tool::Locust => "make setup",
        }
    }

    /// Its program: on `PATH`, or where the set-up of the checkout at `root` puts it.
    pub fn find(self, root: &Path) -> Option<Found> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let own = root.join(".tare").join("tools").join("bin");
        let folders = std::env::split_paths(&path).chain([own]);
        let program = folders.map(|folder| folder.join(self.name())).find(|program| program.is_file())?;
        let version = self.ask_version(&program);
        Some(Found { tool: self, program, version })
    }

    /// wrk takes the question for a mistake, so its status says nothing. httperf would go on to load port 80 of this
    /// machine; with `--help` it does not.
    fn ask_version(self, program: &Path) -> String {
        let words: &[&str] = if self == Tool::Httperf { &["-V", "--help"] } else { &["--version"] };
        let output = Command::new(program).args(words).output();
        let text = output.map(|output| [output.stdout, output.stderr].concat()).unwrap_or_default();
        version_in(&String::from_utf8_lossy(&text))
    }
}

/// The first run of digits and dots that has a dot inside.
fn version_in(text: &str) -> String {
    let runs = text.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let versions = runs.map(|run| run.trim_matches('.')).filter(|run| run.contains('.'));
    versions.map(str::to_owned).next().unwrap_or_default()
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.tool, self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_as_the_tools_say_them() {
        for (text, version) in [
            ("wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer", "4.1.0"),
            ("h2load nghttp2/1.52.0\n", "1.52.0"),
            ("locust 2.47.0 from /x/lib/python3.11/site-packages/locust (Python 3.11.7)", "2.47.0"),
            ("httperf: httperf-0.9.0 compiled without DEBUG without TIME_SYSCALLS.", "0.9.0"),
            ("Usage: httperf [-hdvV]", ""),
            ("", ""),
        ] {
            assert_eq!(version_in(text), version, "{text}");
        }
    }

    #[test]
    fn names_are_read_back() {
        assert!(Tool::ALL.into_iter().all(|tool| Tool::named(tool.name()) == Some(tool)));
        assert_eq!(Tool::named("ab"), None);
    }
}
