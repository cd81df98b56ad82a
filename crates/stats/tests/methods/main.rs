//! The methods from outside: properties of any sample, figures of other programs, and error rates.

mod coverage;
mod errors;
mod golden;
mod golden_methods;
mod meta;
mod models;
mod properties;
mod properties_methods;
mod scalability;
