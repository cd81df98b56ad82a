//! The library that is loaded before the C library. It is compiled on use, because only some faults need it.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};
use tempfile::TempDir;

pub(crate) struct Shim {
    folder: TempDir,
}

impl Shim {
    pub(crate) fn build() -> anyhow::Result<Shim> {
        let folder = tempfile::tempdir()?;
        let source = folder.path().join("shim.c");
        std::fs::write(&source, include_str!("shim.c"))?;
        let shim = Shim { folder };
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-O1", "-o"]).arg(shim.path()).arg(&source).arg("-ldl");
        let built = cc.output().context("cc")?;
        ensure!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        Ok(shim)
    }

    pub(crate) fn path(&self) -> PathBuf {
        Path::new(self.folder.path()).join("shim.so")
    }
}
