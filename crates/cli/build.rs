//! Packs the catalogue, which is services, contracts, experiments and published figures, into the command.

use std::{
    env, fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};

/// What is packed, relative to the root of the repository: the catalogue, and what installs the toolchains of its services.
const PACKED: [&str; 12] = [
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "contracts",
    "experiments",
    "figures",
    "scripts/dotnet",
    "scripts/env.sh",
    "scripts/go.requirements.txt",
    "scripts/requires.awk",
    "scripts/setup.sh",
    "services",
    "tare.toml",
];

/// Folders that builds in place leave behind; git ignores them too.
const LEFT_BY_BUILDS: [&str; 5] = [".venv", "__pycache__", "build", "node_modules", "target"];

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    let mut archive = tar::Builder::new(GzEncoder::new(
        fs::File::create(out.join("catalogue.tar.gz"))?,
        Compression::best(),
    ));
    println!("cargo::rerun-if-changed=build.rs");
    for name in PACKED {
        // A package of this crate alone has none of it: then the archive is empty.
        if root.join(name).exists() {
            println!("cargo::rerun-if-changed={}", root.join(name).display());
            pack(&mut archive, &root, Path::new(name))?;
        }
    }
    archive.into_inner()?.finish()?.sync_all()
}

/// Appends `path` with all below it, in the order of names. The same files give the same archive.
fn pack(archive: &mut tar::Builder<impl io::Write>, root: &Path, path: &Path) -> io::Result<()> {
    let at = root.join(path);
    if at.is_dir() {
        let mut names = fs::read_dir(at)?
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect::<io::Result<Vec<_>>>()?;
        names.sort();
        let is_source =
            |name: &&std::ffi::OsString| LEFT_BY_BUILDS.iter().all(|left| name.as_os_str() != *left);
        return names.iter().filter(is_source).try_for_each(|name| pack(archive, root, &path.join(name)));
    }
    let bytes = fs::read(&at)?;
    let is_program = fs::metadata(&at)?.permissions().mode() & 0o100 != 0;
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes.len() as u64);
    header.set_mode(if is_program { 0o755 } else { 0o644 });
    archive.append_data(&mut header, path, bytes.as_slice())
}
