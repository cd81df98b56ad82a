//! The action of a trial, as a value: the faults, their contract, verified or loaded, and for how long.

use std::{path::Path, time::Duration};

use tare_base::document::DocumentError;
use tare_bench::{
    experiment::Experiment,
    plan::until::{ALPHA, Gate, Metric, Until, looks},
};
use tare_load::Protocol;

/// Label of the reference.
pub(crate) const RAW_SOCKET: &str = "raw-socket";
/// Label of the same program in a second row.
pub(crate) const TWIN: &str = "twin";
/// The row with the fault.
pub(crate) const SUBJECT: &str = "subject";

/// Rows with known weights: shares of the reference's cost per request.
pub(crate) const WEIGHTS: [(&str, f64); 5] =
    [("1%", 0.01), ("3%", 0.03), ("10%", 0.1), ("30%", 0.3), ("100%", 1.0)];

/// Regression at which the gate fails; below the smallest weight that a trial adds.
const DELTA: f64 = 0.01;

/// An action. Trials with equal actions share its evidence.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Starts and verifies a server per fault, like `tare verify`; an empty fault is the reference.
    Proofs { contract: &'static str, faults: Vec<&'static str> },
    /// Loads servers, like `tare run`.
    Load(LoadRun),
}

/// An interleaved run of the row with the fault, and of the reference and its twin to find a difference.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadRun {
    pub contract: &'static str,
    /// Label and fault of each row.
    pub rows: Vec<(&'static str, String)>,
    /// Fewest and most blocks.
    pub blocks: (usize, usize),
    /// No block begins that would end after this time.
    pub budget: Duration,
    /// Number and length of the closed loops of a block.
    pub slices: (usize, Duration),
    /// Load before the first slice.
    pub warm_up: Duration,
    /// Rate, and length of one open loop.
    pub open: Option<(u32, Duration)>,
    pub disturbance: LoadDisturbance,
    /// The protocol of the requests.
    pub protocol: Protocol,
    /// Streams of HTTP/2 that share a connection.
    pub streams: usize,
    /// Requests after which a connection is closed.
    pub requests_per_connection: Option<u64>,
}

/// Disturbance of a load run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadDisturbance {
    None,
    HalfACpu,
    /// Another thread uses the generator's CPU in every second round of a block.
    Spinner,
}

impl LoadDisturbance {
    /// Whether it is active in this round of a block.
    pub(crate) fn is_in(self, round: usize) -> bool {
        match self {
            LoadDisturbance::None => false,
            LoadDisturbance::HalfACpu => true,
            LoadDisturbance::Spinner => !round.is_multiple_of(2),
        }
    }
}

impl LoadRun {
    /// One block of short closed loops of a single row.
    pub(crate) fn of_one(fault: &str) -> LoadRun {
        LoadRun {
            contract: "hello",
            rows: vec![(SUBJECT, fault.to_owned())],
            blocks: (1, 1),
            budget: Duration::ZERO,
            slices: (5, Duration::from_millis(100)),
            warm_up: Duration::from_millis(200),
            open: None,
            disturbance: LoadDisturbance::None,
            protocol: Protocol::Http1,
            streams: 1,
            requests_per_connection: None,
        }
    }

