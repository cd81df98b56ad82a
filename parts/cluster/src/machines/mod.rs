//! `machines.toml`: classes of machines, and how an engine selects the nodes of each. The module knows no
//! engine: settings for engines are text here.

mod kubernetes;

use std::{path::Path, time::Duration};

use serde::{Deserialize, Serialize, Serializer};
use tare_base::document::{self, DocumentError};
use tare_base::units::{deserialize_some_duration, spell_duration};

pub use kubernetes::KubernetesNodes;
pub(crate) use kubernetes::is_label_value;

/// The format version that this program reads.
const FORMAT: &str = "1.0";
/// The longest name of a class, which becomes part of folder names.
const NAME_BYTES_MAX: usize = 40;
/// The most CPUs that Tare can pin to.
const CPUS_MAX: usize = 1024;

/// Machines that are equal as far as figures depend on them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MachineClass {
    /// Lowercase letters, digits and hyphens.
    pub name: String,
    /// The smallest number of whole CPUs of a job in this class.
    pub cpus: usize,
    /// The time after which the engine ends a job. Default: the engine's own limit.
    #[serde(
        default,
        deserialize_with = "deserialize_some_duration",
        serialize_with = "spelled",
        skip_serializing_if = "Option::is_none"
    )]
    pub time_limit: Option<Duration>,
    #[serde(default, skip_serializing_if = "SlurmNodes::is_default")]
    pub slurm: SlurmNodes,
    #[serde(default, skip_serializing_if = "KubernetesNodes::is_default")]
    pub kubernetes: KubernetesNodes,
}

/// How Slurm selects nodes of a class, and the account for their time: options of `sbatch` with these names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SlurmNodes {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraint: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qos: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservation: Option<String>,
}

/// The content of the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Machines {
    #[serde(rename = "format")]
    _format: String,
    #[serde(rename = "class")]
    pub classes: Vec<MachineClass>,
}

impl SlurmNodes {
    fn is_default(&self) -> bool {
        *self == SlurmNodes::default()
    }

    /// The given options of `sbatch`, with their values.
    pub fn options(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("partition", &self.partition),
            ("constraint", &self.constraint),
            ("account", &self.account),
            ("qos", &self.qos),
            ("reservation", &self.reservation),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)))
    }
}

impl Machines {
    /// Reads the file.
    ///
    /// # Errors
    /// If it cannot be read, or has an error, whose line is named.
    pub fn load(path: &Path) -> Result<Machines, DocumentError> {
        Machines::parse(path, &document::read(path)?)
    }

    /// Parses the text, naming `path` in every error.
    ///
    /// # Errors
    /// It has an error, whose line is named.
    pub fn parse(path: &Path, text: &str) -> Result<Machines, DocumentError> {
        let machines: Machines = document::parse(path, text, FORMAT)?;
        if machines.classes.is_empty() {
            return Err(DocumentError::at(
                path,
                text,
                "class",
                "\"class\" is empty: give at least one [[class]]",
            ));
        }
        for (place, class) in machines.classes.iter().enumerate() {
            let twice = machines.classes[..place].iter().any(|before| before.name == class.name);
            let mistake =
                class.mistake().or_else(|| twice.then(|| format!("class \"{}\" stands twice", class.name)));
            if let Some(message) = mistake {
                return Err(DocumentError::Invalid {
                    path: path.to_owned(),
                    line: line_of(text, place),
                    message,
                });
            }
        }
        Ok(machines)
    }
}

impl MachineClass {
    /// The error in its values, if there is one.
    pub(crate) fn mistake(&self) -> Option<String> {
        let name = &self.name;
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty()
            || name.len() > NAME_BYTES_MAX
            || name.starts_with('-')
            || !name.chars().all(is_plain)
        {
            return Some(format!(
                "class name {name:?}: use 1 to {NAME_BYTES_MAX} lowercase letters, digits and hyphens, and no hyphen in front"
            ));
        }
        if self.cpus == 0 || self.cpus > CPUS_MAX {
            return Some(format!("class \"{name}\": \"cpus\" is {}; it must be 1 to {CPUS_MAX}", self.cpus));
        }
        if self.time_limit.is_some_and(|limit| limit < Duration::from_secs(60)) {
            return Some(format!(
                "class \"{name}\": \"time-limit\" must be 1m or more: engines count in minutes"
            ));
        }
        let mut texts = self.slurm.options().map(|(_, value)| value);
        if texts.any(|text| text.is_empty() || text.contains(|c: char| c.is_control())) {
            return Some(format!(
                "class \"{name}\": a value of \"slurm\" is empty or has a control character"
            ));
        }
        self.kubernetes.mistake().map(|mistake| format!("class \"{name}\": kubernetes: {mistake}"))
    }
}

/// The line of the class at this position.
fn line_of(text: &str, place: usize) -> usize {
    let heads = text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with("[[class]]"));
    heads.map(|(line, _)| line + 1).nth(place).unwrap_or(1)
}

fn spelled<S: Serializer>(limit: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    match limit {
        Some(limit) => serializer.serialize_str(&spell_duration(*limit)),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests;
