//! `cargo xtask cluster`: creates a test cluster on this machine. The work is done in `dev/engines`.

use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::Instant,
};

use anyhow::{Context, Result, ensure};
use tare_engines::{Ends, KubernetesCluster, Programs, SlurmCluster};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
    /// Folder of the cluster [default: target/cluster/ENGINE]
    #[arg(long, global = true)]
    folder: Option<PathBuf>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Start it, and wait until it takes jobs
    Up {
        engine: EngineKind,
        /// Nodes, all of them this machine
        #[arg(long, default_value_t = 3)]
        nodes: usize,
    },
    /// End it with all of its jobs, and remove its folder
    Down {
        /// Default: of each engine
        engine: Option<EngineKind>,
    },
    /// Print what runs of it
    Status {
        /// Default: of each engine
        engine: Option<EngineKind>,
    },
    /// Load an image of `docker save`, or of the same form, into the nodes of a Kubernetes
    Load { archive: PathBuf },
    /// Create a Secret of a Kubernetes, with a token from a file
    Secret { name: String, file: PathBuf },
    /// Run a command where the pods of a Kubernetes can be reached, as its administrator: `tare load --engine kubernetes`
    Within {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        command: Vec<String>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum EngineKind {
    Kubernetes,
    Slurm,
}

impl EngineKind {
    fn folder(self, root: &Path, given: Option<&PathBuf>) -> PathBuf {
        let name = match self {
            EngineKind::Kubernetes => "kubernetes",
            EngineKind::Slurm => "slurm",
        };
        given.cloned().unwrap_or_else(|| root.join("target/cluster").join(name))
    }
}

/// A cluster of any engine.
enum Cluster {
    Kubernetes(KubernetesCluster),
    Slurm(SlurmCluster),
}

pub(crate) fn run(root: &Path, arguments: &Arguments) -> Result<ExitCode> {
    let folder = |engine: EngineKind| engine.folder(root, arguments.folder.as_ref());
    let kubernetes = || KubernetesCluster::open(&folder(EngineKind::Kubernetes));
    match &arguments.action {
        Action::Up { engine: EngineKind::Slurm, nodes } => up_slurm(&folder(EngineKind::Slurm), *nodes)?,
        Action::Up { engine: EngineKind::Kubernetes, nodes } => {
            up_kubernetes(&folder(EngineKind::Kubernetes), *nodes)?;
        }
        Action::Down { engine } => {
            for cluster in open(*engine, folder)? {
                match &cluster {
                    Cluster::Kubernetes(cluster) => cluster.end()?,
                    Cluster::Slurm(cluster) => cluster.end()?,
                }
            }
        }
        Action::Status { engine } => {
            for cluster in open(*engine, folder)? {
                match &cluster {
                    Cluster::Kubernetes(cluster) => print!("{}", cluster.status()),
                    Cluster::Slurm(cluster) => print!("{}", cluster.status()),
                }
            }
        }
        Action::Load { archive } => {
            kubernetes()?.load_image(&archive.canonicalize()?)?;
        }
        Action::Secret { name, file } => kubernetes()?.make_secret(name, "token", file)?,
        Action::Within { command } => return within(&kubernetes()?, command),
    }
    Ok(ExitCode::SUCCESS)
}

fn within(cluster: &KubernetesCluster, words: &[String]) -> Result<ExitCode> {
    let mut all = cluster.within_network()?.into_iter().chain(words.iter().cloned());
    let mut command = Command::new(all.next().context("no command")?);
    command.args(all).env("KUBECONFIG", cluster.inner_kubeconfig()).env("NO_PROXY", "*");
    let status = command.status()?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}

fn up_slurm(folder: &Path, nodes: usize) -> Result<()> {
    let missing = SlurmCluster::missing();
    if !missing.is_empty() {
        eprintln!("skipped: Slurm is not installed here (apt-get install {})", missing.join(" "));
        return Ok(());
    }
    let cluster = SlurmCluster::up(folder, nodes)?;
    println!("export SLURM_CONF={}", cluster.config().display());
    eprintln!("{nodes} nodes take jobs; `cargo xtask cluster down` ends them");
    Ok(())
}

fn up_kubernetes(folder: &Path, nodes: usize) -> Result<()> {
    let missing = KubernetesCluster::missing();
    ensure!(missing.is_empty(), "Kubernetes cannot be started here: {}", missing.join("; "));
    let programs = Programs::cached()?;
    if !programs.are_built() {
        eprintln!("building Kubernetes into {}: ten minutes of CPU time, once", programs.folder().display());
        programs.build()?;
    }
    let began = Instant::now();
    let cluster = KubernetesCluster::up(folder, nodes, &programs)?;
    println!("export KUBECONFIG={}", cluster.kubeconfig().display());
    let seconds = began.elapsed().as_secs_f64();
    eprintln!("{nodes} nodes take pods after {seconds:.1} s; `cargo xtask cluster down` ends them");
    Ok(())
}

/// The existing clusters. An explicit folder must contain one.
fn open(engine: Option<EngineKind>, folder: impl Fn(EngineKind) -> PathBuf) -> Result<Vec<Cluster>> {
    let of = |kind: EngineKind| match kind {
        EngineKind::Kubernetes => KubernetesCluster::open(&folder(kind)).map(Cluster::Kubernetes),
        EngineKind::Slurm => SlurmCluster::open(&folder(kind)).map(Cluster::Slurm),
    };
    if let Some(kind) = engine {
        return Ok(vec![of(kind)?]);
    }
    let kinds = [EngineKind::Kubernetes, EngineKind::Slurm];
    let most = if folder(kinds[0]) == folder(kinds[1]) { 1 } else { kinds.len() };
    let found: Vec<Cluster> = kinds.into_iter().filter_map(|kind| of(kind).ok()).take(most).collect();
    if found.is_empty() {
        eprintln!("there is no cluster");
    }
    Ok(found)
}
