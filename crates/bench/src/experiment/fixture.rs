//! Plans of the published experiments, from the files of this repository.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::{RowEntry, SequentialExperiment};
use crate::{
    figures::Figures,
    plan::{Options, Plan},
};
use tare_service::{
    catalogue::{Catalogue, RawSocket, Row, select},
    contract::Contract,
};

/// All that there are.
pub const ALL: [&str; 5] =
    ["restinio-2017", "rest-cpp-2020", "simple-web-server-2019", "languages-2018", "abstract-2018"];

/// Of this repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All of them.
pub fn contracts() -> BTreeMap<String, Contract> {
    Contract::load_all(&root().join("contracts")).unwrap()
}

/// A file of experiments/published.
pub fn experiment(name: &str) -> SequentialExperiment {
    SequentialExperiment::load(&root().join(format!("experiments/published/{name}.toml"))).unwrap()
}

/// The plan of all its rows, on two CPUs.
pub fn plan(name: &str, options: &Options) -> Plan {
    let contracts = contracts();
    let names: Vec<&str> = contracts.keys().map(String::as_str).collect();
    let reference = RawSocket { program: "tare".into(), contracts: vec!["hello".to_owned()] };
    let catalogue = Catalogue::load(&root(), &names, reference).unwrap();
    let experiment = experiment(name);
    let row = |(place, wanted): (usize, &RowEntry)| {
        (place, select(&catalogue, [wanted.service.as_str()]).unwrap().remove(0))
    };
    let rows: Vec<(usize, Row)> = experiment.rows().iter().enumerate().map(row).collect();
    let figures = Figures::load(&root().join(format!("figures/{}.toml", experiment.figures()))).unwrap();
    Plan::sequential(&experiment, &rows, figures, options, 7, &[0, 1])
}
