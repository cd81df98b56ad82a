//! The program that the services of these tests run: `fake-service`, of the package tare-service.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

/// Beside tare where the whole workspace is tested, for cargo builds it then; built here where only this package is.
pub static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let beside = Path::new(env!("CARGO_BIN_EXE_tare")).parent().unwrap();
    let program = beside.join("fake-service");
    if !program.exists() {
        build(beside);
    }
    assert!(program.exists(), "{} was built elsewhere", program.display());
    program
});

/// `TARGET[/TRIPLE]/PROFILE` is the folder to build into; the profile that lies in `debug` is called `dev`.
fn build(folder: &Path) {
    let profile = match folder.file_name().and_then(|name| name.to_str()).unwrap() {
        "debug" => "dev",
        name => name,
    };
    let built = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--package",
            "tare-service",
            "--bin",
            "fake-service",
            "--profile",
            profile,
        ])
        .arg("--target-dir")
        .arg(folder.parent().unwrap())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
}
