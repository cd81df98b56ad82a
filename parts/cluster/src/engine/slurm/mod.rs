//! Slurm by its programs: `sbatch`, `squeue`, `scancel` and `scontrol`. It needs no database of jobs: the
//! store has the ended jobs, and the queue the others.
//!
//! The jobs of a class are an array, in which an element is the position of a job in the list. Slurm bounds
//! the index of an element (MaxArraySize), so each thousand positions have an array of their own, whose name
//! contains the offset.

pub mod queue;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

use tare_base::whole;
use tare_host::foreign;

use super::{Allocation, Engine, EngineError, EngineState, Start, Variables, ask, ask_with};
use crate::{
    batch::{Batch, BatchError},
    engine_name::EngineName,
    machines::MachineClass,
    push::TOKEN_VARIABLE,
};
use queue::ARRAY_MAX;

/// The Debian package of all these programs.
const PACKAGE: &str = "slurm-client";

#[derive(Debug, Clone, Copy)]
pub struct Slurm;

impl Engine for Slurm {
    fn name(&self) -> EngineName {
        EngineName::Slurm
    }

    fn submit(&self, batch: &Batch, positions: &[usize], start: &Start) -> Result<Vec<String>, EngineError> {
        let submit = |(class, of_array): &(&MachineClass, Vec<usize>)| {
            let script = script(batch, of_array[0] / ARRAY_MAX, start)?;
            let array = sbatch(&options(batch, class, of_array), &script, batch)?;
            Ok(format!("array {array} of class {}: {}", class.name, several(of_array.len())))
        };
        arrays(batch, positions).iter().map(submit).collect()
    }

    fn preview(&self, batch: &Batch, positions: &[usize], start: &Start) -> Result<String, EngineError> {
        let shown = |(class, of_array): &(&MachineClass, Vec<usize>)| {
            let script = script(batch, of_array[0] / ARRAY_MAX, start)?;
            let path = script_path(batch).display().to_string();
            let words = [&["sbatch".to_owned()], &options(batch, class, of_array)[..], &[path]].concat();
            let command = shlex::try_join(words.iter().map(String::as_str)).map_err(unquotable)?;
            let token = match batch.head.push.is_some() {
                true => format!("# The token of the batch is in its environment, as {TOKEN_VARIABLE}.\n"),
                false => String::new(),
            };
            Ok(format!("{script}# The command that submits it:\n# {command}\n{token}"))
        };
        let shown: Result<Vec<String>, EngineError> = arrays(batch, positions).iter().map(shown).collect();
        Ok(shown?.join("\n"))
    }

    fn states(&self, batch: &Batch) -> Result<BTreeMap<usize, EngineState>, EngineError> {
        let words = ["--noheader", "--array", "--states=all", &format!("--format={}", queue::FORMAT)];
        let mut words: Vec<String> = words.map(str::to_owned).to_vec();
        words.push(format!("--name={}", array_names(batch).join(",")));
        let text = answer("squeue", &words)?;
        Ok(queue::states(&text, &batch.name()))
    }

    fn cancel(&self, batch: &Batch) -> Result<(), EngineError> {
        for name in array_names(batch) {
            answer("scancel", &[format!("--name={name}")])?;
        }
        Ok(())
    }

    /// Slurm forgets ended jobs by itself.
    fn clean_up(&self, batch: &Batch) -> Result<(), EngineError> {
        self.cancel(batch)
    }

    fn allocation(&self, variables: Variables) -> Result<Allocation, EngineError> {
        let engine = EngineName::Slurm;
        let get = |name: &str| {
            let missing =
                || EngineError::NoJob { engine, reason: format!("{name} is not in the environment") };
            variables(name).ok_or_else(missing)
        };
        let number = |name: &str| {
            let text = get(name)?;
            let wrong =
                |_| EngineError::NoJob { engine, reason: format!("{name} is {text:?}, which is no number") };
            text.parse::<usize>().map_err(wrong)
        };
        let (array, element) = (number("SLURM_ARRAY_JOB_ID")?, number("SLURM_ARRAY_TASK_ID")?);
        let offset = variables(OFFSET).and_then(|offset| offset.parse::<usize>().ok()).unwrap_or(0);
        // The variable is absent in the first attempt.
        let restarts =
            variables("SLURM_RESTART_COUNT").and_then(|count| count.parse::<usize>().ok()).unwrap_or(0);
        let node = get("SLURMD_NODENAME")?;
        let job = get("SLURM_JOB_ID")?;
        let shown =
            ask("scontrol", PACKAGE, &["show".to_owned(), "job".to_owned(), "--oneliner".to_owned(), job]);
        Ok(Allocation {
            position: offset + element,
            attempt: format!("{array}-{element}.{restarts}"),
            node,
            // Without this program on the node, or an answer of the controller, nothing is guaranteed.
            is_exclusive: shown.ok().and_then(Result::ok).and_then(|text| queue::is_exclusive(&text)),
        })
    }

