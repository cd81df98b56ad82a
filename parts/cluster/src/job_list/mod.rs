//! The job list: JSON lines, a head and a line per job. `tare cluster plan` makes it, and the user can read, cut and
//! store it before submitting. The jobs are all combinations of machine classes, revision sets and seeds.

use std::path::Path;

use serde::Deserialize;
use tare_base::document::{self, DocumentError};

use crate::{
    job::{PlannedJob, short_hash},
    list_head::{FORMAT, ListHead},
    machines::MachineClass,
    revision_sets::revision_sets,
};

/// Keeps seeds exact in readers that store numbers as floats.
const SEED_MASK: u64 = (1 << 53) - 1;
/// The most jobs of a list; more are a mistake.
const JOBS_MAX: usize = 100_000;

/// A job list; its [`ListHead`] has what is common to all jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobList {
    pub head: ListHead,
    pub jobs: Vec<PlannedJob>,
}

/// The jobs to plan, without their common part.
#[derive(Debug, Clone, Copy)]
pub struct PlanRequest<'a> {
    /// Commits, oldest first; empty if the services are measured as they are.
    pub revisions: &'a [String],
    /// The number of runs for each class and revision set.
    pub seeds: usize,
    /// The seed of the first run; the others follow from it.
    pub seed: u64,
}

impl JobList {
    /// All jobs, ordered by seed, revision set and class: an interrupted batch has a few seeds of everything.
    pub fn plan(head: ListHead, request: PlanRequest) -> JobList {
        let sets = match request.revisions {
            [] => vec![Vec::new()],
            revisions => revision_sets(revisions),
        };
        let mut jobs = Vec::new();
        for number in 0..request.seeds as u64 {
            let seed = request.seed.wrapping_add(number) & SEED_MASK;
            for set in &sets {
                jobs.extend(head.classes.iter().map(|class| PlannedJob::new(&head, &class.name, seed, set)));
            }
        }
        JobList { head, jobs }
    }

    /// Reads a job list.
    ///
    /// # Errors
    /// If it cannot be read, or has an error, whose line is named.
    pub fn load(path: &Path) -> Result<JobList, DocumentError> {
        JobList::parse(path, &document::read(path)?)
    }

    /// Parses a job list, naming `path` in every error.
    ///
    /// # Errors
    /// It has an error, whose line is named.
    pub fn parse(path: &Path, text: &str) -> Result<JobList, DocumentError> {
        let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let invalid =
            |line: usize, message: String| DocumentError::Invalid { path: path.to_owned(), line, message };
        let Some((number, first)) = lines.next() else {
            return Err(invalid(1, "is empty: `tare cluster plan` writes a job list".to_owned()));
        };
        let head = head(first).map_err(|message| invalid(number, message))?;
        let mut list = JobList { head, jobs: Vec::new() };
        let mut known = std::collections::BTreeSet::new();
        for (number, line) in lines {
            let job = list.job(line).map_err(|message| invalid(number, message))?;
            if !known.insert(job.id.clone()) {
                return Err(invalid(number, format!("job {} stands twice", job.id)));
            }
            if known.len() > JOBS_MAX {
                return Err(invalid(number, format!("a list has at most {JOBS_MAX} jobs")));
            }
            list.jobs.push(job);
        }
        match list.jobs.is_empty() {
            true => Err(invalid(1, "has no job".to_owned())),
            false => Ok(list),
        }
    }

    fn job(&self, line: &str) -> Result<PlannedJob, String> {
        let job: PlannedJob = serde_json::from_str(line).map_err(|error| plain(&error))?;
        if !self.head.classes.iter().any(|class| class.name == job.class) {
            return Err(format!("class {:?} is not in the first line", job.class));
        }
        if self.head.service.is_some() == job.revisions.is_empty() {
            return Err("a job has revisions if, and only if, the first line names a service".to_owned());
        }
        if job.revisions.iter().any(|revision| revision.starts_with('-')) {
            return Err("a revision begins with a hyphen".to_owned());
        }
        match job.is_intact(&self.head) {
            true => Ok(job),
            false => Err(format!(
                "job {} is not what its identifier stands for: plan it again, do not edit it",
                job.id
            )),
        }
    }

    /// The list as text.
    ///
    /// # Errors
    /// None is known: the list contains only texts and numbers.
    pub fn text(&self) -> serde_json::Result<String> {
        let mut text = serde_json::to_string(&self.head)? + "\n";
        for job in &self.jobs {
            text += &(serde_json::to_string(job)? + "\n");
        }
        Ok(text)
    }

    pub fn class(&self, job: &PlannedJob) -> Option<&MachineClass> {
        self.head.classes.iter().find(|class| class.name == job.class)
    }

    /// The name of the batch of these jobs: the same for the same jobs.
    pub fn batch_name(&self) -> String {
        let ids: Vec<&str> = self.jobs.iter().map(|job| job.id.as_str()).collect();
        let stem =
            Path::new(&self.head.experiment).file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
        let plain: String = stem
            .chars()
            .filter(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '-')
            .take(40)
            .collect();
        let what = if self.head.service.is_some() { "history" } else { plain.trim_matches('-') };
        let what = if what.is_empty() { "jobs" } else { what };
        format!("{what}-{}", &short_hash(&ids)[..12])
    }
}

fn head(line: &str) -> Result<ListHead, String> {
    /// The version only, because another format may have other keys.
    #[derive(Deserialize)]
    struct ListVersion {
        format: String,
    }
    let ListVersion { format } =
        serde_json::from_str(line).map_err(|error| format!("is no head of a job list: {}", plain(&error)))?;
    if format != FORMAT {
        return Err(format!("format {format:?} is not one this tare reads: it reads \"{FORMAT}\""));
    }
    let head: ListHead = serde_json::from_str(line).map_err(|error| plain(&error))?;
    if let Some(mistake) = head.classes.iter().find_map(MachineClass::mistake) {
        return Err(mistake);
    }
    match head.experiment.starts_with('-')
        || head.service.as_ref().is_some_and(|service| service.starts_with('-'))
    {
        true => Err("an experiment or a service begins with a hyphen".to_owned()),
        false => Ok(head),
    }
}

/// The error without its position in the line, which is not that in the file.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string().replace('`', "\"");
    let text = text.split(" at line ").next().unwrap_or_default();
    text.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests;
