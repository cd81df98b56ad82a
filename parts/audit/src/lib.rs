//! Audits published results of HTTP load tests: figures that cannot be true, or that do not show what they
//! seem to. [`read`] turns text into rows, [`audit`] turns rows into findings. The crate is pure: it opens no
//! file, and measures nothing. A finding is a type with its figures; [`document`] has the words.
//!
//! A rule is an identity or a bound that holds for every server and every generator, such as Little's law. No
//! rule knows what a good result is.
#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]

pub mod document;
mod doubt;
mod published;
mod rules;
mod source;

pub use doubt::{Audit, AuditFinding, AuditIssue, DoubtSubject, DoubtWeight, Rule};
pub use published::{
    AuditRow, Checks, CountedRequests, Counts, Mislabelled, Published, PublishedLatency, PublishedLoad,
    Source, Statistic, Timing,
};
pub use rules::audit;
pub use source::{ReadError, read};
