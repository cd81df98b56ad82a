//! `tare site`: stored runs as a static site.

mod find;
mod store;

use std::{
    path::PathBuf,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use anyhow::{Context, bail, ensure};
use serde::Serialize;
use tare_host::signals;
use tare_site::{self as site, RunEntry, SiteSettings};

use crate::{
    exit::Outcome,
    output::{self, print_either},
    progress::Progress,
    workspace::Global,
};
use find::FoundRun;
use store::{KnownRun, Store};

/// Write stored runs as a static site
///
/// The site has a page for each run, experiment, service and language, and for each two services of a run, the claims of published
/// benchmarks, the data, badges and a feed. Any web server can serve it, GitHub Pages too, and it opens from disk. If the folder
/// has a site already, only what is new is written, and pages of runs that are no longer named are removed. The old site is there
/// until the new one is whole: it is written beside it, and then takes its place.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tare site target/site                        the runs in `.tare/runs/` and `record/`
  tare site target/site results                all run folders in a folder
  tare site target/site .tare/runs/A .tare/runs/B
  tare site public --url https://me.github.io/results/ --title 'My results'
  tare site public --source-url https://github.com/me/services

Exit codes: 0 the site is written, 1 usage or set-up error.")]
pub(crate) struct Args {
    /// The folder of the site: a new one, an empty one, or one that this command wrote
    #[arg(value_name = "OUT")]
    out: PathBuf,
    /// Run folders, and folders of run folders [default: `.tare/runs/` and `record/`]
    #[arg(value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Where the site will be found: previews of links need it, and the feed and the site map
    #[arg(long, value_name = "URL", value_parser = url)]
    url: Option<String>,
    /// The repository with the code of the services, `services/LANGUAGE/NAME`: pages link to it at the measured commit
    #[arg(long, value_name = "URL", value_parser = url)]
    source_url: Option<String>,
    /// What the site is called
    #[arg(long, value_name = "TEXT", default_value = "Tare")]
    title: String,
    /// Print what was written as JSON
    #[arg(long)]
    json: bool,
}

/// Parses `https://HOST/PATH/`, and adds a missing slash at its end.
fn url(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    match rest {
        Some(rest) if !rest.is_empty() && !rest.contains(['?', '#', ' ', '"', '<']) => {
            Ok(format!("{}/", text.trim_end_matches('/')))
        }
        _ => Err("it should be like https://example.org/results/".to_owned()),
    }
}

#[derive(Debug, Serialize)]
struct Done {
    index: PathBuf,
    runs: usize,
    runs_read: usize,
    files: usize,
    files_written: usize,
    files_removed: usize,
}

pub(crate) fn run(global: &Global, args: &Args) -> anyhow::Result<Outcome> {
    let settings = SiteSettings {
        title: args.title.clone(),
        url: args.url.clone(),
        source_url: args.source_url.as_deref().map(|url| url.trim_end_matches('/').to_owned()),
    };
    let folders = if args.runs.is_empty() { global.find()?.run_folders() } else { args.runs.clone() };
    let found = find::runs(&folders, !args.runs.is_empty())?;
    ensure!(!found.is_empty(), "there are no runs: `tare run` makes one; or name run folders");
    let interrupt = signals::listen()?;
    let store = Store::open(&args.out, &settings)?;
    let progress = Progress::new(args.json);
    let read = Reader {
        found: &found,
        store: &store,
        settings: &settings,
        progress: &progress,
        interrupt: &interrupt,
    };
    let (known, runs_read) = read.all();
    progress.finish();
    let known = known?;
    let entries: Vec<RunEntry> = known.iter().map(|known| known.entry.clone()).collect();
    let runs = entries.len();
    if interrupt.load(Ordering::Relaxed) {
        bail!("interrupted after {runs} of {} runs: {} is as it was", found.len(), args.out.display());
    }
    ensure!(runs > 0, "no run could be read");
    let shared = site::of_all(&entries, &settings)?;
    for file in &shared.files {
        store.put(file)?;
    }
    on_all_cpus(&shared.pictures, &interrupt, |picture| match store.has(&picture.name) {
        true => Ok(()),
        false => store.put(&picture.draw()?),
    })?;
    ensure!(!interrupt.load(Ordering::Relaxed), "interrupted: {} is as it was", args.out.display());
    let counts = store.close(known)?;
    let done = Done {
        index: args.out.join("index.html"),
        runs,
        runs_read,
        files: counts.files,
        files_written: counts.written,
        files_removed: counts.removed,
    };
    print_either(args.json, &done, || words(&done))?;
    Ok(Outcome::Fine)
}

fn words(done: &Done) -> String {
    let Done { index, runs, runs_read, files, files_written, files_removed } = done;
    let removed = if *files_removed > 0 { format!(", {files_removed} removed") } else { String::new() };
    format!(
        "{runs} runs ({runs_read} read anew), {files} files ({files_written} written{removed})\nopen {}\n",
        index.display()
    )
}

/// Reads runs and writes their own files, on all CPUs.
struct Reader<'a> {
    found: &'a [FoundRun],
    store: &'a Store,
    settings: &'a SiteSettings,
    progress: &'a Progress,
    interrupt: &'a AtomicBool,
}

