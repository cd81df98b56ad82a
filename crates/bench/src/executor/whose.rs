//! Attributes each error of the executor to the service or to the instrument.

use std::io;

use tare_host::{link::LinkError, process::FreezeError};
use tare_load::{Failure, LoadError, OpenError, Unreconciled};
use tare_service::{drive::DriveError, launch::LaunchError};

use crate::schedule::{ExecutorError, RowFailure};

impl From<LaunchError> for ExecutorError {
    fn from(error: LaunchError) -> ExecutorError {
        match error.is_of_service() {
            true => RowFailure(error.to_string()).into(),
            false => ExecutorError::of_instrument(error),
        }
    }
}

impl From<FreezeError> for ExecutorError {
    fn from(error: FreezeError) -> ExecutorError {
        match error {
            FreezeError::TooSlow { .. } => RowFailure(error.to_string()).into(),
            FreezeError::Refused { .. } => ExecutorError::of_instrument(error),
        }
    }
}

impl From<OpenError> for ExecutorError {
    fn from(error: OpenError) -> ExecutorError {
        match error.failure {
            Failure::NoDescriptors | Failure::NoPorts => ExecutorError::of_instrument(error),
            _ => RowFailure(error.to_string()).into(),
        }
    }
}

/// Errors that no service can cause.
macro_rules! of_instrument {
    ($($error:ty),+) => {
        $(impl From<$error> for ExecutorError {
            fn from(error: $error) -> ExecutorError {
                ExecutorError::of_instrument(error)
            }
        })+
    };
}

// An `io::Error` means that a kernel counter cannot be read.
of_instrument!(DriveError, LinkError, LoadError, Unreconciled, io::Error);

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tare_host::process::{StartError, StartFailure, Unready, WatchdogError};

    use super::*;

    fn start(why: StartFailure) -> ExecutorError {
        LaunchError::from(StartError { service: "a".to_owned(), why }).into()
    }

    fn is_of_instrument(error: &ExecutorError) -> bool {
        matches!(error, ExecutorError::Instrument(_))
    }

    #[test]
    fn what_the_machine_refuses_is_no_failure_of_a_service() {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let refused = [
            start(StartFailure::Output { path: "a".into(), source: full() }),
            start(StartFailure::Group { path: "a".into(), source: full() }),
            start(StartFailure::Watchdog(WatchdogError::Gone { source: full() })),
            start(StartFailure::SetUp(full())),
            start(StartFailure::Execute { path: "a".into(), source: io::ErrorKind::OutOfMemory.into() }),
            LaunchError::Output { folder: "a".to_owned(), source: full() }.into(),
            FreezeError::Refused { name: "a".to_owned(), source: full() }.into(),
            full().into(),
        ];
        assert!(refused.iter().all(is_of_instrument), "{refused:?}");
    }

    #[test]
    fn what_a_service_does_is_its_own_failure() {
        let (after, stderr_tail) = (Duration::from_secs(1), String::new());
        let silent = Unready::NotReady { after, hindrance: None, stderr_tail };
        let own = [
            start(StartFailure::NoCommand),
            start(StartFailure::NotExecutable("a".into())),
            start(StartFailure::Execute { path: "a".into(), source: io::ErrorKind::NotFound.into() }),
            LaunchError::from(silent).into(),
            FreezeError::TooSlow { name: "a".to_owned(), after: Duration::from_secs(2) }.into(),
        ];
        assert!(!own.iter().any(is_of_instrument), "{own:?}");
    }
}
