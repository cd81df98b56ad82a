//! The catalogue that is packed into the executable: services, contracts, experiments and published figures.
//!
//! It is unpacked below the build cache, by its hash. Every program that uses it compares each file there with the archive, and
//! mends what differs: so its commands need no permission, a program that was killed while it unpacked leaves
//! nothing wrong behind, and two programs may unpack at once.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Read},
    os::unix::fs::PermissionsExt,
    path::{Component, Path, PathBuf},
    sync::{Arc, OnceLock},
};

use flate2::read::GzDecoder;
use ignore::WalkBuilder;

use super::{WorkspaceError, project::Project};

/// The folder of unpacked catalogues below the build cache.
const FOLDER: &str = "catalogues";
/// How the name of a file begins that another program may be writing just now.
const UNFINISHED: &str = ".unfinished-";

#[derive(Debug, Clone)]
pub struct PackedCatalogue {
    /// A compressed tar archive. Its root is a repository with a `tare.toml`.
    archive: &'static [u8],
    /// The build cache.
    home: PathBuf,
    /// Its folder, once it was unpacked: all clones know it.
    unpacked: Arc<OnceLock<PathBuf>>,
}

#[derive(Debug, thiserror::Error)]
pub enum UnpackCatalogueError {
    #[error(
        "this program was built without the catalogue of Tare: name a clone of its repository by --catalogue DIR"
    )]
    Empty,
    #[error("{}: the catalogue cannot be unpacked there: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// A file of the archive.
struct Packed {
    path: PathBuf,
    is_program: bool,
    bytes: Vec<u8>,
}

impl PackedCatalogue {
    pub fn new(archive: &'static [u8], home: &Path) -> PackedCatalogue {
        PackedCatalogue { archive, home: home.to_owned(), unpacked: Arc::default() }
    }

    /// Its folder, which has exactly the files of the archive afterwards.
    ///
    /// # Errors
    /// The archive is empty, or the folder cannot be written.
    pub fn unpack(&self) -> Result<PathBuf, UnpackCatalogueError> {
        if let Some(folder) = self.unpacked.get() {
            return Ok(folder.clone());
        }
        let hash = blake3::hash(self.archive).to_hex();
        let folder = self.home.join(FOLDER).join(&hash[..16]);
        let packed = self.unpack_into(&folder)?;
        // `tare cache --prune` removes what was not used for a while.
        let used = || fs::File::open(&folder)?.set_modified(std::time::SystemTime::now());
        let finished =
            remove_others(&folder, &packed).and_then(|()| used()).and_then(|()| folder.canonicalize());
        let folder = finished.map_err(|source| UnpackCatalogueError::Write { path: folder, source })?;
        Ok(self.unpacked.get_or_init(|| folder).clone())
    }

    /// The unpacked catalogue.
    pub(super) fn project(&self) -> Result<Project, WorkspaceError> {
        Ok(Project::of_catalogue(&self.unpack()?)?)
    }

    /// Writes the files of the archive into `folder`, whose other files stay, and returns their paths in it.
    ///
    /// # Errors
    /// As [`PackedCatalogue::unpack`].
    pub fn unpack_into(&self, folder: &Path) -> Result<BTreeSet<PathBuf>, UnpackCatalogueError> {
        let mut paths = BTreeSet::new();
        let written = self.each(|packed| {
            packed.write(folder)?;
            paths.insert(packed.path);
            Ok(())
        });
        written.map_err(|source| UnpackCatalogueError::Write { path: folder.to_owned(), source })?;
        if paths.is_empty() { Err(UnpackCatalogueError::Empty) } else { Ok(paths) }
    }

    /// The paths of its files, relative to its root.
    ///
    /// # Errors
    /// The archive is damaged.
    pub fn paths(&self) -> io::Result<BTreeSet<PathBuf>> {
        let mut paths = BTreeSet::new();
        self.each(|packed| {
            paths.insert(packed.path);
            Ok(())
        })?;
        Ok(paths)
    }

    fn each(&self, mut of: impl FnMut(Packed) -> io::Result<()>) -> io::Result<()> {
        for entry in tar::Archive::new(GzDecoder::new(self.archive)).entries()? {
            let mut entry = entry?;
            let path = entry.path()?.into_owned();
            let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
            if !is_inside || !entry.header().entry_type().is_file() {
                return Err(io::Error::other(format!("{}: is no file of a catalogue", path.display())));
            }
            let is_program = entry.header().mode()? & 0o100 != 0;
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            of(Packed { path, is_program, bytes })?;
        }
        Ok(())
    }
}

