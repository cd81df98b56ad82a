//! Receives a bundle: it is written to a temporary folder piece by piece, checked there, and put in its
//! place. An incomplete one is removed.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::{
    message::{Refusal, RefusalKind},
    proof,
    unpack::{BundlePiece, Unpack, UnpackError},
};
use crate::{
    batch::Batch,
    bundle::{Bundle, BundleError, BundleHead, Committed, Staging, at, sync_folder},
    job::PlannedJob,
};

#[derive(Debug, Clone, Copy)]
pub(super) struct Announced<'a> {
    pub(super) batch: &'a Batch,
    pub(super) job: &'a PlannedJob,
    pub(super) attempt: &'a str,
    /// The digest of its head.
    pub(super) digest: &'a str,
    pub(super) bytes_max: u64,
}

impl From<UnpackError> for Refusal {
    fn from(error: UnpackError) -> Refusal {
        let kind = match error {
            UnpackError::TooLarge { .. } => RefusalKind::TooLarge,
            _ => RefusalKind::Damaged,
        };
        Refusal::new(kind, error.to_string())
    }
}

/// A local file system error is not the sender's fault, and the sender need not see local paths.
pub(super) fn of_store(error: &io::Error) -> Refusal {
    Refusal::new(RefusalKind::Store, format!("the collector cannot store it: {error}"))
}

impl From<BundleError> for Refusal {
    fn from(error: BundleError) -> Refusal {
        match error {
            BundleError::Io { source, .. } => of_store(&source),
            BundleError::Damaged { reason, .. } => Refusal::new(RefusalKind::Damaged, reason),
        }
    }
}

/// The received part of a bundle.
#[derive(Debug)]
struct Writing<'a> {
    announced: Announced<'a>,
    staging: Staging<'a>,
    /// The file that is being written.
    file: Option<(PathBuf, File)>,
    folders: BTreeSet<PathBuf>,
    /// Written last, once everything else is on disk.
    head: Vec<u8>,
}

/// Receives a bundle. `number` is unique among the bundles that this process receives.
pub(super) fn receive<B: AsRef<[u8]>>(
    announced: Announced,
    number: u64,
    chunks: impl Iterator<Item = B>,
) -> Result<(Committed, BundleHead), Refusal> {
    let Announced { batch, job, attempt, bytes_max, .. } = announced;
    let staging = Staging::arriving((batch, job), attempt, number)?;
    let mut writing = Writing { announced, staging, file: None, folders: BTreeSet::new(), head: Vec::new() };
    let mut unpack = Unpack::new(bytes_max);
    for chunk in chunks {
        unpack.push(chunk.as_ref(), &mut |piece| writing.piece(piece))?;
    }
    match unpack.is_whole() {
        true => writing.finish(),
        false => Err(Refusal::new(RefusalKind::Damaged, "it was cut off before its end")),
    }
}

impl Writing<'_> {
    fn piece(&mut self, piece: BundlePiece) -> Result<(), Refusal> {
        match piece {
            BundlePiece::Head(head, bytes) => {
                self.expected(head, bytes)?;
                self.head = bytes.to_vec();
            }
            BundlePiece::Begin(file) => {
                let path = self.staging.folder().join(&file.path);
                if let Some(folder) = path.parent() {
                    fs::create_dir_all(folder).map_err(at(folder))?;
                    self.folders.insert(folder.to_owned());
                }
                let file = File::create_new(&path).map_err(at(&path))?;
                self.file = Some((path, file));
            }
            BundlePiece::Data(bytes) => {
                if let Some((path, file)) = &mut self.file {
                    file.write_all(bytes).map_err(at(path))?;
                }
            }
            BundlePiece::End => {
                if let Some((path, file)) = self.file.take() {
                    file.sync_all().map_err(at(&path))?;
                }
            }
        }
        Ok(())
    }

    /// Checks that it is the announced bundle, whose hash the sender has proven.
    fn expected(&self, head: &BundleHead, bytes: &[u8]) -> Result<(), Refusal> {
        let Announced { batch, job, attempt, digest, .. } = self.announced;
        let wrong = |what: &str| Err(Refusal::new(RefusalKind::Damaged, what));
        if proof::digest(bytes) != digest {
            return wrong("its head is not the one that was announced");
        }
        if head.batch != batch.name() || head.job != *job || head.attempt != attempt {
            return wrong("it is the bundle of another batch, job or attempt");
        }
        Ok(())
    }

    fn finish(self) -> Result<(Committed, BundleHead), Refusal> {
        for folder in self.folders.iter().flat_map(|folder| self.up_to_staging(folder)) {
            sync_folder(folder).map_err(at(folder))?;
        }
        self.staging.write_head(&self.head)?;
        let bundle = Bundle::open(self.staging.folder())?;
        bundle.check(self.announced.job)?;
        let head = bundle.head;
        match self.staging.put_in_place() {
            Ok(committed) => Ok((committed, head)),
            Err(BundleError::Io { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => {
                Err(Refusal::new(
                    RefusalKind::Conflict,
                    "another bundle of this attempt is here: attempts need names of their own",
                ))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A folder, and its parents up to the staging folder.
    fn up_to_staging<'f>(&self, folder: &'f Path) -> impl Iterator<Item = &'f Path> {
        let own = self.staging.folder().to_owned();
        folder.ancestors().take_while(move |folder| folder.starts_with(&own))
    }
}
