//! The scenarios of a TOML file: a base, and scenarios that change some of its keys.

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
    /// The share of machines that may vanish.
    pub spot_share: f64,
    /// The mean time until one of them vanishes, and until its replacement arrives.
    pub vanish_hours: f64,
    pub back_minutes: f64,
    /// The mean time between two disconnections of a machine, and its duration. Any machine may be affected.
    pub cut_hours: f64,
    pub cut_minutes: f64,
    /// The share of slow machines, and their slowdown of everything except measuring.
    pub slow_share: f64,
    pub slow_times: f64,
    pub dollars_per_hour: f64,
    pub dollars_per_hour_spot: f64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct JobsSetting {
    pub count: usize,
    /// The budget of a run, the same for all.
    pub measure_seconds: f64,
    /// The time for building, verifying and pilots: lognormal.
    pub build_seconds: f64,
    pub build_spread: f64,
    /// The share of attempts that are slow for a reason of their own, such as a slow registry or a cold
    /// cache, and the mean delay as a multiple of the build.
    pub straggler_share: f64,
    pub straggler_times: f64,
    /// The share of attempts that fail temporarily, and of jobs that always fail.
    pub failing_share: f64,
    pub broken_share: f64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct EngineSetting {
    /// Jobs that the control plane places per second.
    pub placements_per_second: f64,
    /// The time from placement to a running program.
    pub start_seconds: f64,
    /// The silence after which a machine's job counts as lost, and is placed elsewhere.
    pub lost_after_seconds: f64,
    /// The time after which a running attempt is ended as failed.
    pub deadline_seconds: f64,
    /// The number of failed or lost attempts after which a job is missing.
    pub attempts: usize,
    /// The pause before a failed job is placed again; doubled each time.
    pub back_off_seconds: f64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CollectorSetting {
    /// The size of a bundle: lognormal.
    pub mebibytes: f64,
    pub mebibytes_spread: f64,
    /// The bandwidth of a machine's link, and of the collector's.
    pub machine_mebibytes_per_second: f64,
    pub mebibytes_per_second: f64,
    /// The number of concurrent pushes; more are refused.
    pub pushes: usize,
    /// The number of concurrent checks.
    pub checkers: usize,
    /// The time of a check: unpack, recompute, store.
    pub check_seconds: f64,
    pub check_seconds_per_mebibyte: f64,
    /// The collector refuses all pushes from one minute on for some minutes, as if it was killed and
    /// restarted. 0 means never.
    pub down_from_minutes: f64,
    pub down_minutes: f64,
    /// When a machine becomes free for its next job.
    pub frees: Frees,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Frees {
    /// When its bundle has arrived.
    OnArrival,
    /// When its bundle has been checked and committed.
    OnCommit,
}

/// The behaviour of a machine whose push was refused.
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
    /// A constant pause.
    Fixed,
    /// A pause that doubles each time, of which a random part is used ("full jitter").
    Exponential,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Policy {
    pub order: Order,
    /// Whether idle machines run copies of slow jobs.
    pub copies: bool,
    /// The multiple of the expected time from which a job counts as slow.
    pub copy_from_times: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// In the order of the list.
    First,
    /// The longest expected jobs first.
    Longest,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Scenarios {
    pub seeds: u64,
    pub groups: Vec<Group>,
    pub clocks: crate::uncertainty::ClockSetting,
}

/// Scenarios that make one table.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The name of its place in the page.
    pub name: String,
    /// The title of the first column: the difference between the rows.
    pub title: String,
    pub columns: Vec<Column>,
    pub rows: Vec<(String, Scenario)>,
}

/// Why a file contains no valid scenarios.
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
    /// Parses a file: `seeds`, a `[base]`, and `[[group]]` with a name, a title, columns and `[[group.row]]`,
    /// each with a name and the keys of the base that it changes.
    ///
    /// # Errors
    /// A value is missing, unknown or out of range.
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
    /// Checks that the values are consistent.
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
