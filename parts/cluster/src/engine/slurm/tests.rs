use std::collections::HashMap;

use super::*;
use crate::fixture::batch;

#[test]
fn the_options_of_an_array_ask_for_a_node_alone() {
    let folder = tempfile::tempdir().unwrap();
    let batch = batch(folder.path(), 2);
    let words = options(&batch, &batch.list.head.classes[0], &[0, 2]);
    let text = words.join("\n").replace(&batch.folder.display().to_string(), "BATCH");
    insta::assert_snapshot!(text, @r"
    --parsable
    --job-name=tare-quick-e57435e8fe4c+0
    --array=0,2
    --nodes=1
    --ntasks=1
    --cpus-per-task=4
    --exclusive
    --mem=0
    --requeue
    --open-mode=append
    --output=BATCH/logs/%A_%a.log
    --chdir=/srv/repository
    --time=90
    --partition=bench
    --constraint=a&b
    ");
}

#[test]
fn a_script_hands_over_to_its_command_with_every_word_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let batch = batch(folder.path(), 1);
    let start = Start { command: vec!["/opt/tare x".to_owned(), "job".to_owned(), "it's".to_owned()] };
    insta::assert_snapshot!(script(&batch, 2, &start).unwrap(), @r#"
    #!/bin/sh
    export TARE_JOB_OFFSET=2000
    exec '/opt/tare x' job "it's"
    "#);
    assert!(script(&batch, 0, &Start { command: vec!["a\0b".to_owned()] }).is_err());
}

#[test]
fn an_attempt_is_known_by_array_element_and_restart() {
    let allocation = |pairs: &[(&str, &str)]| {
        let given: HashMap<String, String> =
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Slurm.allocation(&|name| given.get(name).cloned())
    };
    let first = [
        ("SLURM_ARRAY_JOB_ID", "17"),
        ("SLURM_ARRAY_TASK_ID", "3"),
        ("SLURMD_NODENAME", "n1"),
        ("SLURM_JOB_ID", "19"),
    ];
    let found = allocation(&first).unwrap();
    assert_eq!((found.position, found.attempt.as_str(), found.node.as_str()), (3, "17-3.0", "n1"));
    let again = [&first[..], &[("SLURM_RESTART_COUNT", "2"), ("TARE_JOB_OFFSET", "1000")]].concat();
    let found = allocation(&again).unwrap();
    assert_eq!((found.position, found.attempt.as_str()), (1003, "17-3.2"));
    assert_eq!(log_path(Path::new("logs"), "17-3.2"), Some("logs/17_3.log".into()));
    insta::assert_snapshot!(allocation(&[]).unwrap_err(), @"this is no job of Slurm: SLURM_ARRAY_JOB_ID is not in the environment");
    insta::assert_snapshot!(allocation(&[("SLURM_ARRAY_JOB_ID", "x")]).unwrap_err(), @r#"this is no job of Slurm: SLURM_ARRAY_JOB_ID is "x", which is no number"#);
}

#[test]
fn what_a_program_says_is_an_error_in_one_line() {
    let error = |text: &str| said(Err(text.to_owned()), "sbatch").unwrap_err().to_string();
    insta::assert_snapshot!(error("sbatch: error: invalid partition specified: x\nsbatch: error: Batch job submission failed: Invalid partition name specified\n"), @"sbatch: invalid partition specified: x; Batch job submission failed: Invalid partition name specified");
    insta::assert_snapshot!(error("slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n"), @"Slurm does not answer: slurm_load_jobs error: Unable to contact slurm controller (connect failure)");
    insta::assert_snapshot!(error(""), @"sbatch: it failed without a word");
    let missing = ask("no-such-program-of-slurm", PACKAGE, &[]).unwrap_err().to_string();
    insta::assert_snapshot!(missing, @"no-such-program-of-slurm is not installed here: Debian's package slurm-client provides it");
}

#[test]
fn the_log_of_a_job_that_pushes_lies_where_nobody_else_may_look() {
    let folder = tempfile::tempdir().unwrap();
    let mut batch = batch(folder.path(), 1);
    batch.head.push = Some("http://10.0.0.1:7070".to_owned());
    let start = Start { command: ["sh", "-c", "echo said; echo told >&2"].map(str::to_owned).to_vec() };
    let script = script(&batch, 0, &start).unwrap();
    let element = std::process::id().to_string();
    let run = || {
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).env("SLURM_ARRAY_JOB_ID", &element).env("SLURM_ARRAY_TASK_ID", "3");
        shell.output().unwrap()
    };
    let (first, second) = (run(), run());
    assert_eq!((first.stdout.len(), second.stderr.len()), (0, 0), "all goes to the logs");
    let start = format!("{}-{element}_3.", batch.name());
    let is_log = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(&start);
    let logs: Vec<PathBuf> =
        std::fs::read_dir("/tmp").unwrap().map(|entry| entry.unwrap().path()).filter(is_log).collect();
    assert_eq!(logs.len(), 2, "each attempt has a folder of its own");
    for folder in logs {
        let mode = std::os::unix::fs::PermissionsExt::mode(&folder.metadata().unwrap().permissions());
        assert_eq!(mode & 0o777, 0o700);
        assert_eq!(std::fs::read_to_string(folder.join("log")).unwrap(), "said\ntold\n");
        std::fs::remove_dir_all(folder).unwrap();
    }
}

#[test]
fn a_job_that_pushes_has_its_token_on_no_command_line_and_in_no_script() {
    let folder = tempfile::tempdir().unwrap();
    let mut batch = batch(folder.path(), 1);
    batch.head.push = Some("http://10.0.0.1:7070".to_owned());
    let token = batch.make_token().unwrap();
    assert_eq!(batch.make_token().unwrap(), token, "it stays the same");
    let start =
        Start { command: ["tare", "job", "--push", "http://10.0.0.1:7070"].map(str::to_owned).to_vec() };
    let shown = Slurm.preview(&batch, &[0, 1], &start).unwrap();
    assert!(shown.contains(TOKEN_VARIABLE) && !shown.contains(token.reveal()), "{shown}");
    assert!(shown.contains("'--output=/dev/null' "), "{shown}");
    let logs = format!("/tmp/{}-", batch.name());
    assert_eq!(Slurm.look_at(&batch, Some("17-3.2")), Some(format!("{logs}17_3.*/log on the node")));
    let path = batch.folder.join("token");
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions()) & 0o777,
        0o600
    );
}
