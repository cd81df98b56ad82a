//! Shared parts of the tests: checkouts, the command itself, and queries of live processes.

mod command;
mod fake;
mod git;
mod help;
mod processes;
mod workspace;

pub use command::{Ended, Running, USUAL, start};
#[allow(unused_imports, reason = "only the end-to-end tests use it")]
pub use command::{checkout, home, start_under};
#[allow(unused_imports, reason = "only the end-to-end tests use it")]
pub use fake::Fake;
pub use fake::PROGRAM;
pub use git::git;
#[allow(unused_imports, reason = "only the end-to-end tests use it")]
pub use help::helps;
pub use processes::{carrying, free_port, send, within, wrong_of};
#[allow(unused_imports, reason = "only the tests of real services use it")]
pub use workspace::real_root;
pub use workspace::{Workspace, experiment, journal, manifest, row, state};
#[allow(unused_imports, reason = "only the end-to-end tests use it")]
pub use workspace::{cheating, every_request_is_accounted_for, fact, rows, state_of, unsealed};
