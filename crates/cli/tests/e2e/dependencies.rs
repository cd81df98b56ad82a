//! Two revisions that differ only in the version of a package: each runs with that of its own lock file. The
//! answer contains the version, so the contract learned from the baseline fails for the candidate.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use tare_host::fixture::has_program;
use tempfile::TempDir;

use crate::support::{Ended, Running, git, start_under};

/// Time limit for tools that download and compile packages, twice.
const PATIENCE: Duration = Duration::from_secs(400);

/// A repository of a user, and a folder for Tare's builds outside of it, as users have by default.
pub(crate) struct Repository {
    folder: TempDir,
    home: TempDir,
    /// A folder of programs that comes first in `PATH`.
    tools: PathBuf,
}

impl Repository {
    pub(crate) fn new() -> Repository {
        let [folder, home] =
            ["work", "home"].map(|name| tempfile::Builder::new().prefix(name).tempdir().unwrap());
        git(folder.path(), &["init", "--quiet", "--initial-branch=main"]);
        let tools = home.path().join("tools/bin");
        Repository { folder, home, tools }
    }

    /// A server for Node, and a commit that upgrades its package `ms` from 2.0.0 to 2.1.3. The work tree has
    /// the new package.
    pub(crate) fn upgraded(test: &str, server: &str) -> Option<Repository> {
        if !["node", "npm"].iter().all(|program| has_program(test, program)) {
            return None;
        }
        let repository = Repository::new();
        repository.write("server.js", server);
        repository.write(".gitignore", "node_modules\n.tare\nout\n");
        repository.write("package.json", r#"{"name": "shop", "version": "1.0.0", "private": true}"#);
        for version in ["2.0.0", "2.1.3"] {
            repository.run(&format!("npm install --no-audit --no-fund --save-exact ms@{version}"));
            repository.commit(version);
        }
        Some(repository)
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn commit(&self, message: &str) {
        git(self.path(), &["add", "."]);
        git(self.path(), &["commit", "--quiet", "-m", message]);
    }

    /// Runs a program of the ecosystem, as the author of the repository would.
    pub(crate) fn run(&self, line: &str) {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(self.path()).env("PATH", self.programs());
        let done = shell.output().unwrap();
        assert!(done.status.success(), "{line}: {done:?}");
    }

    pub(crate) fn tare(&self, words: &[&str]) -> Ended {
        self.start(words).end_within(PATIENCE)
    }

    pub(crate) fn start(&self, words: &[&str]) -> Running {
        self.start_plain(&[words, &self.home()].concat())
    }

    /// The value of `PATH`.
    fn programs(&self) -> String {
        format!("{}:{}", self.tools.display(), std::env::var("PATH").unwrap())
    }

    /// The folder for what Tare builds.
    pub(crate) fn home_folder(&self) -> &Path {
        self.home.path()
    }

    /// The option for that folder.
    pub(crate) fn home(&self) -> [&str; 2] {
        ["--home", self.home_folder().to_str().unwrap()]
    }

    /// Without that option, Tare keeps its builds below the repository.
    pub(crate) fn tare_plain(&self, words: &[&str]) -> Ended {
        self.start_plain(words).end_within(PATIENCE)
    }

    fn start_plain(&self, words: &[&str]) -> Running {
        // Settings for the work tree must not affect revisions.
        let inner = |path: &str| self.path().join(path).display().to_string();
        let variables = [
            format!("NODE_PATH={}", inner("node_modules")),
            format!("PYTHONPATH={}", inner(".venv/lib/python3/site-packages")),
            format!("VIRTUAL_ENV={}", inner(".venv")),
            format!("PATH={}", self.programs()),
        ];
        let wrapper: Vec<&str> = ["env"].into_iter().chain(variables.iter().map(String::as_str)).collect();
        start_under(&wrapper, self.path(), words)
    }

    pub(crate) fn compare(&self, command: &str, words: &[&str]) -> Ended {
        let compare = ["compare", command, "--revisions", "HEAD~1..HEAD", "--get", "/", "--budget", "4s"];
        self.tare(&[&compare[..], words].concat())
    }

    /// Expects that the baseline answers with `old`, the candidate with `new`, and the output names both.
    pub(crate) fn each_has_its_own(
        &self,
        command: &str,
        words: &[&str],
        [old, new]: [&str; 2],
        change: &str,
    ) {
        let ended = self.compare(command, &[words, &["--out", "out"]].concat()).expect(2);
        let learned = fs::read_to_string(self.path().join("out/contracts/learned.toml")).unwrap();
        assert!(learned.contains(old) && !learned.contains(new), "{learned}");
        let unset = ["NODE_PATH", "PYTHONPATH", "VIRTUAL_ENV"].iter().all(|name| ended.stderr.contains(name));
        assert!(ended.stderr.contains("note: revisions run without ") && unset, "{ended}");
        let left_out = ended.line_of_stderr(&format!("left out {command}@HEAD: "));
        assert!(left_out.contains(new), "{left_out}");
        assert!(ended.stderr.contains(&format!(": {change}")), "{ended}");
        let stored = fs::read_to_string(self.path().join("out/run.json")).unwrap();
        assert!(stored.contains(&format!("; dependencies: {change}")), "{stored}");
    }
}

const PYTHON: &str = "\
import http.server, os, six
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        body = six.__version__.encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
http.server.ThreadingHTTPServer(('127.0.0.1', int(os.environ['PORT'])), Handler).serve_forever()
";

#[test]
fn of_pip() {
    if !has_program("packages of pip", "python3") {
        return;
    }
    let repository = Repository::new();
    repository.write("app.py", PYTHON);
    repository.write(".gitignore", ".venv\n");
    for version in ["1.15.0", "1.16.0"] {
        repository.write("requirements.txt", &format!("six=={version}\n"));
        repository.commit(version);
    }
    // Neither revision has the version of the work tree.
    repository.run("python3 -m venv .venv && .venv/bin/pip install --quiet six==1.17.0");
    let versions = ["1.15.0", "1.16.0"];
    repository.each_has_its_own("python app.py", &[], versions, "six 1.15.0 -> 1.16.0");
    let venv = repository.path().join(".venv/bin/python");
    let absolute = format!("{} app.py", venv.display());
    let refused = repository.compare(&absolute, &[]).expect(1);
    assert!(refused.stderr.contains("leads into your work tree"), "{refused}");
    assert!(refused.stderr.contains("as .venv/bin/python, and each has its own"), "{refused}");
    fs::remove_dir_all(repository.path().join("out")).unwrap();
    repository.each_has_its_own(".venv/bin/python app.py", &[], versions, "six 1.15.0 -> 1.16.0");
    // A path that the command does not contain is found once the service has answered.
    repository.write("serve.sh", &format!("exec {} app.py\n", venv.display()));
    repository.commit("a path");
    repository.write("README.md", "a shop");
    repository.commit("the same path");
    let seen = repository.compare("sh serve.sh", &[]).expect(1);
    let wanted = format!("it works with {}, which is of your work tree", venv.display());
    assert!(seen.stderr.contains(&wanted), "{seen}");
}

#[test]
fn of_uv() {
    if !has_program("packages of uv", "python3") {
        return;
    }
    let repository = Repository::new();
    // Debian has no package for it.
    let folder = repository.tools.parent().unwrap().display().to_string();
    repository.run(&format!("python3 -m venv {folder} && {folder}/bin/pip install --quiet uv==0.13.9"));
    repository.write("app.py", PYTHON);
    repository.write(".gitignore", ".venv\n");
    for version in ["1.15.0", "1.16.0"] {
        let project = format!(
            "[project]\nname = \"shop\"\nversion = \"1\"\nrequires-python = \">=3.9\"\ndependencies = [\"six=={version}\"]\n"
        );
        repository.write("pyproject.toml", &project);
        repository.run("uv lock --quiet");
        repository.commit(version);
    }
    repository.each_has_its_own("python app.py", &[], ["1.15.0", "1.16.0"], "six 1.15.0 -> 1.16.0");
}

const GO: &str = "\
package main

import (
    \"net/http\"
    \"os\"
    \"runtime/debug\"

    _ \"rsc.io/sampler\"
)

func main() {
    http.HandleFunc(\"/\", func(w http.ResponseWriter, r *http.Request) {
        info, _ := debug.ReadBuildInfo()
        for _, module := range info.Deps {
            if module.Path == \"rsc.io/sampler\" {
                w.Write([]byte(module.Version))
            }
        }
    })
    http.ListenAndServe(\"127.0.0.1:\"+os.Getenv(\"PORT\"), nil)
}
";

#[test]
fn of_go() {
    if !has_program("modules of Go", "go") {
        return;
    }
    let repository = Repository::new();
    repository.write("main.go", GO);
    repository.write("go.mod", "module example.org/shop\n\ngo 1.21\n");
    for version in ["v1.3.0", "v1.3.1"] {
        repository.run(&format!("go get rsc.io/sampler@{version} && go mod tidy"));
        repository.commit(version);
    }
    let change = "rsc.io/sampler v1.3.0 -> v1.3.1";
    repository.each_has_its_own("go run .", &[], ["v1.3.0", "v1.3.1"], change);
    let refused = repository.compare("./shop serve", &[]).expect(1);
    assert!(refused.stderr.contains("--build 'go build -o shop .'"), "{refused}");
    fs::remove_dir_all(repository.path().join("out")).unwrap();
    repository.each_has_its_own(
        "./shop serve",
        &["--build", "go build -o shop ."],
        ["v1.3.0", "v1.3.1"],
        change,
    );
}

const JAVA: &str = "\
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;

public class Main {
    public static void main(String[] words) throws Exception {
        var place = com.google.gson.Gson.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        byte[] body = place.substring(place.lastIndexOf('/') + 1).getBytes();
        var port = Integer.parseInt(System.getenv(\"PORT\"));
        var server = HttpServer.create(new InetSocketAddress(\"127.0.0.1\", port), 0);
        server.createContext(\"/\", exchange -> {
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }
}
";

fn pom(version: &str) -> String {
    format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>\n\
         <groupId>org.example</groupId><artifactId>shop</artifactId><version>1</version>\n\
         <properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target>\n\
         <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>\n\
         <dependencies><dependency><groupId>com.google.code.gson</groupId><artifactId>gson</artifactId>\
         <version>{version}</version></dependency></dependencies>\n\
         <build><plugins><plugin><artifactId>maven-dependency-plugin</artifactId><executions><execution><phase>package</phase>\
         <goals><goal>copy-dependencies</goal></goals></execution></executions></plugin></plugins></build></project>\n"
    )
}

#[test]
fn of_maven() {
    if !["java", "mvn"].iter().all(|program| has_program("packages of Maven", program)) {
        return;
    }
    let repository = Repository::new();
    repository.write("src/main/java/Main.java", JAVA);
    repository.write(".gitignore", "target\n");
    for version in ["2.10", "2.11.0"] {
        repository.write("pom.xml", &pom(version));
        repository.commit(version);
    }
    let command = "java -cp target/classes:target/dependency/* Main";
    let change = "com.google.code.gson:gson 2.10 -> 2.11.0";
    repository.each_has_its_own(command, &[], ["gson-2.10.jar", "gson-2.11.0.jar"], change);
}

const RUST: &str = "\
use std::io::{Read, Write};

fn main() {
    let port = std::env::var(\"PORT\").unwrap();
    let body = format!(\"{:?}\", unicode_segmentation::UNICODE_VERSION);
    for stream in std::net::TcpListener::bind(format!(\"127.0.0.1:{port}\")).unwrap().incoming() {
        let mut stream = stream.unwrap();
        let body = body.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while stream.read(&mut bytes).is_ok_and(|length| length > 0) {
                let head = format!(\"HTTP/1.1 200 OK\\r\\nContent-Length: {}\\r\\n\\r\\n\", body.len());
                let _ = stream.write_all((head + &body).as_bytes());
            }
        });
    }
}
";

#[test]
fn of_cargo() {
    if !has_program("crates", "cargo") {
        return;
    }
    let repository = Repository::new();
    repository.write("src/main.rs", RUST);
    repository.write(".gitignore", "target\n");
    for version in ["1.10.1", "1.12.0"] {
        let manifest = format!(
            "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nunicode-segmentation = \"={version}\"\n"
        );
        repository.write("Cargo.toml", &manifest);
        repository.run("cargo generate-lockfile --quiet");
        repository.commit(version);
    }
    let change = "unicode-segmentation 1.10.1 -> 1.12.0";
    repository.each_has_its_own("target/debug/shop serve", &[], ["(15, 0, 0)", "(16, 0, 0)"], change);
}
