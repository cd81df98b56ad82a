//! Reports of Tare. An analysed run goes in ([`gather`]); a [`document`] of tables, and charts of these tables, comes out; it
//! is written as a page, as text and as data ([`write`]). No form of it can show a number that the others do not have, since
//! all are made of the same tables.
//!
//! What is measured, and what may be concluded from it, is not known here: `tare-analysis` computes figures, this crate lays
//! them out. It starts no process and opens no socket.
#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]

pub mod document;
pub mod exports;
pub mod gather;
pub mod kept;
pub mod site;
pub mod write;

pub use document::Document;