impl Reader<'_> {
    /// All runs in the order in which they were found, and the number that was read anew.
    fn all(&self) -> (anyhow::Result<Vec<KnownRun>>, usize) {
        let anew = AtomicUsize::new(0);
        let known: Mutex<Vec<(usize, KnownRun)>> = Mutex::default();
        let all: Vec<(usize, &FoundRun)> = self.found.iter().enumerate().collect();
        let read = on_all_cpus(&all, self.interrupt, |(place, found)| {
            if let Some(one) = self.one(found, &anew)? {
                known.lock().expect("no thread panics with the lock").push((*place, one));
            }
            Ok(())
        });
        let mut known = known.into_inner().expect("no thread panics with the lock");
        known.sort_by_key(|(place, _)| *place);
        let known = known.into_iter().map(|(_, one)| one).collect();
        (read.map(|()| known), anew.into_inner())
    }

    /// Reads a run unless it is unchanged. An unreadable run is left out, with its reason.
    fn one(&self, found: &FoundRun, anew: &AtomicUsize) -> anyhow::Result<Option<KnownRun>> {
        let stamp = found.stamp();
        if let Some(known) = self.store.known(&found.id, &stamp) {
            return Ok(Some(known));
        }
        let at = || found.path.display().to_string();
        let (entry, document) = match RunEntry::read(&found.path, &found.id, super::MERGED) {
            Ok(read) => read,
            Err(error) => {
                self.progress.keep(&format!("{} {}: {error}", output::paint("33", "left out:"), at()));
                return Ok(None);
            }
        };
        let mut files = Vec::new();
        for file in site::of_run(&entry, &document, self.settings).with_context(at)? {
            self.store.put(&file)?;
            files.push(file.name);
        }
        let count = anew.fetch_add(1, Ordering::Relaxed) + 1;
        self.progress.say(&format!("page {count} of {} runs is written: {}", self.found.len(), found.id));
        Ok(Some(KnownRun { stamp, files, entry }))
    }
}

/// Does the work of each thing, on all CPUs, until one fails: a full disk concerns all of them.
fn on_all_cpus<T: Sync>(
    things: &[T],
    interrupt: &AtomicBool,
    work: impl Fn(&T) -> anyhow::Result<()> + Sync,
) -> anyhow::Result<()> {
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<anyhow::Error>> = Mutex::default();
    let run = || {
        while !interrupt.load(Ordering::Relaxed) {
            let Some(thing) = things.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
            if let Err(error) = work(thing) {
                *failed.lock().expect("no thread panics with the lock") = Some(error);
                next.store(things.len(), Ordering::Relaxed);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(run);
        }
    });
    failed.into_inner().expect("no thread panics with the lock").map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_ends_with_a_stroke_and_is_one() {
        assert_eq!(url("https://a.org/b").as_deref(), Ok("https://a.org/b/"));
        assert_eq!(url("http://a.org/").as_deref(), Ok("http://a.org/"));
        for wrong in ["a.org", "https://", "https://a.org/?x", "ftp://a.org/", "https://a.org/\"><b>"] {
            assert!(url(wrong).is_err(), "{wrong}");
        }
    }
}
