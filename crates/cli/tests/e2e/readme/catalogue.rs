//! Services of this repository, built in the user's own cache, and short experiments over them.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;
use tare_host::fixture::skip;
use tempfile::TempDir;

use crate::support::{Ended, real_root, start};

/// Time limit for the first build, with an empty compiler cache.
const BUILT: Duration = Duration::from_secs(300);

/// Runs `tare WORDS` in this repository.
pub fn tare(words: &[&str]) -> Ended {
    start(&real_root(), words).end()
}

/// Whether the set-up of `make test` installs what this service needs. All of these are quick to build, and
/// net-http has every protocol and every contract.
fn is_set_up(name: &str) -> bool {
    let script = fs::read_to_string(real_root().join("scripts/setup.sh")).unwrap();
    let line = script.lines().find_map(|line| line.strip_prefix("readonly test_services=("));
    let names = line.and_then(|line| line.strip_suffix(')')).expect("the line with the services of tests");
    names.split(' ').any(|known| known == name)
}

/// Whether this machine can build these services; if not, prints that `test` is skipped.
pub fn is_built(test: &str, services: &[&str]) -> bool {
    services.iter().for_each(|name| assert!(is_set_up(name), "scripts/setup.sh test does not know {name}"));
    let ended = start(&real_root(), &[&["build", "--json"], services].concat()).end_within(BUILT);
    let lines = ended.json();
    let missing = lines.as_array().unwrap().iter().find(|line| line["result"] == "missing");
    if let Some(line) = missing {
        skip(test, &format!("{}: {}", line["service"], line["reason"]));
        return false;
    }
    ended.expect(0);
    true
}

/// Two short blocks of an experiment of this repository, and a folder for its run.
pub struct Short {
    folder: TempDir,
    experiment: PathBuf,
}

impl Short {
    /// The experiment with a shorter schedule.
    pub fn of(name: &str) -> Short {
        Short::changed(name, |_| ())
    }

    /// The same with another change. It does not depend on the speed of the machine: the budget leaves only
    /// the fewest blocks.
    pub fn changed(name: &str, change: impl FnOnce(&mut toml::Table)) -> Short {
        let text = fs::read_to_string(real_root().join(format!("experiments/{name}.toml"))).unwrap();
        let mut experiment: toml::Table = text.parse().unwrap();
        let mut set = |section: &str, key: &str, value: toml::Value| {
            if let Some(section) = experiment.get_mut(section) {
                section.as_table_mut().unwrap().insert(key.to_owned(), value);
            }
        };
        for (key, value) in [("budget", "0s"), ("slice", "50ms"), ("warm-up", "100ms"), ("warm-up-max", "0s")]
        {
            set("schedule", key, value.into());
        }
        for (key, value) in [("slices-per-block", 3), ("blocks-min", 2), ("blocks-max", 2)] {
            set("schedule", key, value.into());
        }
        set("latency", "slice", "100ms".into());
        set("latency", "slices-per-block", 2.into());
        experiment.insert("twin".to_owned(), false.into());
        change(&mut experiment);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("{name}.toml"));
        fs::write(&path, experiment.to_string()).unwrap();
        Short { folder, experiment: path }
    }

    /// Runs `tare run` of the experiment, with these arguments.
    pub fn run(&self, words: &[&str]) -> Ended {
        let experiment = self.experiment.to_str().unwrap();
        let out = self.out();
        let all = [&["run", experiment, "--out", out.to_str().unwrap()], words].concat();
        tare(&all).expect_measured()
    }

    /// The document of its run.
    pub fn measured(&self, words: &[&str]) -> Value {
        self.run(&[&["--json"], words].concat()).json()
    }

    /// The folder of its run.
    pub fn out(&self) -> PathBuf {
        self.path().join("out")
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}
