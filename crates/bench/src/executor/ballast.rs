//! The ballast of the built-in raw socket: which file it counts in, and what it took of a slice.

use std::{
    borrow::Cow,
    fs, io,
    path::{Path, PathBuf},
};

use tare_host::shared_counters::SharedCounters;
use tare_service::catalogue::Service;

use crate::{
    sample::{BallastTime, LoadResult},
    schedule::InstrumentFailure,
};

/// The count of one process. The file goes with it.
#[derive(Debug)]
pub(super) struct BallastCount {
    file: PathBuf,
    ns_each: u64,
}

impl BallastCount {
    /// Counted in a file of `folder`.
    pub(super) fn new(ns_each: u64, folder: &Path, stem: &str) -> Result<BallastCount, InstrumentFailure> {
        let file = folder.join(format!("{stem}.ballast"));
        // The server has another working folder.
        let file = std::path::absolute(&file).map_err(|error| failure(&file, &error))?;
        Ok(BallastCount { file, ns_each })
    }

    /// CPU time that it has taken so far.
    pub(super) fn cpu_ns(&self) -> Result<u64, InstrumentFailure> {
        SharedCounters::sum(&self.file).map_err(|error| failure(&self.file, &error))
    }

    /// What it took since it had taken `before_ns`, in a load on a server with this number of threads.
    pub(super) fn since(
        &self,
        before_ns: u64,
        threads: usize,
        load: &LoadResult,
    ) -> Result<BallastTime, InstrumentFailure> {
        Ok(BallastTime::of(self.cpu_ns()?.saturating_sub(before_ns), threads, load))
    }
}

impl Drop for BallastCount {
    fn drop(&mut self) {
        // A file that is left there disturbs nothing.
        fs::remove_file(&self.file).ok();
    }
}

/// The service, told to carry it.
pub(super) fn carried_by<'s>(service: &'s Service, ballast: Option<&BallastCount>) -> Cow<'s, Service> {
    let Some(BallastCount { file, ns_each }) = ballast else { return Cow::Borrowed(service) };
    let mut service = service.clone();
    let file = file.display().to_string();
    let words = ["--ballast-ns".to_owned(), ns_each.to_string(), "--ballast-count".to_owned(), file];
    service.run.command.extend(words);
    Cow::Owned(service)
}

fn failure(file: &Path, error: &io::Error) -> InstrumentFailure {
    InstrumentFailure(format!("{}: the ballast of the reference is not counted: {error}", file.display()))
}