impl Packed {
    /// Writes it below `folder`, if it is not there as it should be. It appears whole.
    fn write(&self, folder: &Path) -> io::Result<()> {
        let path = folder.join(&self.path);
        let mode = if self.is_program { 0o755 } else { 0o644 };
        if self.is_at(&path, mode) {
            return Ok(());
        }
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent)?;
        let mut new = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(parent)?;
        io::Write::write_all(&mut new, &self.bytes)?;
        fs::set_permissions(new.path(), fs::Permissions::from_mode(mode))?;
        new.persist(&path)?;
        Ok(())
    }

    fn is_at(&self, path: &Path, mode: u32) -> bool {
        let is_file = fs::symlink_metadata(path)
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o777 == mode);
        is_file && fs::read(path).is_ok_and(|bytes| bytes == self.bytes)
    }
}

/// Removes what is not of the archive, such as a configuration of a compiler that another program left.
fn remove_others(folder: &Path, paths: &BTreeSet<PathBuf>) -> io::Result<()> {
    let mut walk = WalkBuilder::new(folder);
    walk.standard_filters(false).follow_links(false);
    for entry in walk.build().filter_map(Result::ok) {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let is_packed = entry.path().strip_prefix(folder).is_ok_and(|path| paths.contains(path));
        let is_unfinished = entry.file_name().to_string_lossy().starts_with(UNFINISHED);
        if !is_folder && !is_packed && !is_unfinished {
            match fs::remove_file(entry.path()) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn archive(files: &[(&str, u32, &str)]) -> &'static [u8] {
        let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (path, mode, text) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(*mode);
            archive.append_data(&mut header, path, text.as_bytes()).unwrap();
        }
        archive.into_inner().unwrap().finish().unwrap().leak()
    }

    #[test]
    fn what_differs_from_the_archive_is_mended() {
        let home = tempfile::tempdir().unwrap();
        let files = [("tare.toml", 0o644, "format = \"1.0\"\n"), ("services/go/a/start.sh", 0o755, "exit\n")];
        let packed = archive(&files);
        let unpack = || PackedCatalogue::new(packed, home.path()).unpack();
        let folder = unpack().unwrap();
        let start = folder.join("services/go/a/start.sh");
        assert!(folder.starts_with(home.path().canonicalize().unwrap().join("catalogues")));
        assert_eq!(fs::metadata(&start).unwrap().permissions().mode() & 0o777, 0o755);

        let stranger = folder.join("services/go/a/.cargo/config.toml");
        let elsewhere = home.path().join("elsewhere");
        fs::write(&elsewhere, "of the user").unwrap();
        for spoil in [
            &|| fs::write(&start, "rm -rf /\n").unwrap(),
            &|| fs::set_permissions(&start, fs::Permissions::from_mode(0o644)).unwrap(),
            &|| fs::remove_file(&start).unwrap(),
            &|| {
                fs::remove_file(&start).unwrap();
                symlink(&elsewhere, &start).unwrap();
            },
            &|| {
                fs::create_dir_all(stranger.parent().unwrap()).unwrap();
                fs::write(&stranger, "[build]\n").unwrap();
            },
        ] as [&dyn Fn(); 5]
        {
            spoil();
            assert_eq!(unpack().unwrap(), folder);
            assert_eq!(fs::read_to_string(&start).unwrap(), "exit\n");
            assert_eq!(fs::metadata(&start).unwrap().permissions().mode() & 0o777, 0o755);
            assert!(!stranger.exists());
        }
        assert_eq!(
            fs::read_to_string(&elsewhere).unwrap(),
            "of the user",
            "nothing is written through a link"
        );
    }

    #[test]
    fn what_cannot_be_unpacked_says_why() {
        let home = tempfile::tempdir().unwrap();
        let error =
            |archive, home: &Path| PackedCatalogue::new(archive, home).unpack().unwrap_err().to_string();
        assert!(error(archive(&[]), home.path()).contains("built without the catalogue"));
        let text = error(archive(&[("a", 0o644, "")]), Path::new("/proc"));
        assert!(text.starts_with("/proc/catalogues/"), "{text}");
        assert!(error(b"no archive", home.path()).contains("cannot be unpacked"));
    }
}
