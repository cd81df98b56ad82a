//! A service whose manifest names its source: what is printed about it, a fetch that is killed, and a mirror.

use std::{fs, path::Path, process::Command};

use rustix::process::Signal;

use crate::support::{Ended, Running, USUAL, Workspace, git, home, manifest, send, start_under, within};

/// The published URL: its host does not exist.
const PUBLISHED: &str = "ssh://git@frame.invalid/frame.git";

/// A service built from `PUBLISHED`, and a copy of that repository on this machine.
struct Bench {
    workspace: Workspace,
    upstream: tempfile::TempDir,
    commit: String,
    tree: String,
}

impl Bench {
    fn new() -> Bench {
        let (workspace, upstream) = (Workspace::new(&[]), tempfile::tempdir().unwrap());
        let folder = upstream.path();
        git(folder, &["init", "--quiet"]);
        fs::write(folder.join("LICENSE"), "MIT License\n").unwrap();
        fs::write(folder.join("frame.h"), "1\n").unwrap();
        git(folder, &["add", "--all"]);
        git(folder, &["commit", "--quiet", "--message", "x"]);
        let [commit, tree] = ["HEAD", "HEAD^{tree}"].map(|name| name_of(folder, name));
        let source = format!(
            "[[source]]\ngit = \"{PUBLISHED}\"\ncommit = \"{commit}\"\ntree = \"{tree}\"\ninto = \"frame\"\n\
            [[build]]\ncommand = [\"test\", \"-s\", \"frame/frame.h\"]\n[run]"
        );
        workspace.service("framed", &manifest("framed", "correct").replace("[run]", &source));
        Bench { workspace, upstream, commit, tree }
    }

    fn start(&self, variables: &[&str], words: &[&str]) -> Running {
        start_under(&[&["env"], variables].concat(), self.workspace.root(), words)
    }

    /// Runs with git's own setting for a mirror.
    fn mirrored(&self, words: &[&str]) -> Ended {
        let key = format!("GIT_CONFIG_KEY_0=url.file://{}.insteadOf", self.upstream.path().display());
        let value = format!("GIT_CONFIG_VALUE_0={PUBLISHED}");
        self.start(&["GIT_CONFIG_COUNT=1", &key, &value], words).end()
    }

    /// The contents of the source cache.
    fn cached(&self) -> Vec<String> {
        let folder = home(self.workspace.root()).join("sources").join(&self.tree);
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
    }
}

fn name_of(folder: &Path, revision: &str) -> String {
    let output = Command::new("git").arg("-C").arg(folder).args(["rev-parse", revision]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_source_is_shown_before_it_is_fetched_and_with_its_licence_after() {
    let bench = Bench::new();
    let fetch = format!("git fetch {PUBLISHED} {}", bench.commit);
    for words in [&["doctor", "--dry-run"][..], &["trust", "--show"]] {
        let shown = bench.workspace.tare(words).expect(0);
        assert!(shown.stdout.lines().any(|line| line.ends_with(&fetch)), "{shown}");
    }
    let listed = bench.workspace.tare(&["list"]).expect(0);
    assert!(
        listed.stdout.contains(&format!("framed: built from {PUBLISHED} at {}", bench.commit)),
        "{listed}"
    );
    assert_eq!(
        bench.workspace.tare(&["list", "framed", "--json"]).expect(0).json()[0]["sources"][0]["tree"],
        bench.tree
    );
    assert_eq!(bench.cached(), [] as [&str; 0], "to look is not to fetch");

    let built = bench.mirrored(&["build", "framed"]).expect(0);
    let line = format!("from {PUBLISHED} at {}: licence MIT (LICENSE)", &bench.commit[..12]);
    assert!(built.stdout.contains(&line), "{built}");
    let again = bench.workspace.tare(&["build", "framed"]).expect(0);
    assert!(again.stdout.contains(" current ") && again.stdout.contains(&line), "{again}");
    let aspects = bench.workspace.tare(&["list", "framed", "--footprint"]).expect(0);
    assert!(aspects.stdout.contains(&format!("framed: {line}")), "{aspects}");
    let json = bench.workspace.tare(&["list", "framed", "--footprint", "--json"]).expect(0).json();
    assert_eq!((&json[0]["licence"]["source"], &json[0]["licence"]["spdx"]), (&"git".into(), &"MIT".into()));
}

#[test]
fn without_the_host_the_row_stays_and_a_mirror_is_named() {
    let bench = Bench::new();
    // Prints the message of ssh, without a query to a name server.
    let ssh = "GIT_SSH_COMMAND=echo Could not resolve hostname frame.invalid >&2; exit 255; :";
    let built = bench.start(&[ssh], &["build", "framed"]).end().expect(0);
    assert!(
        built.stdout.contains("framed            missing source: ssh://git@frame.invalid/frame.git"),
        "{built}"
    );
    assert!(
        built.stdout.contains(&format!("`git config --global url.<mirror>.insteadOf {PUBLISHED}`")),
        "{built}"
    );
    // Nothing was verified, as with a missing toolchain.
    let verified = bench.start(&[ssh], &["verify", "framed", "--json"]).end().expect(1).json();
    assert_eq!(verified[0]["result"], "missing");
}

#[test]
fn a_fetch_that_is_killed_is_never_used() {
    let bench = Bench::new();
    let begun = bench.workspace.root().join("begun");
    let ssh = format!("GIT_SSH_COMMAND=touch {}; sleep 600; :", begun.display());
    let mut tare = bench.start(&[&ssh], &["build", "framed"]);
    assert!(within(USUAL, || begun.exists() || tare.has_ended()));
    send(tare.pid(), Signal::KILL);
    // `end` checks that git and its children are gone.
    assert_eq!(tare.end().code(), None);
    assert_eq!(bench.cached(), ["1"], "half of it is there");
    bench.mirrored(&["build", "framed"]).expect(0);
    assert_eq!(bench.cached(), ["repository"]);
}
