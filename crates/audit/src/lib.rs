//! What others published of HTTP servers under load, and which of it cannot be true, or is not shown. Text in, rows out
//! ([`read`]); rows in, doubts out ([`audit`]). Pure: it opens no file, measures nothing, and makes no sentences: a doubt is a
//! type with the figures that it comes from, and `tare-report` has the words.
//!
//! A rule is an identity or a bound that holds for every server and every generator, such as Little's law. No rule knows what a
//! good result is.
#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]

mod doubt;
mod published;
mod rules;
mod source;

pub use doubt::{About, Audit, Doubt, Finding, Rule, Weight};
pub use published::{
    Checks, Counted, Counts, Latency, Load, Mislabelled, Published, Row, Source, Statistic, Timing,
};
pub use rules::audit;
pub use source::{ReadError, read};
