//! A requirement that this machine does not meet, and its remedy.

use std::fmt;

/// A requirement that this machine does not meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    pub command: String,
    /// Such as not found, an exit status, or too old.
    pub reason: String,
    /// Debian packages that provide it.
    pub debian: Vec<String>,
    pub hint: Option<String>,
}

impl Missing {
    /// The command that installs it, if there is one.
    pub(crate) fn remedy(&self) -> Option<String> {
        (!self.debian.is_empty()).then(|| format!("apt-get install {}", self.debian.join(" ")))
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not on this machine: \"{}\" {}", self.command, self.reason)?;
        if let Some(remedy) = self.remedy() {
            write!(f, "; `{remedy}`")?;
        }
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_says_what_brings_it() {
        let missing = Missing {
            command: "no-such-tool --version".to_owned(),
            reason: "cannot run: there is no such program".to_owned(),
            debian: vec!["some-package".to_owned()],
            hint: Some("or build it".to_owned()),
        };
        assert_eq!(
            missing.to_string(),
            "not on this machine: \"no-such-tool --version\" cannot run: there is no such program; \
             `apt-get install some-package` (or build it)"
        );
        let bare = Missing { debian: Vec::new(), hint: None, ..missing };
        assert!(bare.to_string().ends_with("there is no such program"));
    }
}
