//! Sources in manifests, fetched from git repositories on this machine.

use std::{fs, path::PathBuf, process::Command};

use tare_service::{
    build::{BuildError, SourceError},
    catalogue::{GitSource, Service},
    survey::CacheKind,
};

use super::bench::Bench;

const LICENCE: &str = "MIT License\n\nCopyright (c) A\n";

/// A published repository.
struct Upstream(PathBuf);

impl Upstream {
    fn new(bench: &Bench, name: &str) -> Upstream {
        let upstream = Upstream(bench.path(name));
        fs::create_dir_all(&upstream.0).unwrap();
        upstream.git(&["init", "--quiet", "--initial-branch=main"]);
        upstream
    }

    fn git(&self, words: &[&str]) -> String {
        let user = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgSign=false"];
        let done = Command::new("git")
            .arg("-C")
            .arg(&self.0)
            .args(user)
            .args(words)
            .env_remove("GIT_DIR")
            .output()
            .unwrap();
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    }

    fn commit(&self, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = self.0.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "x"]);
    }

    fn url(&self) -> String {
        format!("file://{}", self.0.display())
    }

    /// A source with its newest commit.
    fn source(&self, into: &str) -> GitSource {
        GitSource {
            git: self.url(),
            commit: self.git(&["rev-parse", "HEAD"]),
            tree: self.git(&["rev-parse", "HEAD^{tree}"]),
            into: into.into(),
            patch: Vec::new(),
        }
    }
}

fn with(service: Service, sources: &[GitSource]) -> Service {
    Service { sources: sources.to_vec(), ..service }
}

fn log(bench: &Bench, checkout: &str, service: &Service) -> String {
    fs::read_to_string(bench.builder(checkout).log(service)).unwrap()
}

fn source_error(built: Result<tare_service::build::Built, BuildError>) -> SourceError {
    match built {
        Err(BuildError::Source(error)) => error,
        other => panic!("{other:?}"),
    }
}

/// The error with the run's paths and names replaced.
fn golden(bench: &Bench, source: &GitSource, error: &SourceError) -> String {
    let names = [(source.commit.as_str(), "COMMIT"), (source.tree.as_str(), "TREE")];
    let text = names.iter().fold(error.to_string(), |text, (name, word)| text.replace(name, word));
    text.replace(bench.path("").to_str().unwrap().trim_end_matches('/'), "BENCH")
}

#[test]
fn a_source_is_fetched_once_and_lies_in_each_build() {
    let bench = Bench::new();
    let upstream = Upstream::new(&bench, "frame");
    upstream.commit(&[("LICENSE", LICENCE), ("src/frame.h", "1.2.3\n")]);
    let source = upstream.source("vendor/frame");
    let of = |checkout: &str, script: &str| {
        let script = format!("{script}\ncat vendor/frame/src/frame.h > version");
        with(bench.service(checkout, "web", &script), std::slice::from_ref(&source))
    };
    let (one, two) = (of("one", "true"), of("two", "true # other"));
    let first = bench.build("one", &one).unwrap();
    assert_eq!((first.version.as_str(), first.cached), ("1.2.3", false));
    let [laid] = first.sources.as_slice() else { panic!("{first:?}") };
    assert_eq!((&laid.git, &laid.commit, &laid.tree), (&source.git, &source.commit, &source.tree));
    let licence = laid.licence.as_ref().unwrap();
    assert_eq!((licence.file.as_str(), licence.spdx.as_deref()), ("LICENSE", Some("MIT")));
    assert!(!one.folder.join("vendor").exists(), "the checkout is not written to");
    let fetches =
        |checkout: &str, service: &Service| log(&bench, checkout, service).matches("$ git fetch").count();
    assert_eq!(fetches("one", &one), 1);
    // Without the repository: the fetched content suffices for another build, and for this one's record.
    fs::rename(bench.path("frame"), bench.path("gone")).unwrap();
    let second = bench.build("two", &two).unwrap();
    assert_eq!((second.version.as_str(), fetches("two", &two)), ("1.2.3", 0));
    let again = bench.build("one", &one).unwrap();
    assert!(again.cached && again.sources == first.sources);
    assert_eq!(bench.builder("one").last(&one).unwrap().sources, first.sources);
}

