//! The methods from outside: what must hold of any sample, figures of other people's programs, and how often the methods err where
//! the truth is known.

mod coverage;
mod errors;
mod golden;
mod golden_methods;
mod meta;
mod models;
mod properties;
mod properties_methods;
mod scalability;
