//! `[gate.NAME]` of `tare.toml`: a comparison that a repository runs again and again, and the results that
//! fail a job. Options of the command line override those of the file.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, bail};
use serde::{Deserialize, Deserializer, de::Error};
use tare_base::document;
use tare_base::spelling::suggestion;
use tare_bench::plan::until::Metric;
use tare_service::workspace::Root;

use super::Args;
use crate::{
    command::{load_options::LoadOptions, words},
    exit::FailOn,
};

/// The gates of the file; the rest was read before.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    gate: BTreeMap<String, Gate>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Gate {
    service: String,
    /// The base branch: the commit where HEAD parted from it is the baseline.
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
    #[serde(default, deserialize_with = "tare_base::units::deserialize_some_duration")]
    budget: Option<Duration>,
    connections: Option<u16>,
    threads: Option<u16>,
    #[serde(default)]
    again: bool,
    /// Never sample, so that the run folder has no names of functions.
    #[serde(default)]
    no_why: bool,
    fail_on: Option<FailOn>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Post {
    path: String,
    data: String,
}

/// Fills `args` from the gate `name` where they are not set. Returns the gate's service if it is used.
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
    if gate.no_why {
        args.why.refuse();
    }
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::{Args as _, Command, FromArgMatches};

    use super::*;

    /// The arguments of `tare compare --gate shop WORDS` for a file with these lines, and the gate's service.
    fn entered(lines: &str, words: &[&str]) -> anyhow::Result<(Args, Option<String>)> {
        let text = format!(
            "format = \"1.0\"\n[service.shop]\ncommand = \"sh serve.sh\"\n[gate.shop]\nservice = \"shop\"\n{lines}"
        );
        let root = Root::of_text(Path::new("/shop"), &text)?;
        let words = [&["compare", "--gate", "shop"], words].concat();
        let matches = Args::augment_args(Command::new("compare")).try_get_matches_from(words)?;
        let mut args = Args::from_arg_matches(&matches)?;
        let name = args.gate.take().expect("it is given");
        let service = enter(&mut args, &name, &root)?;
        Ok((args, service))
    }

    const ALL: &str = "base = \"main\"\ncontract = \"hello\"\nmetrics = [\"cpu\", \"p99\"]\ndelta = \"7%\"\nbudget = \"20s\"\n\
        connections = 16\nthreads = 2\nagain = true\nfail-on = \"regression\"\n";

    #[test]
    fn a_gate_says_what_is_compared_and_what_fails() {
        let (args, service) = entered(ALL, &[]).unwrap();
        assert_eq!((service.as_deref(), &args.services[..]), (Some("shop"), &["shop".to_owned()][..]));
        assert_eq!(args.revisions.as_deref(), Some("main...HEAD"));
        assert_eq!((args.contract.as_deref(), args.delta), (Some("hello"), Some(0.07)));
        assert_eq!(args.metric, [Metric::Cpu, Metric::P99]);
        assert_eq!((args.budget, args.again), (Some(Duration::from_secs(20)), true));
        assert_eq!(args.load, LoadOptions::new(Some(16), Some(2)));
        assert_eq!(args.fail_on, Some(FailOn::Regression));
        // Settings that the gate lacks keep their defaults.
        let (args, _) = entered("", &[]).unwrap();
        assert_eq!((args.delta, args.budget, args.again, args.fail_on), (None, None, false, None));
        assert_eq!(args.revisions.as_deref(), Some("origin/HEAD...HEAD"));
        assert!(args.metric.is_empty() && args.contract.is_none() && args.load == LoadOptions::default());
    }

    #[test]
    fn options_come_before_those_of_the_file() {
        let words = [
            "--revisions=a..b",
            "--metric=rss",
            "--delta=5%",
            "--budget=9s",
            "--connections=8",
            "--fail-on=worse",
        ];
        let (args, _) = entered(ALL, &words).unwrap();
        assert_eq!((args.revisions.as_deref(), &args.metric[..]), (Some("a..b"), &[Metric::Rss][..]));
        assert_eq!((args.delta, args.budget), (Some(0.05), Some(Duration::from_secs(9))));
        assert_eq!((args.load, args.fail_on), (LoadOptions::new(Some(8), Some(2)), Some(FailOn::Worse)));
        // For two services, the gate sets no revisions and its service is not used.
        let (args, service) = entered(ALL, &["one", "other"]).unwrap();
        assert_eq!((args.services.len(), args.revisions, service), (2, None, None));
    }

    #[test]
    fn a_gate_may_leave_out_why_unless_it_is_asked_for() {
        let left_out = |words: &[&str]| entered("no-why = true\n", words).unwrap().0.why.is_left_out();
        assert!(left_out(&[]) && !left_out(&["--why"]));
        assert!(!entered("", &[]).unwrap().0.why.is_left_out());
    }

    #[test]
    fn what_is_asked_for_is_that_of_one_of_the_two() {
        let lines = "get = [\"/\"]\npost = [{ path = \"/items\", data = \"{}\" }]\ncontract = \"hello\"\n";
        let (args, _) = entered(lines, &[]).unwrap();
        assert!(!args.asked.is_empty() && args.contract.as_deref() == Some("hello"));
        let (args, _) = entered(lines, &["--get", "/other"]).unwrap();
        assert!(
            !args.asked.is_empty() && args.contract.is_none(),
            "requests of the command line are a contract"
        );
    }

    #[test]
    fn a_mistake_names_its_line_or_the_nearest_word() {
        let error = |lines: &str| format!("{:#}", entered(lines, &[]).unwrap_err());
        let wrong = error("metrics = [\"cpuu\"]\n");
        assert!(wrong.contains("tare.toml:6: unknown metric; did you mean \"cpu\"?"), "{wrong}");
        let wrong = error("fail-on = \"regresion\"\n");
        assert!(wrong.contains("tare.toml:6: "), "{wrong}");
        let of = |name: &str, text: &str| {
            let root = Root::of_text(Path::new("/shop"), &format!("format = \"1.0\"\n{text}")).unwrap();
            format!("{:#}", find(name, &root).err().unwrap())
        };
        assert_eq!(of("shop", ""), "/shop/tare.toml: has no gate: write one as [gate.shop]");
        let unknown = of("shpo", "[gate.shop]\nservice = \"shop\"\n");
        assert_eq!(unknown, "unknown gate \"shpo\"; did you mean \"shop\"?");
    }
}
