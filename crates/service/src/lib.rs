//! Services: the catalogue, and how they are built, launched, loaded, verified and tested for endurance. Their contracts are the
//! crate `contract`. It knows nothing of experiments.
#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]

pub mod apart;
pub mod backing;
pub mod build;
pub mod catalogue;
pub mod certificate;
pub mod checkout;
pub mod client;
pub mod discover;
pub mod drive;
pub mod endurance;
pub mod footprint;
mod git;
pub mod install;
pub mod launch;
pub mod learn;
mod lock;
pub mod probe;
pub mod prove;
pub mod release;
pub mod revisions;
pub mod settings;
pub mod survey;
pub mod verify;
pub mod workspace;
