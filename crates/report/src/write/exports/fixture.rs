//! Runs for the tests of all formats: a complete one, one with hostile names, one with unknown values.

use tempfile::tempdir;

use crate::{
    exports::{ExportSubject, Exported},
    gather::fixture,
    write::fixture::HOSTILE,
};

/// Four services in eight blocks, with two open loops; two rows have no figures.
pub(super) fn exported() -> Exported {
    let folder = tempdir().unwrap();
    let run = folder.path().join("sample");
    std::fs::create_dir(&run).unwrap();
    fixture::write(&fixture::kept(8), &run);
    Exported::read(&run).unwrap()
}

/// The same with a hostile name wherever a user can choose the text.
pub(super) fn hostile() -> Exported {
    let whole = exported();
    let renamed = |(place, subject): (usize, &ExportSubject)| {
        let name = HOSTILE[place % HOSTILE.len()].to_owned();
        ExportSubject {
            service: format!("{name}{place}"),
            contract: name.clone(),
            load: Some(name),
            ..subject.clone()
        }
    };
    let subjects = whole.subjects.iter().enumerate().map(renamed).collect();
    let all = HOSTILE.join("\n");
    Exported { title: all.clone(), run: all.clone(), commit: Some(all.clone()), cpu: all, subjects, ..whole }
}

/// A run of one block, which gives no intervals, and without a start time.
pub(super) fn bad() -> Exported {
    let folder = tempdir().unwrap();
    fixture::write(&fixture::kept(1), folder.path());
    let run = Exported::read(folder.path()).unwrap();
    Exported { began: String::new(), commit: None, cpu: String::new(), ..run }
}