    /// The row that is 100%.
    pub(crate) fn reference(&self) -> &'static str {
        self.rows[0].0
    }

    /// The stopping rule beside the budget: the gate of `tare compare` if there is a slower row to find.
    pub(crate) fn until(&self) -> Until {
        let has = |wanted: &str| self.rows.iter().any(|(label, _)| *label == wanted);
        if !has(RAW_SOCKET) || !has(SUBJECT) {
            return Until::Budget;
        }
        Until::Gate(Gate {
            candidate: SUBJECT.to_owned(),
            delta: DELTA,
            metrics: vec![Metric::Cpu],
            looks: looks(self.blocks.1),
            alpha: ALPHA,
        })
    }

    /// The run as an experiment file, so that it is planned like any other.
    ///
    /// # Errors
    /// If the text of the experiment is invalid; a test excludes this for every trial.
    pub(crate) fn experiment(&self, name: &str, title: &str) -> Result<Experiment, DocumentError> {
        let labels: Vec<String> = self.rows.iter().map(|(label, _)| format!("{label:?}")).collect();
        let ms = |time: Duration| time.as_millis();
        let open = self.open.map_or_else(String::new, |(rate, slice)| {
            format!("[latency]\nrate = \"{rate}\"\nslice = \"{}ms\"\nslices-per-block = 1\n", ms(slice))
        });
        let each = self.requests_per_connection;
        let each = each.map_or_else(String::new, |each| format!("requests-per-connection = {each}\n"));
        let text = format!(
            "format = \"1.0\"\ntitle = {title:?}\nquestion = \"Is it seen?\"\ncontract = {:?}\nreference = {:?}\n\
             services = [{}]\n[load]\nconnections = 64\nthreads = 1\nstreams = {}\n{each}[service]\nthreads = 1\n[schedule]\n\
             budget = \"{}ms\"\nslice = \"{}ms\"\nslices-per-block = {}\nwarm-up = \"{}ms\"\n\
             blocks-min = {}\nblocks-max = {}\n{open}",
            self.contract,
            self.reference(),
            labels.join(", "),
            self.streams,
            ms(self.budget),
            ms(self.slices.1),
            self.slices.0,
            ms(self.warm_up),
            self.blocks.0,
            self.blocks.1,
        );
        Experiment::parse(&Path::new("selftest").join(format!("{name}.toml")), &text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::trials;

    fn loads(quick: bool) -> Vec<(crate::Trial, LoadRun)> {
        let load = |trial: crate::Trial| match trial.action.clone() {
            Action::Load(load) => Some((trial, load)),
            Action::Proofs { .. } => None,
        };
        trials(quick).into_iter().filter_map(load).collect()
    }

    #[test]
    fn every_load_run_is_a_valid_experiment() {
        for (trial, load) in [loads(true), loads(false)].concat() {
            let experiment = load.experiment(trial.name, &trial.done);
            assert!(experiment.is_ok(), "{}: {}", trial.name, experiment.unwrap_err());
        }
    }

    #[test]
    fn every_fault_is_one_that_the_raw_socket_has() {
        let is_fault = |text: &str| text.is_empty() || text.parse::<tare_reference::faults::Fault>().is_ok();
        for trial in [trials(true), trials(false)].concat() {
            match trial.action {
                Action::Proofs { faults, .. } => {
                    assert!(faults.iter().all(|fault| is_fault(fault)), "{}", trial.name)
                }
                Action::Load(load) => {
                    assert!(load.rows.iter().all(|(_, fault)| is_fault(fault)), "{}", trial.name)
                }
            }
        }
    }

    #[test]
    fn a_run_with_a_slower_row_ends_at_the_gate_and_another_with_its_budget() {
        for (trial, load) in loads(false) {
            let gate =
                matches!(load.until(), Until::Gate(gate) if gate.candidate == SUBJECT && gate.delta < 0.03);
            assert_eq!(gate, trial.name == "twins" || trial.name == "slower", "{}", trial.name);
        }
    }

    #[test]
    fn the_spinner_is_in_every_second_round_and_half_a_cpu_in_all() {
        let rounds =
            |disturbance: LoadDisturbance| (0..4).map(|round| disturbance.is_in(round)).collect::<Vec<_>>();
        assert_eq!(rounds(LoadDisturbance::None), [false; 4]);
        assert_eq!(rounds(LoadDisturbance::HalfACpu), [true; 4]);
        assert_eq!(rounds(LoadDisturbance::Spinner), [false, true, false, true]);
    }

    #[test]
    fn an_experiment_is_the_load_run_it_was_written_from() {
        for (trial, load) in [loads(true), loads(false)].concat() {
            let experiment = load.experiment(trial.name, &trial.done).unwrap();
            let labels: Vec<&str> = load.rows.iter().map(|(label, _)| *label).collect();
            assert_eq!(
                (experiment.name.as_str(), experiment.title.as_str()),
                (trial.name, trial.done.as_str())
            );
            assert_eq!(
                (
                    experiment.contract.as_str(),
                    experiment.services.iter().map(String::as_str).collect::<Vec<_>>()
                ),
                (load.contract, labels)
            );
            assert_eq!(experiment.reference, load.reference());
            assert_eq!(experiment.latency.is_some(), load.open.is_some(), "{}", trial.name);
            let closed = &experiment.loads[0];
            assert_eq!(experiment.loads.len(), 1, "{closed:?}");
            if let (Some(latency), Some((_, slice))) = (&experiment.latency, load.open) {
                assert_eq!((latency.slice, latency.rates.len()), (slice, 1));
            }
        }
    }
}
