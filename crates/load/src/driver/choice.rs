//! Which driver is used, and why.

use std::fmt;
use std::str::FromStr;

/// The choice of the user.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DriverChoice {
    /// io_uring, or epoll if the kernel refuses it.
    #[default]
    Auto,
    /// This driver, or an error.
    Only(DriverKind),
}

/// The drivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriverKind {
    /// Completions, a few requests for each system call.
    IoUring,
    /// Readiness, a system call for each send and receive.
    Epoll,
}

/// The driver that is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenDriver {
    /// The driver.
    pub kind: DriverKind,
    /// Why it is not io_uring, if the choice was automatic.
    pub reason: Option<String>,
}

impl DriverKind {
    /// The name on the command line and in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            DriverKind::IoUring => "io_uring",
            DriverKind::Epoll => "epoll",
        }
    }
}

impl fmt::Display for ChosenDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            None => f.write_str(self.kind.name()),
            Some(reason) => write!(f, "{} ({reason})", self.kind.name()),
        }
    }
}

/// Unknown name of a driver.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no driver \"{0}\": choose auto, io_uring or epoll")]
pub struct UnknownDriver(String);

impl FromStr for DriverChoice {
    type Err = UnknownDriver;

    fn from_str(name: &str) -> Result<Self, UnknownDriver> {
        match name {
            "auto" => Ok(DriverChoice::Auto),
            "io_uring" | "io-uring" => Ok(DriverChoice::Only(DriverKind::IoUring)),
            "epoll" => Ok(DriverChoice::Only(DriverKind::Epoll)),
            other => Err(UnknownDriver(other.to_owned())),
        }
    }
}
