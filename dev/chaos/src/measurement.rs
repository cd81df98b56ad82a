//! The disturbed measurements: a run, a comparison, a search for capacity and a published benchmark over a
//! slow link, each of a few seconds.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use anyhow::Context;
use rand::{Rng, RngExt};

use crate::hostile::Hostility;

/// The `tare.toml`: two services that are the raw socket under other names, and one that misbehaves.
pub(crate) const PROJECT: &str = r#"format = "1.0"
catalogue = "services"
[service.plain]
command = ["TARE", "raw-socket", "--port", "{port}"]
[service.other]
command = ["TARE", "raw-socket", "--port", "{port}"]
[service.bad]
command = BAD
ready-timeout = "3s"
"#;

/// One connection: the generator and the service alternate, so neither is rejected as too busy.
pub(crate) const EXPERIMENT: &str = r#"format = "1.0"
title = "Chaos"
question = "What is left of a run that meets a fault?"
contract = "hello"
reference = "raw-socket"
twin = false
services = ["raw-socket", "plain", "OTHER"]
[load]
connections = 1
threads = 1
[service]
threads = 1
[schedule]
budget = "0s"
slice = "30ms"
slices-per-block = 4
warm-up = "30ms"
blocks-min = 6
blocks-max = 6
"#;

pub(crate) const FIGURES: &str = r#"format = "1.0"
title = "Small benchmark, 1999"
question = "Which is fast?"
load = "two producers"
machine = "a machine"
unit = "seconds"
services = ["Plain"]
[[claim]]
id = "stuck"
text = "Plain never ends"
[[cell]]
n = 400
t_ms = 0
environment = "local"
threads = 1
seconds = [1.5]
"#;

pub(crate) const PUBLISHED: &str = r#"format = "1.0"
title = "Small benchmark, again"
question = "Which is fast?"
figures = "chaos"
layout = "makespan"
[[row]]
service = "raw-socket"
published = "Plain"
[links]
far = "delay=1ms"
[[part]]
name = "published"
contract = "hello"
rounds = 4
link = "far"
load = { kind = "batch", producers = 2, messages = 400 }
[[check]]
claim = "stuck"
of = "raw-socket"
stuck = true
"#;

/// Faults of the service `bad`, as values of `--misbehave`.
const MISBEHAVIOURS: [&str; 6] =
    ["stall=200ms/1s", "drops=1%", "wrong-length=1%", "closes", "slow-close", "slower=3%"];

/// A service that no measurement uses: commands that only read must not run its commands.
const UNASKED: &str = r#"format = "1.0"
name = "unasked"
language = "sh"
framework = "none"
url = "https://example.org"
licence = "MIT"
contracts = ["hello"]
style = "framework"
[version]
command = ["touch", "LOOKED"]
[[requires]]
command = ["touch", "LOOKED"]
debian = ["coreutils"]
[run]
command = ["touch", "LOOKED"]
ready-timeout = "5s"
"#;
/// The file that one of its commands makes.
const LOOKED: &str = "looked";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::EnumIter)]
pub(crate) enum Kind {
    Run,
    Compare,
    Slo,
    Published,
}

#[derive(Debug, Clone)]
pub(crate) struct Measurement {
    pub kind: Kind,
    /// The fault of its service, if it has one.
    pub misbehaviour: Option<&'static str>,
    /// Whether its services run in sandboxes.
    pub isolates: bool,
}

impl Measurement {
    pub(crate) fn draw(random: &mut impl Rng) -> Measurement {
        let kinds = [Kind::Run, Kind::Run, Kind::Compare, Kind::Slo, Kind::Published];
        let kind = kinds[random.random_range(0..kinds.len())];
        let misbehaves = random.random_range(0..3) == 0;
        let all = [&MISBEHAVIOURS[..], Hostility::NAMES].concat();
        let misbehaviour = misbehaves.then(|| all[random.random_range(0..all.len())]);
        let isolates = kind != Kind::Published && random.random_range(0..3) == 0;
        Measurement { kind, misbehaviour, isolates }
    }

