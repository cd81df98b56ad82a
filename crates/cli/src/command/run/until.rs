//! `--until`: what ends a run, beside its budget and its most blocks.

use anyhow::ensure;
use tare_bench::plan::{
    Plan,
    until::{ALPHA, Metric, Tiers, Until, looks},
};
use tare_host::spelling::suggestion;

use crate::command::words;

/// Up to which difference two rows are as good as equal, where nothing else is asked for.
pub(super) const DELTA: f64 = 0.03;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    Budget,
    Tiers(Metric),
}

/// `budget`, `tiers`, or `tiers:throughput`.
pub(super) fn parse(text: &str) -> Result<Asked, String> {
    match text.split_once(':') {
        Some(("tiers", metric)) => words::metric(metric).map(Asked::Tiers),
        None if text == "tiers" => Ok(Asked::Tiers(Metric::Cpu)),
        None if text == "budget" => Ok(Asked::Budget),
        _ => Err(format!("unknown end{}", suggestion(text, ["budget", "tiers", "tiers:throughput"]))),
    }
}

/// Puts it into the plan, which must be one that can be looked at.
pub(super) fn enter(plan: &mut Plan, asked: Asked, delta: f64) -> anyhow::Result<()> {
    let Asked::Tiers(metric) = asked else { return Ok(()) };
    ensure!(
        plan.groups() == 1,
        "--until tiers compares rows within a block, and {} rows do not fit into one: choose at most {} by --services",
        plan.rows.len(),
        plan.blocks().group_max
    );
    plan.until = Until::Tiers(Tiers { metric, delta, looks: looks(plan.blocks().max), alpha: ALPHA });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_has_a_name() {
        assert_eq!(parse("budget"), Ok(Asked::Budget));
        assert_eq!(parse("tiers"), Ok(Asked::Tiers(Metric::Cpu)));
        assert_eq!(parse("tiers:throughput"), Ok(Asked::Tiers(Metric::Throughput)));
        assert!(parse("teirs").unwrap_err().ends_with("did you mean \"tiers\"?"));
        assert!(parse("tiers:cpus").unwrap_err().ends_with("did you mean \"cpu\"?"));
    }
}
