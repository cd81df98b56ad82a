//! What the tests share: checkouts to run in, the command itself, and looks at what is alive.

mod command;
mod fake;
mod processes;
mod workspace;

pub use command::{BUILD, Ended, Running, USUAL, start};
pub use processes::{carrying, free_port, send, within};
pub use workspace::{Workspace, alone, experiment, journal, manifest, real_root, row, state};