    fn look_at(&self, batch: &Batch, attempt: Option<&str>) -> Option<String> {
        if batch.head.push.is_some() {
            let folder = node_logs(batch, &array_element(attempt?)?);
            return Some(format!("{folder}.*/log on the node"));
        }
        let path = match attempt {
            Some(attempt) => log_path(&batch.logs(), attempt).filter(|path| path.is_file())?,
            None => batch.logs(),
        };
        Some(path.display().to_string())
    }
}

/// The variable with the offset of the array.
const OFFSET: &str = "TARE_JOB_OFFSET";

fn several(jobs: usize) -> String {
    if jobs == 1 { "1 job".to_owned() } else { format!("{jobs} jobs") }
}

/// The jobs of each array to submit: of one class, and of one thousand positions.
fn arrays<'b>(batch: &'b Batch, positions: &[usize]) -> Vec<(&'b MachineClass, Vec<usize>)> {
    let of_class = |class: &'b MachineClass| {
        let is_of_class =
            |position: &&usize| batch.list.jobs.get(**position).is_some_and(|job| job.class == class.name);
        let of_class: Vec<usize> = positions.iter().filter(is_of_class).copied().collect();
        let chunks = of_class.chunk_by(|one, other| one / ARRAY_MAX == other / ARRAY_MAX);
        chunks.map(|of_array| (class, of_array.to_vec())).collect::<Vec<_>>()
    };
    batch.list.head.classes.iter().flat_map(of_class).collect()
}

/// The prefix of the folder for a job's output, if nodes do not share the folder of the batch.
fn node_logs(batch: &Batch, element: &str) -> String {
    format!("/tmp/{}-{element}", batch.name())
}

fn script_path(batch: &Batch) -> PathBuf {
    batch.folder.join("job.sh")
}

fn unquotable(error: shlex::QuoteError) -> EngineError {
    EngineError::Batch { engine: EngineName::Slurm, reason: error.to_string() }
}

fn array_names(batch: &Batch) -> Vec<String> {
    let arrays = batch.list.jobs.len().div_ceil(ARRAY_MAX);
    (0..arrays).map(|array| queue::array_name(&batch.name(), array)).collect()
}

/// The options of `sbatch` for the jobs at these positions, which belong to one array.
fn options(batch: &Batch, class: &MachineClass, positions: &[usize]) -> Vec<String> {
    let array = positions.first().map_or(0, |first| first / ARRAY_MAX);
    let elements: Vec<String> = positions.iter().map(|position| (position % ARRAY_MAX).to_string()).collect();
    let output = match batch.head.push.is_some() {
        // Every user can read this path in the queue, and could create a link there before the job begins. So
        // the script opens another file.
        true => "/dev/null".to_owned(),
        // Slurm expands `%` in the names of outputs.
        false => format!("{}/%A_%a.log", batch.logs().display().to_string().replace('%', "%%")),
    };
    let mut words = vec![
        "--parsable".to_owned(),
        format!("--job-name={}", queue::array_name(&batch.name(), array)),
        format!("--array={}", elements.join(",")),
        "--nodes=1".to_owned(),
        "--ntasks=1".to_owned(),
        format!("--cpus-per-task={}", class.cpus),
        "--exclusive".to_owned(),
        // All memory of the node, because a class has no amount.
        "--mem=0".to_owned(),
        "--requeue".to_owned(),
        "--open-mode=append".to_owned(),
        format!("--output={output}"),
        format!("--chdir={}", batch.head.root.display()),
    ];
    words.extend(class.time_limit.map(|limit| format!("--time={}", limit.as_secs().div_ceil(60))));
    words.extend(class.slurm.options().map(|(name, value)| format!("--{name}={value}")));
    words
}

