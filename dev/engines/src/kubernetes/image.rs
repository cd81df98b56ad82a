//! Makes images without a builder: one layer with the content of a folder.

use std::{fs, path::Path, process::Command};

use anyhow::{Context, Result};

use crate::programs::output;

/// Packs a folder as an image of this name, which a container runtime can import. `entry` is its command.
///
/// # Errors
/// A file cannot be read or written.
pub fn pack_image(root: &Path, name: &str, entry: &[&str], archive: &Path) -> Result<()> {
    let parts = archive.with_extension("parts");
    fs::create_dir_all(&parts)?;
    let layer = parts.join("layer.tar");
    // The owner of all files is root, as in other images, and the same folder gives the same bytes.
    let owner = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"];
    output(Command::new("tar").args(owner).arg("-C").arg(root).arg("-cf").arg(&layer).arg("."))?;
    let hash = sha256(&layer)?;
    let config = format!(
        r#"{{"architecture": "{}", "os": "linux",
 "config": {{"Entrypoint": {entry:?}, "Env": ["PATH=/usr/local/bin:/usr/bin:/bin"]}},
 "rootfs": {{"type": "layers", "diff_ids": ["sha256:{hash}"]}},
 "history": [{{"created_by": "pack_image"}}]}}"#,
        architecture()
    );
    fs::write(parts.join("config.json"), &config)?;
    let config = format!("{}.json", sha256(&parts.join("config.json"))?);
    fs::rename(parts.join("config.json"), parts.join(&config))?;
    let manifest = format!(r#"[{{"Config":"{config}","RepoTags":[{name:?}],"Layers":["layer.tar"]}}]"#);
    fs::write(parts.join("manifest.json"), manifest)?;
    let members = [config.as_str(), "layer.tar", "manifest.json"];
    output(Command::new("tar").arg("-C").arg(&parts).arg("-cf").arg(archive).args(members))?;
    Ok(fs::remove_dir_all(&parts)?)
}

fn sha256(path: &Path) -> Result<String> {
    let text = output(Command::new("sha256sum").arg("--binary").arg(path))?;
    let hash = text.split(' ').next().filter(|hash| hash.len() == 64);
    hash.map(str::to_owned).with_context(|| format!("sha256sum printed {text:?}"))
}

/// The name of the architecture in images.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
