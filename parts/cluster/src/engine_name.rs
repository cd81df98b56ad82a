//! The names of engines, as a batch stores them.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EngineName {
    Kubernetes,
    Slurm,
}

impl EngineName {
    pub const ALL: [EngineName; 2] = [EngineName::Kubernetes, EngineName::Slurm];

    /// The name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            EngineName::Kubernetes => "kubernetes",
            EngineName::Slurm => "slurm",
        }
    }

    /// The official spelling.
    pub fn title(self) -> &'static str {
        match self {
            EngineName::Kubernetes => "Kubernetes",
            EngineName::Slurm => "Slurm",
        }
    }

    /// Whether nodes have the program and the repository at the same paths as this machine. Otherwise an
    /// image has them.
    pub fn shares_files(self) -> bool {
        self == EngineName::Slurm
    }
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

impl FromStr for EngineName {
    type Err = String;

    fn from_str(text: &str) -> Result<EngineName, String> {
        let names = EngineName::ALL.map(EngineName::as_str);
        let found = EngineName::ALL.into_iter().find(|engine| engine.as_str() == text);
        found.ok_or_else(|| format!("there is no engine {text:?}; there is: {}", names.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_known_by_its_name() {
        for engine in EngineName::ALL {
            assert_eq!(engine.as_str().parse(), Ok(engine));
            assert_eq!(crate::engine(engine).name(), engine);
        }
        insta::assert_snapshot!("nomad".parse::<EngineName>().unwrap_err(), @r#"there is no engine "nomad"; there is: kubernetes, slurm"#);
    }
}
