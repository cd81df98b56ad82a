//! The document as JSON, with a published schema. Each row is a line, so that files can be compared.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

use crate::Document;

/// The schema of the output of [`json`]: JSON Schema, draft 2020-12.
pub const SCHEMA: &str = include_str!("../../../schema/document.schema.json");

/// Deeper values are on one line: rows, columns and charts.
const DEPTH_MAX: usize = 5;

#[must_use]
pub fn json(document: &Document) -> String {
    let mut bytes = Vec::new();
    let formatter = LineFormatter { pretty: PrettyFormatter::new(), depth: 0 };
    let mut serializer = Serializer::with_formatter(&mut bytes, formatter);
    document.serialize(&mut serializer).expect("a document has only keys of text, and memory takes all");
    bytes.push(b'\n');
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

/// Indents down to a depth, and writes deeper values on one line.
struct LineFormatter {
    pretty: PrettyFormatter<'static>,
    depth: usize,
}

impl LineFormatter {
    fn is_flat(&self) -> bool {
        self.depth > DEPTH_MAX
    }
}

impl Formatter for LineFormatter {
    fn begin_array<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth += 1;
        if self.is_flat() { to.write_all(b"[") } else { self.pretty.begin_array(to) }
    }

    fn end_array<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth -= 1;
        if self.depth >= DEPTH_MAX { to.write_all(b"]") } else { self.pretty.end_array(to) }
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        match self.is_flat() {
            true => to.write_all(if first { b"" } else { b", " }),
            false => self.pretty.begin_array_value(to, first),
        }
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        if self.is_flat() { Ok(()) } else { self.pretty.end_array_value(to) }
    }

    fn begin_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth += 1;
        if self.is_flat() { to.write_all(b"{") } else { self.pretty.begin_object(to) }
    }

    fn end_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth -= 1;
        if self.depth >= DEPTH_MAX { to.write_all(b"}") } else { self.pretty.end_object(to) }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        self.begin_array_value(to, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.pretty.begin_object_value(to)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.end_array_value(to)
    }
}

#[cfg(test)]
mod tests;