#[test]
fn the_commit_that_is_named_is_built_though_it_is_not_the_newest() {
    let bench = Bench::new();
    let upstream = Upstream::new(&bench, "frame");
    upstream.commit(&[("version", "1\n")]);
    let old = upstream.source("frame");
    upstream.commit(&[("version", "2\n")]);
    let new = upstream.source("frame");
    let service = bench.service("one", "web", "cat frame/version > version");
    let build = |source: &GitSource| {
        bench.build("one", &with(service.clone(), std::slice::from_ref(source))).unwrap()
    };
    let (first, second) = (build(&old), build(&new));
    assert_eq!((first.version.as_str(), second.version.as_str()), ("1", "2"));
    assert!(first.content != second.content, "commit and tree are part of what a build is made from");
    // Another commit of the same tree has the same content, but is another build.
    upstream.git(&["commit", "--quiet", "--allow-empty", "--message", "y"]);
    let same = upstream.source("frame");
    assert_eq!(same.tree, new.tree);
    let third = build(&same);
    assert!(!third.cached && third.content != second.content && third.version == "2");
}

#[test]
fn a_server_that_gives_only_branches_away_is_asked_for_all_of_them() {
    let bench = Bench::new();
    let upstream = Upstream::new(&bench, "frame");
    upstream.commit(&[("version", "1\n")]);
    let old = upstream.source("frame");
    upstream.commit(&[("version", "2\n")]);
    let service =
        with(bench.service("one", "web", "cat frame/version > version"), std::slice::from_ref(&old));
    let name = "sources::a_server_that_gives_only_branches_away_is_asked_for_all_of_them";
    // In version 0 of git's protocol a server serves named commits only.
    let config = bench.path("gitconfig");
    fs::write(&config, "[protocol]\n\tversion = 0\n").unwrap();
    if !is_with(name, "GIT_CONFIG_GLOBAL", config) {
        return;
    }
    assert_eq!(bench.build("one", &service).unwrap().version, "1");
    let log = log(&bench, "one", &service);
    let refused =
        format!("$ git fetch --no-tags --no-write-fetch-head --no-recurse-submodules --depth=1 {}", old.git);
    assert!(log.contains(&refused) && log.contains("+refs/*:refs/*"), "{log}");
}

/// Runs the test `name` in a new process with one more variable. True inside that process.
fn is_with(name: &str, variable: &str, value: PathBuf) -> bool {
    const MARK: &str = "TEST_OF_ITS_OWN";
    if std::env::var_os(MARK).is_some() {
        return true;
    }
    let mut test = Command::new(std::env::current_exe().unwrap());
    let done =
        test.args([name, "--exact", "--nocapture"]).env(MARK, "1").env(variable, value).output().unwrap();
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(
        done.status.success() && text.contains("1 passed"),
        "{text}{}",
        String::from_utf8_lossy(&done.stderr)
    );
    false
}

#[test]
fn another_tree_than_the_named_one_is_not_used() {
    let bench = Bench::new();
    let upstream = Upstream::new(&bench, "frame");
    upstream.commit(&[("version", "1\n")]);
    let source = GitSource { tree: "2".repeat(40), ..upstream.source("frame") };
    let found = upstream.source("frame").tree;
    let service = with(bench.service("one", "web", "note\ntrue"), std::slice::from_ref(&source));
    let error = source_error(bench.build("one", &service));
    assert!(!error.is_of_this_machine());
    insta::assert_snapshot!(golden(&bench, &source, &error).replace(&found, "FOUND"), @"commit COMMIT of file://BENCH/frame has the tree FOUND, and the manifest says TREE: nothing of it was used");
    assert_eq!(bench.notes(), 0, "no step ran");
    assert_eq!(kept(&bench, &source.tree), [] as [&str; 0], "nothing of it is kept");
}

