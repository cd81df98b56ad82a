//! `[load]` as it stands in the file: closed loops, which differ in their connections.

use std::{collections::BTreeSet, ops::RangeInclusive};

use serde::Deserialize;

/// The slices of all loads are interleaved in a block: with more of them a block would outlast what comes and goes on the machine.
const LOADS_MAX: usize = 8;
const CONNECTIONS: RangeInclusive<usize> = 1..=20_000;
const THREADS: RangeInclusive<usize> = 1..=256;
const STREAMS: RangeInclusive<usize> = 1..=1000;
/// The longest that a service may be asked to wait before it answers: an hour.
pub(super) const DELAY_MS_MAX: u64 = 3_600_000;

/// A closed loop: each connection sends its next request once the last one is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadSetting {
    pub connections: usize,
    pub threads: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct LoadFile {
    connections: OneOrMany,
    threads: usize,
    /// Of a connection of HTTP/2, at a time.
    #[serde(default = "one_stream")]
    streams: usize,
}

fn one_stream() -> usize {
    1
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "\"connections\" must be a number, or a list of numbers such as [16, 64, 256]")]
enum OneOrMany {
    One(usize),
    Many(Vec<usize>),
}

impl LoadSetting {
    /// A load for each of these numbers of connections.
    ///
    /// # Errors
    /// If there is none, if there are too many, if one is given twice, or if a number is out of range.
    pub fn each(connections: &[usize], threads: usize) -> Result<Vec<LoadSetting>, String> {
        is_within("threads", threads, THREADS)?;
        connections.iter().try_for_each(|number| is_within("connections", *number, CONNECTIONS))?;
        if connections.is_empty() || connections.len() > LOADS_MAX {
            return Err(format!(
                "\"connections\" has {} numbers; it must have 1 to {LOADS_MAX}",
                connections.len()
            ));
        }
        if connections.iter().collect::<BTreeSet<_>>().len() < connections.len() {
            return Err("\"connections\" has the same number twice".to_owned());
        }
        Ok(connections.iter().map(|&connections| LoadSetting { connections, threads }).collect())
    }

    /// For a heading and a file name: `64 connections`.
    pub fn label(&self) -> String {
        match self.connections {
            1 => "1 connection".to_owned(),
            number => format!("{number} connections"),
        }
    }
}

pub(super) fn is_within(key: &str, value: usize, range: RangeInclusive<usize>) -> Result<(), String> {
    match range.contains(&value) {
        true => Ok(()),
        false => Err(format!("\"{key}\" is {value}; it must be {} to {}", range.start(), range.end())),
    }
}

impl LoadFile {
    pub(super) fn streams(&self) -> Result<usize, String> {
        is_within("streams", self.streams, STREAMS).map(|()| self.streams)
    }

    /// What it means, or what is wrong with it.
    pub(super) fn read(self) -> Result<Vec<LoadSetting>, String> {
        match self.connections {
            OneOrMany::One(number) => LoadSetting::each(&[number], self.threads),
            OneOrMany::Many(numbers) => LoadSetting::each(&numbers, self.threads),
        }
    }
}