/// The script for a node. `exec` replaces the shell by the command, so that Slurm signals the command.
fn script(batch: &Batch, array: usize, start: &Start) -> Result<String, EngineError> {
    let command = shlex::try_join(start.command.iter().map(String::as_str));
    let command = command.map_err(unquotable)?;
    let log = match batch.head.push.is_some() {
        true => open_log(batch)?,
        false => String::new(),
    };
    Ok(format!("#!/bin/sh\nexport {OFFSET}={}\n{log}exec {command}\n", array * ARRAY_MAX))
}

/// Every user can write to `/tmp`, so the log is in a folder with an unguessable name that only its owner can
/// enter. A job without a log still measures.
fn open_log(batch: &Batch) -> Result<String, EngineError> {
    let folder = node_logs(batch, "");
    let folder = shlex::try_quote(&folder).map_err(unquotable)?;
    let element = r#""$SLURM_ARRAY_JOB_ID"_"$SLURM_ARRAY_TASK_ID""#;
    Ok(format!("log=$(mktemp -d {folder}{element}.XXXXXXXXXX) && exec >\"$log/log\" 2>&1\n"))
}

/// Submits the script, and returns the number of the array. The script is in the folder of the batch, which
/// only its owner can write to.
fn sbatch(words: &[String], script: &str, batch: &Batch) -> Result<String, EngineError> {
    let path = script_path(batch);
    let unwritten = |source| EngineError::Run { program: path.display().to_string(), source };
    whole::write(&path, script).map_err(unwritten)?;
    let mut command = Command::new("sbatch");
    without_job(command.args(words).arg(&path));
    // Slurm copies this environment to the job. It shows users scripts and command lines, but no
    // environments.
    command.env_remove(TOKEN_VARIABLE);
    if batch.head.push.is_some() {
        let none =
            |error: BatchError| EngineError::Batch { engine: EngineName::Slurm, reason: error.to_string() };
        command.env(TOKEN_VARIABLE, batch.token().map_err(none)?.reveal());
    }
    let text = said(ask_with(&mut command, "sbatch", PACKAGE)?, "sbatch")?;
    // With several clusters the cluster's name follows.
    let array = text.trim().split(';').next().unwrap_or_default();
    match !array.is_empty() && array.bytes().all(|byte| byte.is_ascii_digit()) {
        true => Ok(array.to_owned()),
        false => {
            let said =
                format!("it printed {:?} in place of the number of a job", foreign::quotable(text.trim()));
            Err(EngineError::Refused { program: "sbatch".to_owned(), said })
        }
    }
}

/// Removes variables of a surrounding job, so that nothing is inherited from it.
fn without_job(command: &mut Command) -> &mut Command {
    let of_job =
        |name: &String| name.starts_with("SLURM_") && name != "SLURM_CONF" || name.starts_with("SBATCH_");
    for (name, _) in std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value))) {
        if of_job(&name) {
            command.env_remove(name);
        }
    }
    command
}

fn answer(program: &str, words: &[String]) -> Result<String, EngineError> {
    said(ask(program, PACKAGE, words)?, program)
}

/// The output of a program; an error is temporary if the controller does not answer.
fn said(answer: Result<String, String>, program: &str) -> Result<String, EngineError> {
    answer.map_err(|said| {
        // Often the first line is the most precise, and the last one explains it.
        let lines = said
            .lines()
            .map(|line| line.trim().trim_start_matches(&format!("{program}: error: ")).to_owned());
        let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
        let said = if lines.is_empty() { "it failed without a word".to_owned() } else { lines.join("; ") };
        let said = foreign::quotable(&said);
        match queue::is_unreachable(&said) {
            true => EngineError::Unreachable { engine: EngineName::Slurm, said },
            false => EngineError::Refused { program: program.to_owned(), said },
        }
    })
}

/// The output file of an attempt.
fn log_path(logs: &Path, attempt: &str) -> Option<PathBuf> {
    Some(logs.join(format!("{}.log", array_element(attempt)?)))
}

/// The number of the array and the index of an attempt, joined as in Slurm.
fn array_element(attempt: &str) -> Option<String> {
    let (job, _) = attempt.rsplit_once('.')?;
    Some(job.replacen('-', "_", 1))
}

#[cfg(test)]
mod tests;
