//! Predicts a build from records and files alone. It runs no program, so a changed toolchain is not noticed.

use super::{Entry, Store, job};
use crate::catalogue::Service;

/// The expected build of a service.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outlook {
    /// It has no build steps.
    NothingToBuild,
    /// A build of these files exists.
    Built,
    /// It will be built. If recorded, with the duration of the last build in seconds.
    ToBuild { why: WhyBuild, last_seconds: Option<f64> },
}

/// Why a service will be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyBuild {
    NeverBuilt,
    Changed,
    /// The build was removed from the cache.
    Removed,
    /// An older Tare recorded no hash of the files, so they may have changed.
    NotKnown,
}

impl Outlook {
    /// Predicts the build from this repository's latest record for the service.
    pub(super) fn of(service: &Service, record: Option<Entry>, store: &Store) -> Outlook {
        if service.build.is_empty() {
            return Outlook::NothingToBuild;
        }
        let hashed = job::sources(service).and_then(|sources| job::hash(service, "", &sources));
        let files = hashed.ok().map(|hashed| hashed.finish_without_toolchain());
        let is_built = |files: &String| {
            record.as_ref().is_some_and(|entry| entry.is_of(files)) || store.has_files(files)
        };
        if files.as_ref().is_some_and(is_built) {
            return Outlook::Built;
        }
        let why = match &record {
            None => WhyBuild::NeverBuilt,
            Some(entry) if !entry.folder.is_dir() => WhyBuild::Removed,
            Some(Entry { files: Some(_), .. }) => WhyBuild::Changed,
            Some(_) => WhyBuild::NotKnown,
        };
        Outlook::ToBuild { why, last_seconds: record.map(|entry| entry.cost.seconds) }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;
    use crate::{build::BuildCost, catalogue::Step};

    /// A service that is built from the files of this folder.
    fn service(folder: &Path) -> Service {
        let build = vec![Step { command: vec!["make".to_owned()], ..Step::default() }];
        Service { build, folder: folder.to_owned(), build_root: folder.to_owned(), ..Service::default() }
    }

    fn entry(service: &Service) -> Entry {
        let hashed = job::hash(service, "a compiler", &job::sources(service).unwrap()).unwrap();
        Entry {
            content: hashed.finish(),
            files: Some(hashed.finish_without_toolchain()),
            version: "1".to_owned(),
            cost: BuildCost { seconds: 12.5, ..BuildCost::NONE },
            folder: service.folder.clone(),
            sources: Vec::new(),
        }
    }

    #[test]
    fn a_record_tells_whether_there_is_a_build_of_these_files() {
        let (folder, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (service, store) = (service(folder.path()), Store::new(home.path()));
        fs::write(folder.path().join("main.c"), "1").unwrap();
        let of = |record: Option<Entry>| Outlook::of(&service, record, &store);
        let to_build = |why, last_seconds| Outlook::ToBuild { why, last_seconds };
        assert_eq!(of(None), to_build(WhyBuild::NeverBuilt, None));
        let kept = entry(&service);
        assert_eq!(of(Some(kept.clone())), Outlook::Built, "whatever compiler made it");
        let removed = Entry { folder: "/no/such/build".into(), ..kept.clone() };
        assert_eq!(of(Some(removed)), to_build(WhyBuild::Removed, Some(12.5)));
        let older = Entry { files: None, ..kept.clone() };
        assert_eq!(of(Some(older)), to_build(WhyBuild::NotKnown, Some(12.5)));
        fs::write(folder.path().join("main.c"), "2").unwrap();
        assert_eq!(of(Some(kept)), to_build(WhyBuild::Changed, Some(12.5)));
        let typed = Service { build: Vec::new(), ..service.clone() };
        assert_eq!(Outlook::of(&typed, None, &store), Outlook::NothingToBuild);
    }

    /// Another checkout of the same files, without records.
    #[test]
    fn the_cache_knows_builds_of_other_checkouts() {
        let (folder, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (service, store) = (service(folder.path()), Store::new(home.path()));
        fs::write(folder.path().join("main.c"), "1").unwrap();
        let slot = store.folder().join("abc");
        fs::create_dir_all(&slot).unwrap();
        entry(&service).write(&slot.join("entry.json")).unwrap();
        assert_eq!(Outlook::of(&service, None, &store), Outlook::Built);
        fs::write(folder.path().join("main.c"), "2").unwrap();
        let never = Outlook::ToBuild { why: WhyBuild::NeverBuilt, last_seconds: None };
        assert_eq!(Outlook::of(&service, None, &store), never);
    }
}
