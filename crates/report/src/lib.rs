//! Reports of Tare. A run folder goes in ([`gather`]); a [`document`] of tables, and charts of these tables, comes out; it is
//! written down as a page, as text and as data ([`write`]). No form of it can show a number that the others do not have, since
//! all are made of the same tables.
//!
//! What is measured, and what may be concluded from it, is not known here: `tare-analysis` computes figures, this crate lays
//! them out. It starts no process and opens no socket.
#![deny(missing_docs)]

pub mod document;
pub mod gather;
pub mod kept;
pub mod write;

pub use document::Document;
