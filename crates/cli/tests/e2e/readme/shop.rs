//! A user's service in the user's own repository, for Node without packages.

use std::{
    fs,
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use tare_host::fixture::has_program;
use tempfile::TempDir;

use crate::support::{Ended, Running, USUAL, checkout, free_port, git, start, within};

/// A server that returns one item after some work.
const SERVER: &str = r#"
const work = () => { let sum = 0; for (let i = 0; i < WORK; i++) sum += Math.sqrt(i); return sum; };
const item = { id: 1, name: "tea", price: 3 };
require("node:http").createServer((request, response) => {
  work();
  const found = request.url === "/items/1";
  response.writeHead(found ? 200 : 404, { "Content-Type": "application/json" });
  response.end(JSON.stringify(found ? item : {}));
}).listen(process.env.PORT, "127.0.0.1");
"#;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    Cheap,
    /// Works for a millisecond or more per request, so that a few blocks on a busy machine show it.
    Dear,
    /// Does not start.
    Broken,
}

impl Version {
    fn source(self) -> String {
        match self {
            Version::Cheap => SERVER.replace("WORK", "0"),
            Version::Dear => SERVER.replace("WORK", "1000000"),
            Version::Broken => "\nrequire(\"./no-such-file\");\n".to_owned(),
        }
    }
}

pub struct Shop {
    path: PathBuf,
    _folder: TempDir,
}

impl Shop {
    /// A folder with only `server.js`; `None`, with a message, if this machine has no Node.
    pub fn new(test: &str) -> Option<Shop> {
        if !has_program(test, "node") {
            return None;
        }
        let (folder, path) = checkout("shop");
        let shop = Shop { path, _folder: folder };
        shop.write("server.js", &Version::Cheap.source());
        Some(shop)
    }

    /// A repository with one commit per version. The first has the tag `old`, and the last is checked out.
    pub fn with_commits(test: &str, versions: &[Version]) -> Option<Shop> {
        let shop = Shop::new(test)?;
        shop.git(&["init", "--quiet", "--initial-branch=main"]);
        for (number, version) in versions.iter().enumerate() {
            shop.commit(number, *version);
        }
        shop.git(&["tag", "old", &format!("HEAD~{}", versions.len() - 1)]);
        Some(shop)
    }

    /// Adds a branch `topic` beside `main` with another version, and checks it out.
    pub fn with_branch(test: &str, version: Version) -> Option<Shop> {
        let shop = Shop::with_commits(test, &[Version::Cheap])?;
        shop.branch(version);
        Some(shop)
    }

    pub fn branch(&self, version: Version) {
        self.git(&["checkout", "--quiet", "-b", "topic"]);
        self.commit(1, version);
    }

    fn commit(&self, number: usize, version: Version) {
        self.write("server.js", &format!("// {number}{}", version.source()));
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "-m", &format!("{number}: {version:?}")]);
    }

    pub fn git(&self, words: &[&str]) {
        git(self.path(), words);
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn start(&self, words: &[&str]) -> Running {
        start(self.path(), words)
    }

    pub fn tare(&self, words: &[&str]) -> Ended {
        self.start(words).end()
    }

    /// Starts a version of it as its user would.
    pub fn serve(&self, version: Version) -> Server {
        let script = format!("{version:?}.js");
        self.write(&script, &version.source());
        Server::start(Command::new("node").arg(script).current_dir(self.path()))
    }
}

/// A server that Tare did not start.
pub struct Server {
    child: Child,
    pub port: u16,
}

impl Server {
    /// Starts it with a port of its own in its environment.
    pub fn start(command: &mut Command) -> Server {
        let port = free_port();
        command.env("PORT", port.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let server = Server { child: command.spawn().unwrap(), port };
        assert!(within(USUAL, || TcpStream::connect(("127.0.0.1", port)).is_ok()), "it does not listen");
        server
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn pid(&self) -> String {
        self.child.id().to_string()
    }

    pub fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _it_may_have_ended = self.child.kill();
        let _ = self.child.wait();
    }
}
