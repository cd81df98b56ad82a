//! What is simulated, as a TOML file says it: a base, and scenarios that change some of its keys.

use serde::Deserialize;

use crate::column::Column;

/// All parameters of a simulation.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Scenario {
    pub fleet: FleetSetting,
    pub jobs: JobsSetting,
    pub engine: EngineSetting,
    pub collector: CollectorSetting,
    pub retry: RetrySetting,
    pub policy: Policy,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FleetSetting {
    pub machines: usize,
    /// Of machines that may vanish.
    pub spot_share: f64,
    /// Mean time until one of them does, and until another is there in its place.
    pub vanish_hours: f64,
    pub back_minutes: f64,
    /// Mean time between two cuts of one machine from the network, and how long a cut lasts. Any machine is cut.
    pub cut_hours: f64,
    pub cut_minutes: f64,
    /// Of machines that take this many times as long for what is not measured.
    pub slow_share: f64,
    pub slow_times: f64,
    pub dollars_per_hour: f64,
    pub dollars_per_hour_spot: f64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct JobsSetting {
    pub count: usize,
    /// The budget of a run, which is the same for all.
    pub measure_seconds: f64,
    /// Building, verifying and pilots: lognormal.
    pub build_seconds: f64,
    pub build_spread: f64,
    /// Of attempts that take longer than expected, for a reason of their own: a registry that is slow, a cache that is cold. By this
    /// many times the build on average.
    pub straggler_share: f64,
    pub straggler_times: f64,
    /// Of attempts that fail for a passing reason, and of jobs that always fail.
    pub failing_share: f64,
    pub broken_share: f64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct EngineSetting {
    /// Jobs that the control plane places each second.
    pub placements_per_second: f64,
    /// From there to a running program.
    pub start_seconds: f64,
    /// A machine that is not heard of for so long has lost its job, which is placed elsewhere.
    pub lost_after_seconds: f64,
    /// An attempt that runs for longer is ended, and has failed.
    pub deadline_seconds: f64,
    /// A job that failed or was lost so often is missing.
    pub attempts: usize,
    /// Before a failed job is placed again; doubled each time.
    pub back_off_seconds: f64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CollectorSetting {
    /// Of a bundle: lognormal.
    pub mebibytes: f64,
    pub mebibytes_spread: f64,
    /// Of a machine's link, and of the collector's.
    pub machine_mebibytes_per_second: f64,
    pub mebibytes_per_second: f64,
    /// Pushes that are open at a time; more are refused.
    pub pushes: usize,
    /// Bundles that are checked at a time.
    pub checkers: usize,
    /// A check: unpacked, recomputed, stored.
    pub check_seconds: f64,
    pub check_seconds_per_mebibyte: f64,
    /// It refuses all pushes for some minutes, from some minute on: it was killed, and is started again. Never if these are 0.
    pub down_from_minutes: f64,
    pub down_minutes: f64,
    /// When a machine is free for its next job.
    pub frees: Frees,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Frees {
    /// When its bundle has arrived.
    OnArrival,
    /// When its bundle was checked and committed.
    OnCommit,
}

/// What a machine does whose push was refused.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RetrySetting {
    pub pause: Pause,
    pub seconds: f64,
    pub seconds_max: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pause {
    /// The same each time.
    Fixed,
    /// Twice as long each time, and a random part of that ("full jitter").
    Exponential,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Policy {
    pub order: Order,
    /// Whether idle machines run copies of jobs that take longer than expected.
    pub copies: bool,
    /// From this multiple of that on.
    pub copy_from_times: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// As the list has them.
    First,
    /// Those that are expected to take longest first.
    Longest,
}

/// A file of scenarios.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenarios {
    pub seeds: u64,
    pub groups: Vec<Group>,
    pub clocks: crate::uncertainty::ClockSetting,
}

/// Scenarios that make one table.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// As the page names its place.
    pub name: String,
    /// Of the first column: what differs from row to row.
    pub title: String,
    pub columns: Vec<Column>,
    pub rows: Vec<(String, Scenario)>,
}

/// Why a file says nothing that can be simulated.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    #[error("\"{key}\" is missing or is no {what}")]
    Key { key: &'static str, what: &'static str },
    #[error("{row}: {message}")]
    Row { row: String, message: String },
}

impl Scenarios {
    /// Reads a file: `seeds`, a `[base]`, and `[[group]]` with a name, a title, columns and `[[group.row]]`, each with a
    /// name and the keys of the base that it changes.
    ///
    /// # Errors
    /// What is missing, unknown or out of range.
    pub fn parse(text: &str) -> Result<Scenarios, ScenarioError> {
        let file: toml::Table = text.parse()?;
        let missing = |key, what| ScenarioError::Key { key, what };
        let seeds = file.get("seeds").and_then(toml::Value::as_integer).filter(|seeds| *seeds > 0);
        let seeds = seeds.ok_or(missing("seeds", "number above 0"))? as u64;
        let base = file.get("base").and_then(toml::Value::as_table).ok_or(missing("base", "table"))?;
        let clocks = file.get("clocks").cloned().ok_or(missing("clocks", "table"))?.try_into()?;
        let listed = file.get("group").and_then(toml::Value::as_array).ok_or(missing("group", "list"))?;
        let groups = listed.iter().map(|group| group_of(group, base)).collect::<Result<_, _>>()?;
        Ok(Scenarios { seeds, groups, clocks })
    }
}

fn group_of(group: &toml::Value, base: &toml::Table) -> Result<Group, ScenarioError> {
    let name = group.get("name").and_then(toml::Value::as_str);
    let name = name.ok_or(ScenarioError::Key { key: "group.name", what: "text" })?.to_owned();
    let title = group.get("title").and_then(toml::Value::as_str);
    let title = title.ok_or(ScenarioError::Key { key: "group.title", what: "text" })?.to_owned();
    let columns = group.get("columns").cloned();
    let columns = columns.ok_or(ScenarioError::Key { key: "group.columns", what: "list" })?.try_into()?;
    let rows = group.get("row").and_then(toml::Value::as_array);
    let rows = rows.ok_or(ScenarioError::Key { key: "group.row", what: "list" })?;
    let of = |row: &toml::Value| {
        let label = row.get("name").and_then(toml::Value::as_str);
        let label = label.ok_or(ScenarioError::Key { key: "group.row.name", what: "text" })?.to_owned();
        let mut changed = base.clone();
        for (key, value) in row.as_table().into_iter().flatten().filter(|(key, _)| *key != "name") {
            merge(&mut changed, key, value);
        }
        let of_row = |message: String| ScenarioError::Row { row: label.clone(), message };
        let scenario: Scenario = toml::Value::Table(changed)
            .try_into()
            .map_err(|error: toml::de::Error| of_row(error.to_string()))?;
        scenario.check().map_err(of_row)?;
        Ok((label, scenario))
    };
    Ok(Group { name, title, columns, rows: rows.iter().map(of).collect::<Result<_, ScenarioError>>()? })
}

fn merge(into: &mut toml::Table, key: &str, value: &toml::Value) {
    match (into.get_mut(key), value) {
        (Some(toml::Value::Table(inner)), toml::Value::Table(changes)) => {
            changes.iter().for_each(|(key, value)| merge(inner, key, value));
        }
        _ => {
            into.insert(key.to_owned(), value.clone());
        }
    }
}

impl Scenario {
    /// What makes no sense.
    fn check(&self) -> Result<(), String> {
        let shares = [
            ("spot-share", self.fleet.spot_share),
            ("slow-share", self.fleet.slow_share),
            ("straggler-share", self.jobs.straggler_share),
            ("failing-share", self.jobs.failing_share),
            ("broken-share", self.jobs.broken_share),
        ];
        if let Some((key, share)) = shares.iter().find(|(_, share)| !(0.0..=1.0).contains(share)) {
            return Err(format!("\"{key}\" is {share}; it must be 0 to 1"));
        }
        let positive = [
            ("machines", self.fleet.machines as f64),
            ("count", self.jobs.count as f64),
            ("attempts", self.engine.attempts as f64),
            ("pushes", self.collector.pushes as f64),
            ("checkers", self.collector.checkers as f64),
            ("placements-per-second", self.engine.placements_per_second),
            ("vanish-hours", self.fleet.vanish_hours),
            ("cut-hours", self.fleet.cut_hours),
            ("mebibytes", self.collector.mebibytes),
            ("machine-mebibytes-per-second", self.collector.machine_mebibytes_per_second),
            ("mebibytes-per-second", self.collector.mebibytes_per_second),
            ("seconds", self.retry.seconds),
            ("deadline-seconds", self.engine.deadline_seconds),
            ("measure-seconds", self.jobs.measure_seconds),
            ("build-seconds", self.jobs.build_seconds),
        ];
        match positive.iter().find(|(_, value)| !(value.is_finite() && *value > 0.0)) {
            Some((key, value)) => Err(format!("\"{key}\" is {value}; it must be above 0")),
            None => Ok(()),
        }
    }
}
