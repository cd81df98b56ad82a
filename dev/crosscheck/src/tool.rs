//! The generators: their names, their places, and how to install them. Other modules parse their output.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use tare_host::process::Query;
use tare_load::Protocol;

/// The time limit for printing a version: locust takes a second.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// A load generator other than ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tool {
    /// <https://github.com/wg/wrk>.
    Wrk,
    H2load,
    /// <https://github.com/hatoo/oha>.
    Oha,
    /// <https://github.com/httperf/httperf>.
    Httperf,
    /// <https://locust.io>.
    Locust,
}

/// An installed tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub tool: Tool,
    pub program: PathBuf,
    /// Its version, without its name. Empty if it prints none.
    pub version: String,
}

impl Tool {
    /// All tools, in the order of output.
    pub const ALL: [Tool; 5] = [Tool::Wrk, Tool::H2load, Tool::Oha, Tool::Httperf, Tool::Locust];

    pub fn name(self) -> &'static str {
        match self {
            Tool::Wrk => "wrk",
            Tool::H2load => "h2load",
            Tool::Oha => "oha",
            Tool::Httperf => "httperf",
            Tool::Locust => "locust",
        }
    }

    pub fn named(name: &str) -> Option<Tool> {
        Tool::ALL.into_iter().find(|tool| tool.name() == name)
    }

    pub fn install(self) -> &'static str {
        match self {
            Tool::Wrk => "apt-get install wrk",
            Tool::H2load => "apt-get install nghttp2-client",
            Tool::Oha => "cargo install oha --version ^1 --locked",
            Tool::Httperf => "apt-get install httperf",
            Tool::Locust => "make setup",
        }
    }

    /// Whether it can make its load over `protocol`. httperf and locust could use TLS, but their sessions and
    /// users with pauses would show nothing new.
    pub fn speaks(self, protocol: Protocol) -> bool {
        match self {
            Tool::Wrk => !protocol.is_http2(),
            Tool::H2load | Tool::Oha => true,
            Tool::Httperf | Tool::Locust => protocol == Protocol::Http1,
        }
    }

    /// The environment variable with the path of its program.
    fn variable(self) -> Option<&'static str> {
        (self == Tool::Oha).then_some("OHA")
    }

    /// The `tools` that are at the path in a variable, on `PATH`, or where the set-up of the checkout at
    /// `root` installs them. Their versions are queried in parallel.
    pub fn find(tools: &[Tool], root: &Path) -> Vec<Found> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let own = root.join(".tare").join("tools").join("bin");
        let said = |tool: Tool| tool.variable().and_then(std::env::var_os).map(PathBuf::from);
        let folders: Vec<PathBuf> = std::env::split_paths(&path).chain([own]).collect();
        Tool::find_in(tools, said, &folders, ANSWER_WITHIN)
    }

    fn find_in(
        tools: &[Tool],
        said: impl Fn(Tool) -> Option<PathBuf>,
        folders: &[PathBuf],
        within: Duration,
    ) -> Vec<Found> {
        let program = |tool: Tool| {
            let mut programs =
                said(tool).into_iter().chain(folders.iter().map(|folder| folder.join(tool.name())));
            Some((tool, programs.find(|program| program.is_file())?))
        };
        let programs = tools.iter().filter_map(|tool| program(*tool));
        let asked: Vec<_> =
            programs.map(|(tool, program)| (tool, tool.ask_version(&program, within), program)).collect();
        let found = asked.into_iter().map(|(tool, asked, program)| {
            let output = asked.and_then(Query::answer);
            let text = output.map(|output| [output.stdout, output.stderr].concat()).unwrap_or_default();
            Found { tool, program, version: version_in(&String::from_utf8_lossy(&text)) }
        });
        found.collect()
    }

    /// wrk treats the option as an error, so its status is no criterion. httperf would then load port 80 of
    /// this machine, unless it gets `--help`.
    fn ask_version(self, program: &Path, within: Duration) -> io::Result<Query> {
        let words: &[&str] = if self == Tool::Httperf { &["-V", "--help"] } else { &["--version"] };
        Query::put(Command::new(program).args(words), within)
    }
}

