//! A batch for tests.

use std::{fs, path::Path};

use tare_bench::{
    fixture::compared,
    folder::{Header, RunFolder},
    plan::Plan,
};
use tare_host::environment::Environment;
use tempfile::TempDir;

use crate::{
    Batch, BundleHead, Committed, PlannedJob, Staging,
    batch::{BatchHead, FORMAT, Selftest},
    engine_name::EngineName,
    job_list::{JobList, PlanRequest},
    list_head::ListHead,
    machines::Machines,
};

/// A batch below `store` with two classes and this number of seeds.
pub(crate) fn batch(store: &Path, seeds: usize) -> Batch {
    let text = "format = \"1.0\"\n[[class]]\nname = \"arm\"\ncpus = 4\ntime-limit = \"90m\"\n\
        slurm = { partition = \"bench\", constraint = \"a&b\" }\n[[class]]\nname = \"x86\"\ncpus = 2\n";
    make(store, text, seeds)
}

/// A batch with this number of classes and the seed of the run of [`commit`].
pub(crate) fn batch_of_seed_7(store: &Path, classes: usize) -> Batch {
    let class = |number| format!("[[class]]\nname = \"c{number}\"\ncpus = 1\n");
    make(store, &format!("format = \"1.0\"\n{}", (0..classes).map(class).collect::<String>()), 1)
}

/// The same for Kubernetes, with all settings that a class can have.
pub(crate) fn kubernetes_batch(store: &Path, seeds: usize) -> Batch {
    let text = "format = \"1.0\"\n[[class]]\nname = \"arm\"\ncpus = 4\ntime-limit = \"90m\"\n[class.kubernetes]\n\
        namespace = \"bench\"\nnode-labels = { \"kubernetes.io/arch\" = \"arm64\" }\ntolerate = [\"dedicated\"]\n\
        image = \"registry.example/tare:1\"\nclaim = \"tare-store\"\nmemory = \"8Gi\"\nparallel = 2\n\
        [[class]]\nname = \"x86\"\ncpus = 2\nkubernetes = { image = \"tare:dev\", host-path = \"/srv/tare\" }\n";
    let batch = make(store, text, seeds);
    Batch { head: BatchHead { engine: EngineName::Kubernetes, ..batch.head }, ..batch }
}

fn make(store: &Path, machines: &str, seeds: usize) -> Batch {
    let head = ListHead {
        format: "1.0".to_owned(),
        tare: "0.1.0".to_owned(),
        experiment: "experiments/quick.toml".to_owned(),
        content: "00ff".to_owned(),
        service: None,
        options: Vec::new(),
        expected_s: Some(60),
        classes: Machines::parse(Path::new("m.toml"), machines).unwrap().classes,
    };
    let list = JobList::plan(head, PlanRequest { revisions: &[], seeds, seed: 7 });
    let head = BatchHead {
        format: FORMAT.to_owned(),
        tare: "0.1.0".to_owned(),
        submitted: "2026-01-02T03:04:05Z".to_owned(),
        engine: EngineName::Slurm,
        program: "/opt/tare".into(),
        root: "/srv/repository".into(),
        globals: Vec::new(),
        selftest: Selftest::None,
        certificate_days: 7,
        push: None,
    };
    Batch::make(store, list, head).unwrap()
}

/// Commits a bundle of a job, with a run that has seed 7.
pub(crate) fn commit(batch: &Batch, job: &PlannedJob, attempt: &str) -> Committed {
    let run = run();
    let mut staging = Staging::new(batch, job, attempt).unwrap();
    staging.add_run(run.path()).unwrap();
    staging.add_file("environment.json", b"{}\n").unwrap();
    let time = "2026-01-02T03:04:05Z".to_owned();
    staging.commit(BundleHead::new(batch, job, (attempt, "n1"), time.clone(), time)).unwrap()
}

/// A small folder of a run, with the seed 7.
pub(crate) fn run() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan { seed: 7, ..compared().plan };
    let header = Header::new("0.1.0", "2026-01-02T03:04:05Z".to_owned(), plan, Environment::default());
    drop(RunFolder::create(folder.path(), &header).unwrap());
    fs::create_dir(folder.path().join("services")).unwrap();
    fs::write(folder.path().join("services/stdout.txt"), "some output\n").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("services/link")).unwrap();
    folder
}