    /// The same with a service that misbehaves in this way.
    pub(crate) fn with(self, misbehaviour: &str) -> anyhow::Result<Measurement> {
        let all = [&MISBEHAVIOURS[..], Hostility::NAMES].concat();
        let found = all.iter().find(|known| known.starts_with(misbehaviour));
        let found = found.with_context(|| format!("no misbehaviour is called \"{misbehaviour}\""))?;
        let kind = if self.kind == Kind::Published { Kind::Run } else { self.kind };
        Ok(Measurement { kind, misbehaviour: Some(found), ..self })
    }

    /// Its files, in the root of a repository.
    pub(crate) fn write(&self, root: &Path, tare: &Path) -> anyhow::Result<()> {
        let tare = tare.display().to_string();
        let fault = self.misbehaviour.unwrap_or("closes");
        let bad: [&str; 6] = [&tare, "raw-socket", "--port", "{port}", "--misbehave", fault];
        let own = std::env::current_exe()?.display().to_string();
        let hostile: [&str; 4] = [&own, "hostile", fault, "{port}"];
        let is_hostile = Hostility::NAMES.contains(&fault);
        let bad = serde_json::to_string(if is_hostile { &hostile[..] } else { &bad[..] })?;
        let project = PROJECT.replace("TARE", &tare).replace("BAD", &bad);
        std::fs::write(root.join("tare.toml"), project)?;
        std::fs::create_dir_all(root.join("services/sh/unasked"))?;
        let unasked = UNASKED.replace("LOOKED", &root.join(LOOKED).display().to_string());
        std::fs::write(root.join("services/sh/unasked/service.toml"), unasked)?;
        std::fs::write(root.join("chaos.toml"), EXPERIMENT.replace("OTHER", self.other()))?;
        std::fs::write(root.join("published.toml"), PUBLISHED)?;
        std::fs::create_dir(root.join("figures"))?;
        std::fs::write(root.join("figures/chaos.toml"), FIGURES)?;
        Ok(())
    }

    fn other(&self) -> &'static str {
        if self.misbehaviour.is_some() { "bad" } else { "other" }
    }

    pub(crate) fn words(&self) -> Vec<&'static str> {
        let mut words = match self.kind {
            Kind::Run => vec!["run", "chaos.toml", "--get", "/"],
            Kind::Published => vec!["run", "published.toml"],
            Kind::Compare => {
                vec!["compare", "plain", self.other(), "--metric", "cpu", "--budget", "4s", "--get", "/"]
            }
            Kind::Slo => {
                let brief =
                    ["--starts", "2", "--windows", "6", "--window", "200ms", "--warm-up-max", "500ms"];
                [&["slo", self.other(), "--slo", "p99=50ms", "--get", "/"][..], &brief].concat()
            }
        };
        words.extend(["--out", OUT, "--seed", "1"]);
        if self.isolates {
            words.push("--isolate");
        }
        words
    }
}

pub(crate) const OUT: &str = "runs/out";

impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}", if self.isolates { "isolated " } else { "" }, self.kind)?;
        self.misbehaviour.map_or(Ok(()), |misbehaviour| write!(f, " with {misbehaviour}"))
    }
}

/// The run folder of a measurement, which may not exist.
pub(crate) struct Stored(pub PathBuf);

/// Whether a command of the unused service was run.
pub(crate) fn was_run_unasked(root: &Path) -> bool {
    root.join(LOOKED).exists()
}

impl Stored {
    pub(crate) fn has_begun(&self) -> bool {
        self.0.join("run.json").exists()
    }

    /// The complete lines of the journal.
    pub(crate) fn lines(&self) -> Vec<String> {
        let text = std::fs::read(self.0.join("journal.ndjson")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(str::to_owned).collect()
    }

    /// Whether the run ended by itself.
    pub(crate) fn is_complete(&self) -> bool {
        let last = self.lines().pop().unwrap_or_default();
        last.starts_with("{\"ended\"") && !last.contains("\"interrupted\"")
    }

    /// Services that failed according to the journal.
    pub(crate) fn failed(&self) -> Vec<String> {
        self.lines().into_iter().filter(|line| line.starts_with("{\"failed\"")).collect()
    }
}
