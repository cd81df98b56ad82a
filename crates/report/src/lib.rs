//! Reports of Tare. [`gather`] turns an analysed run into a [`document`] of tables, and charts of these
//! tables; [`write`] writes it as a page, as text and as data. No format can show a number that the others
//! lack, because all are made from the same tables.
//!
//! The crate does not know what is measured, or which conclusions are allowed: `tare-analysis` computes
//! figures, and this crate lays them out. It starts no process and opens no socket.
#![warn(clippy::disallowed_macros, clippy::missing_errors_doc, unreachable_pub)]

pub mod document;
pub mod exports;
pub mod gather;
pub mod kept;
pub mod write;

pub use document::Document;