/// The content of a tree's cache folder.
fn kept(bench: &Bench, tree: &str) -> Vec<String> {
    let entries = fs::read_dir(bench.home().join("sources").join(tree)).unwrap().flatten();
    entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

#[test]
fn a_source_that_cannot_be_had_says_why() {
    let bench = Bench::new();
    let upstream = Upstream::new(&bench, "frame");
    upstream.commit(&[("version", "1\n")]);
    let source = upstream.source("frame");
    let build = |source: &GitSource| {
        let service = bench.service("one", "web", "true");
        bench.build("one", &with(service, std::slice::from_ref(source)))
    };
    let nowhere = GitSource { git: format!("file://{}", bench.path("nowhere").display()), ..source.clone() };
    let error = source_error(build(&nowhere));
    assert!(error.is_of_this_machine(), "the row stays, with its reason");
    insta::assert_snapshot!(golden(&bench, &source, &error), @"file://BENCH/nowhere cannot be reached: 'BENCH/nowhere' does not appear to be a git repository; where the network has no such host, name a mirror of it by `git config --global url.<mirror>.insteadOf file://BENCH/nowhere`; all of it: BENCH/one/builds/web.log");
    let no_host = GitSource { git: "git://127.0.0.1:1/frame.git".to_owned(), ..source.clone() };
    let error = source_error(build(&no_host));
    assert!(error.is_of_this_machine());
    insta::assert_snapshot!(golden(&bench, &source, &error), @"git://127.0.0.1:1/frame.git cannot be reached: unable to connect to 127.0.0.1; where the network has no such host, name a mirror of it by `git config --global url.<mirror>.insteadOf git://127.0.0.1:1/frame.git`; all of it: BENCH/one/builds/web.log");
    let no_commit = GitSource { commit: "1".repeat(40), ..source.clone() };
    let error = source_error(build(&no_commit));
    assert!(!error.is_of_this_machine(), "it is there, and does not have it");
    insta::assert_snapshot!(golden(&bench, &no_commit, &error), @"file://BENCH/frame has no commit COMMIT; all of it: BENCH/one/builds/web.log");
}

#[test]
fn patches_change_the_source_in_their_order() {
    let bench = Bench::new();
    let upstream = Upstream::new(&bench, "frame");
    upstream.commit(&[("version", "1\n"), ("other", "x\n")]);
    let patch = |from: &str, to: &str| format!("--- a/version\n+++ b/version\n@@ -1 +1 @@\n-{from}\n+{to}\n");
    let service = bench.service("one", "web", "cat vendor/frame/version > version");
    for (name, text) in [("one.patch", patch("1", "2")), ("two.patch", patch("2", "3"))] {
        fs::write(service.folder.join(name), text).unwrap();
    }
    let of = |patch: &[&str]| GitSource {
        patch: patch.iter().map(PathBuf::from).collect(),
        ..upstream.source("vendor/frame")
    };
    let build = |source: &GitSource| bench.build("one", &with(service.clone(), std::slice::from_ref(source)));
    let built = build(&of(&["one.patch", "two.patch"])).unwrap();
    assert_eq!(built.version, "3");
    assert!(built.sources[0].line().ends_with(", changed by one.patch, two.patch"), "{:?}", built.sources);
    assert_eq!(build(&of(&[])).unwrap().version, "1", "what is cached is not changed by a patch");
    let source = of(&["two.patch"]);
    let error = source_error(build(&source));
    insta::assert_snapshot!(golden(&bench, &source, &error), @r#""two.patch" cannot be applied to file://BENCH/frame: patch failed: version:1; all of it: BENCH/one/builds/web.log"#);
}

/// A test's home may be in a work tree, like `.tare/home`: git must not apply a patch's paths to that tree.
#[test]
fn a_repository_around_the_cache_and_one_of_a_hook_are_not_meant() {
    let bench = Bench::new();
    let around = Upstream(bench.path(""));
    around.git(&["init", "--quiet"]);
    let upstream = Upstream::new(&bench, "frame");
    upstream.commit(&[("version", "1\n")]);
    let service = bench.service("one", "web", "cat frame/version > version");
    fs::write(service.folder.join("a.patch"), "--- a/version\n+++ b/version\n@@ -1 +1 @@\n-1\n+2\n").unwrap();
    let source = GitSource { patch: vec!["a.patch".into()], ..upstream.source("frame") };
    let name = "sources::a_repository_around_the_cache_and_one_of_a_hook_are_not_meant";
    let hooks = bench.path("frame/.git");
    if is_with(name, "GIT_DIR", hooks.clone()) {
        assert_eq!(bench.build("one", &with(service, &[source])).unwrap().version, "2");
        assert!(!hooks.join("info/attributes").exists());
    }
}

#[test]
fn a_submodule_is_another_source_within_the_first() {
    let bench = Bench::new();
    let (outer, inner) = (Upstream::new(&bench, "outer"), Upstream::new(&bench, "inner"));
    inner.commit(&[("version", "7\n"), ("LICENSE", "ask us\n")]);
    outer.commit(&[("a", "1\n")]);
    let gitlink = format!("160000,{},lib/inner", inner.git(&["rev-parse", "HEAD"]));
    outer.git(&["update-index", "--add", "--cacheinfo", &gitlink]);
    outer.git(&["commit", "--quiet", "--message", "with a submodule"]);
    let sources = [outer.source("outer"), inner.source("outer/lib/inner")];
    let service = with(bench.service("one", "web", "cat outer/lib/inner/version > version"), &sources);
    let built = bench.build("one", &service).unwrap();
    assert_eq!(built.version, "7");
    let licences: Vec<_> = built.sources.iter().map(|laid| laid.licence.clone()).collect();
    assert!(licences[0].is_none());
    assert_eq!(licences[1].as_ref().map(|licence| licence.spdx.clone()), Some(None));
}

#[test]
fn a_source_goes_where_there_is_nothing_and_not_through_a_link() {
    let bench = Bench::new();
    let outside = bench.path("outside");
    fs::create_dir(&outside).unwrap();
    let upstream = Upstream::new(&bench, "frame");
    std::os::unix::fs::symlink(&outside, upstream.0.join("link")).unwrap();
    upstream.commit(&[("version", "1\n")]);
    let service = bench.service("one", "web", "true");
    fs::create_dir(service.folder.join("own")).unwrap();
    fs::write(service.folder.join("own/file"), "").unwrap();
    let taken = with(service.clone(), &[upstream.source("own")]);
    let error = source_error(bench.build("one", &taken));
    insta::assert_snapshot!(error, @r#""own" is in the service's folder already: a source goes where there is nothing"#);
    let through = with(service, &[upstream.source("frame"), upstream.source("frame/link/deep")]);
    let error = source_error(bench.build("one", &through));
    assert!(matches!(error, SourceError::Taken { .. }), "{error}");
    assert_eq!(fs::read_dir(outside).unwrap().count(), 0);
}

/// Attributes are meant for archives by the repository's authors; a build gets every file as in the tree.
#[test]
fn every_file_is_as_the_tree_has_it() {
    let bench = Bench::new();
    let upstream = Upstream::new(&bench, "frame");
    let attributes =
        "tests export-ignore\nversion export-subst ident\nlines text eol=crlf\n*.big filter=missing\n";
    upstream.commit(&[
        (".gitattributes", attributes),
        ("tests/one", "1\n"),
        ("version", "$Format:%H$ $Id$\n"),
        ("lines", "a\nb\n"),
        ("x.big", "pointer\n"),
    ]);
    let script =
        "cat frame/version frame/tests/one frame/lines frame/x.big | sha256sum | cut -c 1-64 > version";
    let built =
        bench.build("one", &with(bench.service("one", "web", script), &[upstream.source("frame")])).unwrap();
    let expected = "$Format:%H$ $Id$\n1\na\nb\npointer\n";
    let sum =
        Command::new("sh").args(["-c", &format!("printf '%s' '{expected}' | sha256sum")]).output().unwrap();
    assert!(String::from_utf8(sum.stdout).unwrap().starts_with(&built.version));
}

#[test]
fn half_a_fetch_is_never_used_and_is_removed() {
    let bench = Bench::new();
    let upstream = Upstream::new(&bench, "frame");
    upstream.commit(&[("version", "1\n")]);
    let source = upstream.source("frame");
    // As a killed fetch leaves it: a repository without objects.
    let slot = bench.home().join("sources").join(&source.tree);
    for half in ["1", "2"] {
        fs::create_dir_all(slot.join(half)).unwrap();
        Upstream(slot.join(half)).git(&["init", "--quiet", "--bare"]);
    }
    let service =
        with(bench.service("one", "web", "cat frame/version > version"), std::slice::from_ref(&source));
    assert_eq!(bench.build("one", &service).unwrap().version, "1");
    assert_eq!(kept(&bench, &source.tree), ["repository"]);
    // A repository whose objects were lost is fetched again.
    for entry in fs::read_dir(slot.join("repository/objects")).unwrap().flatten() {
        fs::remove_dir_all(entry.path()).unwrap();
    }
    let other = bench.service("two", "web", "cat frame/version > version\ntrue");
    assert_eq!(bench.build("two", &with(other, &[source])).unwrap().version, "1");
}

#[test]
fn two_builders_fetch_one_source_once() {
    let bench = Bench::new();
    let upstream = Upstream::new(&bench, "frame");
    upstream.commit(&[("version", "1\n")]);
    let source = upstream.source("frame");
    let services = ["one", "two", "three"].map(|checkout| {
        let script = format!("cat frame/version > version\n# {checkout}");
        (checkout, with(bench.service(checkout, "web", &script), std::slice::from_ref(&source)))
    });
    std::thread::scope(|scope| {
        let builds =
            services.each_ref().map(|(checkout, service)| scope.spawn(|| bench.build(checkout, service)));
        for build in builds {
            assert!(!build.join().unwrap().unwrap().cached, "three builds");
        }
    });
    let fetches =
        |(checkout, service): &(&str, Service)| log(&bench, checkout, service).matches("$ git fetch").count();
    assert_eq!(services.iter().map(fetches).sum::<usize>(), 1);
}

#[test]
fn what_was_fetched_is_pruned_with_what_was_built() {
    use std::time::{Duration, SystemTime};
    let bench = Bench::new();
    let upstream = Upstream::new(&bench, "frame");
    upstream.commit(&[("version", "1\n")]);
    let source = upstream.source("frame");
    let service =
        with(bench.service("one", "web", "cat frame/version > version"), std::slice::from_ref(&source));
    drop(bench.build("one", &service).unwrap());
    let prune = |before| {
        let found = bench.store().survey(before, &super::bench::NOT_INTERRUPTED).unwrap();
        let sources = found.into_iter().filter(|(kind, _)| *kind == CacheKind::Sources);
        sources.map(|(_, kept)| (kept.removed, kept.bytes > 0)).collect::<Vec<_>>()
    };
    let minute = Duration::from_secs(60);
    assert_eq!(
        (prune(None), prune(Some(SystemTime::now() - minute))),
        (vec![(false, true)], vec![(false, true)])
    );
    assert_eq!((prune(Some(SystemTime::now() + minute)), prune(None)), (vec![(true, true)], vec![]));
    assert!(!bench.home().join("sources").join(&source.tree).exists());
    assert_eq!(bench.build("one", &service).unwrap().version, "1", "it is fetched again");
}

#[test]
fn without_git_the_package_is_named() {
    let bench = Bench::new();
    let source = GitSource {
        git: "https://example.org/frame".to_owned(),
        commit: "1".repeat(40),
        tree: "2".repeat(40),
        into: "frame".into(),
        patch: Vec::new(),
    };
    let service = with(bench.service("one", "web", "true"), &[source]);
    let empty = bench.path("empty");
    fs::create_dir(&empty).unwrap();
    if !is_with("sources::without_git_the_package_is_named", "PATH", empty) {
        return;
    }
    let error = bench.build("one", &service).unwrap_err();
    assert!(error.is_of_this_machine());
    assert_eq!(
        error.to_string(),
        "not on this machine: \"git --version\" cannot run: there is no such program; `apt-get install git` (it fetches \
         what a [[source]] names)"
    );
}
