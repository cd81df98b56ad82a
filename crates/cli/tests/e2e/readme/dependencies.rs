//! Each revision has its own packages: the first command of README.md, in a repository that upgrades one.

use crate::{dependencies::Repository, support::start_under};

const SERVER: &str = "\
const version = require('ms/package.json').version;
require('node:http').createServer((request, response) => response.end(version)).listen(process.env.PORT, '127.0.0.1');
";

#[test]
fn a_branch_that_upgrades_a_package_is_compared_with_the_version_before() {
    let Some(repository) = Repository::upgraded("a branch that upgrades a package", SERVER) else { return };
    let dry = repository.compare("node server.js", &["--dry-run"]).expect(0);
    assert!(dry.stdout.contains("build       node server.js@HEAD: npm ci\n"), "{dry}");
    // Packages contain scripts, so the command that installs them needs permission.
    let words = ["compare", "node server.js", "--revisions", "HEAD~1..HEAD", "--get", "/"];
    let asked = start_under(
        &["env", "-u", "TARE_TRUST"],
        repository.path(),
        &[&words[..], &repository.home()].concat(),
    );
    let asked = asked.end().expect(1);
    assert!(asked.stderr.contains("have not been allowed on this machine"), "{asked}");
    repository.each_has_its_own("node server.js", &[], ["2.0.0", "2.1.3"], "ms 2.0.0 -> 2.1.3");
    // The user's folder is not changed.
    let installed = repository.path().join("node_modules/ms/package.json");
    assert!(std::fs::read_to_string(installed).unwrap().contains("2.1.3"));
}

#[test]
fn packages_that_would_be_the_same_for_each_revision_are_refused_with_the_remedy() {
    let Some(repository) = Repository::upgraded("packages of no lock file", SERVER) else { return };
    repository.run("git rm --quiet --cached package-lock.json && rm package-lock.json");
    repository.commit("no lock file");
    repository.write("README.md", "a shop");
    repository.commit("no lock file either");
    let refused = repository.compare("node server.js", &[]).expect(1);
    assert!(refused.stderr.contains("package.json names packages, and no lock file"), "{refused}");
    assert!(refused.stderr.contains("--build 'npm install'"), "{refused}");
    repository.compare("node server.js", &["--build", "npm install", "--dry-run"]).expect(0);
    // Nor are they below the repository, where a lookup in parent folders would find them.
    let words = ["compare", "node server.js", "--revisions", "HEAD~3..HEAD~2", "--get", "/"];
    let met = repository.tare_plain(&words).expect(1);
    assert!(met.stderr.contains("name another folder by --home or TARE_HOME"), "{met}");
    // A package with a path outside of the repository.
    repository.write("package.json", r#"{"dependencies": {"lib": "file:../lib"}}"#);
    repository.commit("a path");
    let outside = repository.compare("node server.js", &["--build", "npm install"]).expect(1);
    assert!(outside.stderr.contains("package.json takes \"../lib\", which lies outside"), "{outside}");
}
