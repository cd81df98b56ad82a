//! The programs of the test services: `fake-service` and `cheating-service`, of the package tare-service.

use std::{
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::LazyLock,
};

use super::{USUAL, free_port, within};

pub static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| beside_tare("fake-service"));
/// The program for contracts of real work.
pub static CHEATING: LazyLock<PathBuf> = LazyLock::new(|| beside_tare("cheating-service"));

/// The program beside tare. If the whole workspace is tested, cargo has built it; otherwise it is built here.
fn beside_tare(name: &str) -> PathBuf {
    let beside = Path::new(env!("CARGO_BIN_EXE_tare")).parent().unwrap();
    let program = beside.join(name);
    if !program.exists() {
        build(name, beside);
    }
    assert!(program.exists(), "{} was built elsewhere", program.display());
    program
}

/// A service without supervision, as for `tare load`.
pub struct Fake {
    process: Child,
    pub url: String,
}

impl Fake {
    pub fn start(mode: &str) -> Fake {
        Fake::start_with(mode, &[])
    }

    /// Starts it with more environment variables.
    pub fn start_with(mode: &str, variables: &[(&str, &str)]) -> Fake {
        let port = free_port();
        let mut command = Command::new(PROGRAM.as_path());
        command.env("FAKE", mode).env("PORT", port.to_string()).envs(variables.iter().copied());
        command.stdin(Stdio::null());
        let fake = Fake { process: command.spawn().unwrap(), url: format!("http://127.0.0.1:{port}/") };
        assert!(within(USUAL, || TcpStream::connect(("127.0.0.1", port)).is_ok()));
        fake
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let _it_may_have_ended = self.process.kill();
        let _ = self.process.wait();
    }
}

/// `TARGET[/TRIPLE]/PROFILE` is the folder to build into; the folder `debug` belongs to the profile `dev`.
fn build(program: &str, folder: &Path) {
    let profile = match folder.file_name().and_then(|name| name.to_str()).unwrap() {
        "debug" => "dev",
        name => name,
    };
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", "tare-service", "--bin", program, "--profile", profile])
        .arg("--target-dir")
        .arg(folder.parent().unwrap())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
}
