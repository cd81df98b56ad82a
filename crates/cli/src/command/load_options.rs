//! `--connections` and `--threads`: the load of every command that compares services or versions.
//!
//! `tare run` has another `--connections`, a list, and `tare slo` searches for the rate and fixes the generator's threads.

use serde::{Deserialize, Serialize};
use tare_bench::experiment::Experiment;
use tare_service::settings::ServiceSettings;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, clap::Args)]
pub(crate) struct LoadOptions {
    /// Number of connections [default: 64, or that of the experiment]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=20_000))]
    connections: Option<u16>,
    /// `THREADS` of the services, and threads of the generator [default: 1, or those of the experiment]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
}

impl LoadOptions {
    /// Combines options: those of `self` override `others`, such as those of a file.
    pub(crate) fn or(self, others: LoadOptions) -> LoadOptions {
        LoadOptions {
            connections: self.connections.or(others.connections),
            threads: self.threads.or(others.threads),
        }
    }

    pub(crate) fn new(connections: Option<u16>, threads: Option<u16>) -> LoadOptions {
        LoadOptions { connections, threads }
    }

    /// Applies the options to `experiment`. A number of connections replaces its loads by one.
    pub(crate) fn enter(&self, experiment: &mut Experiment) {
        if let Some(connections) = self.connections {
            experiment.loads.truncate(1);
            experiment.loads[0].connections = connections.into();
        }
        if let Some(threads) = self.threads {
            experiment.service_settings.threads = threads.into();
            experiment.loads.iter_mut().for_each(|load| load.threads = threads.into());
        }
    }

    /// The service settings before there is an experiment.
    pub(crate) fn service_settings(&self) -> ServiceSettings {
        ServiceSettings::of_threads(self.threads.unwrap_or(1).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_replaces_what_the_experiment_says() {
        let loads = |options: &LoadOptions| {
            let mut experiment = Experiment::of_versions();
            experiment.loads.push(experiment.loads[0].clone());
            options.enter(&mut experiment);
            let of = |load: &tare_bench::experiment::LoadSetting| (load.connections, load.threads);
            (experiment.loads.iter().map(of).collect::<Vec<_>>(), experiment.service_settings.threads)
        };
        assert_eq!(loads(&LoadOptions::default()), (vec![(64, 1), (64, 1)], 1));
        assert_eq!(loads(&LoadOptions::new(Some(16), None)), (vec![(16, 1)], 1));
        assert_eq!(loads(&LoadOptions::new(None, Some(2))), (vec![(64, 2), (64, 2)], 2));
        let both = LoadOptions::new(Some(8), None).or(LoadOptions::new(Some(16), Some(3)));
        assert_eq!((loads(&both), both.service_settings().threads), ((vec![(8, 3)], 3), 3));
    }
}