/// The first run of digits and dots that contains a dot.
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
    use std::{fs::Permissions, os::unix::fs::PermissionsExt, time::Instant};

    use super::*;

    #[test]
    fn versions_as_the_tools_say_them() {
        for (text, version) in [
            ("wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer", "4.1.0"),
            ("h2load nghttp2/1.52.0\n", "1.52.0"),
            ("locust 2.47.0 from /x/lib/python3.11/site-packages/locust (Python 3.11.7)", "2.47.0"),
            ("httperf: httperf-0.9.0 compiled without DEBUG without TIME_SYSCALLS.", "0.9.0"),
            ("oha 1.16.0\n", "1.16.0"),
            ("Usage: httperf [-hdvV]", ""),
            ("", ""),
        ] {
            assert_eq!(version_in(text), version, "{text}");
        }
    }

    #[test]
    fn one_that_does_not_answer_has_no_version_and_keeps_nobody_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let programs = [("wrk", "sleep 60"), ("h2load", "read -r line || echo h2load nghttp2/1.52.0")];
        for (name, script) in programs {
            let path = folder.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        }
        let began = Instant::now();
        let found = Tool::find_in(&Tool::ALL, |_| None, &[folder.path().to_owned()], Duration::from_secs(2));
        assert!(began.elapsed() < Duration::from_secs(30));
        let told: Vec<_> = found.iter().map(|found| (found.tool, found.version.as_str())).collect();
        assert_eq!(told, [(Tool::Wrk, ""), (Tool::H2load, "1.52.0")]);
    }

    #[test]
    fn names_are_read_back() {
        assert!(Tool::ALL.into_iter().all(|tool| Tool::named(tool.name()) == Some(tool)));
        assert_eq!(Tool::named("ab"), None);
    }

    #[test]
    fn the_first_folder_with_the_program_counts() {
        let folders =
            [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        // A folder of that name is no program.
        std::fs::create_dir(folders[0].path().join("wrk")).unwrap();
        for (folder, version) in folders[1..].iter().zip(["1.0", "2.0"]) {
            let path = folder.path().join("wrk");
            std::fs::write(&path, format!("#!/bin/sh\necho wrk {version} >&2\nexit 1\n")).unwrap();
            std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        }
        let paths: Vec<PathBuf> = folders.iter().map(|folder| folder.path().to_owned()).collect();
        let find = |tools: &[Tool]| Tool::find_in(tools, |_| None, &paths, Duration::from_secs(20));
        let found = find(&Tool::ALL);
        assert_eq!(
            (found.len(), found[0].to_string().as_str()),
            (1, "wrk 1.0"),
            "wrk says so on stderr, and fails"
        );
        assert_eq!(found[0].program, paths[1].join("wrk"));
        assert_eq!(find(&[Tool::Locust]), []);
        let said = |tool| (tool == Tool::Wrk).then(|| paths[2].join("wrk"));
        let found = Tool::find_in(&[Tool::Wrk], said, &paths, Duration::from_secs(20));
        assert_eq!(found[0].to_string(), "wrk 2.0", "where a variable says comes first");
    }

    #[test]
    fn each_protocol_has_its_tools() {
        let speaking = |protocol| {
            let names = Tool::ALL.into_iter().filter(|tool| tool.speaks(protocol)).map(Tool::name);
            names.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(speaking(Protocol::Http1), "wrk h2load oha httperf locust");
        assert_eq!(speaking(Protocol::Http1Tls), "wrk h2load oha");
        assert_eq!(
            (speaking(Protocol::H2), speaking(Protocol::H2c)),
            ("h2load oha".into(), "h2load oha".into())
        );
    }
}
