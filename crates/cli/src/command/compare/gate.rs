//! `[gate.NAME]` of `tare.toml`: a comparison that a repository makes again and again, and what of it fails a job. Options of the
//! command line come before those of the file.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, bail};
use serde::{Deserialize, Deserializer, de::Error};
use tare_bench::plan::until::Metric;
use tare_host::spelling::suggestion;
use tare_service::{document, workspace::Root};

use super::Args;
use crate::{
    command::{load_options::LoadOptions, words},
    exit::FailOn,
};

/// The file, as far as it is about gates: the rest of it has been read by then.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    gate: BTreeMap<String, Gate>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Gate {
    service: String,
    /// Where to begin: the commit where HEAD parted from it is the baseline.
    base: Option<String>,
    contract: Option<String>,
    #[serde(default)]
    get: Vec<String>,
    #[serde(default)]
    post: Vec<Post>,
    #[serde(default, deserialize_with = "delta")]
    delta: Option<f64>,
    #[serde(default, deserialize_with = "metrics")]
    metrics: Vec<Metric>,
    #[serde(default, deserialize_with = "tare_load::units::deserialize_some_duration")]
    budget: Option<Duration>,
    connections: Option<u16>,
    threads: Option<u16>,
    #[serde(default)]
    again: bool,
    fail_on: Option<FailOn>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Post {
    path: String,
    data: String,
}

/// Puts what the gate `name` says where `args` say nothing; gives back the service that it names, if that is the one.
pub(super) fn enter(args: &mut Args, name: &str, root: &Root) -> anyhow::Result<Option<String>> {
    let gate = find(name, root)?;
    let named = args.services.is_empty().then(|| gate.service.clone());
    args.services.extend(named.clone());
    if args.services.len() == 1 && args.revisions.is_none() {
        args.revisions = Some(format!("{}...HEAD", gate.base.as_deref().unwrap_or("origin/HEAD")));
    }
    if args.asked.is_empty() {
        let post = gate.post.into_iter().map(|post| (post.path, post.data));
        args.asked.enter(gate.get, post.collect());
        args.contract = args.contract.take().or(gate.contract);
    }
    if args.metric.is_empty() {
        args.metric = gate.metrics;
    }
    args.delta = args.delta.or(gate.delta);
    args.budget = args.budget.or(gate.budget);
    args.load = std::mem::take(&mut args.load).or(LoadOptions::new(gate.connections, gate.threads));
    args.fail_on = args.fail_on.or(gate.fail_on);
    args.again |= gate.again;
    Ok(named)
}

fn find(name: &str, root: &Root) -> anyhow::Result<Gate> {
    let (path, text) = root.document().context("--gate: there is no tare.toml here, or in a folder above")?;
    let mut gates = document::parse::<File>(&path, text, "1.0")?.gate;
    let Some(gate) = gates.remove(name) else {
        let path = path.display();
        match gates.is_empty() {
            true => bail!("{path}: has no gate: write one as [gate.{name}]"),
            false => bail!("unknown gate \"{name}\"{}", suggestion(name, gates.keys().map(String::as_str))),
        }
    };
    Ok(gate)
}

fn delta<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let text = String::deserialize(deserializer)?;
    words::delta(&text).map(Some).map_err(D::Error::custom)
}

fn metrics<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Metric>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    names.iter().map(|name| words::metric(name).map_err(D::Error::custom)).collect()
}
