//! The `[load]` table of an experiment file: closed loops that differ in their connections.

use std::{collections::BTreeSet, ops::RangeInclusive};

use serde::Deserialize;

use super::{ConnectionUse, threads::ThreadsFile};

/// Slices of all loads are interleaved in a block; with more loads it would outlast short disturbances.
const LOADS_MAX: usize = 8;
const CONNECTIONS: RangeInclusive<usize> = 1..=20_000;
pub(super) const THREADS: RangeInclusive<usize> = 1..=256;
const STREAMS: RangeInclusive<usize> = 1..=1_000;
/// The longest delay before an answer: an hour.
pub(super) const DELAY_MS_MAX: u64 = 3_600_000;

/// A closed loop: each connection sends its next request after the previous answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadSetting {
    pub connections: usize,
    pub threads: usize,
    pub connection_use: ConnectionUse,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct LoadFile {
    connections: ConnectionCounts,
    pub(super) threads: ThreadsFile,
    #[serde(default = "one_stream")]
    streams: usize,
    requests_per_connection: Option<u64>,
    #[serde(default)]
    resume: bool,
}

fn one_stream() -> usize {
    ConnectionUse::default().streams
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "\"connections\" must be a number, or a list of numbers such as [16, 64, 256]")]
enum ConnectionCounts {
    One(usize),
    Many(Vec<usize>),
}

impl LoadSetting {
    /// A load for each of these numbers of connections.
    ///
    /// # Errors
    /// If the list is empty, too long, has duplicates, or a number is out of range.
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
        Ok(connections.iter().map(|&connections| LoadSetting::new(connections, threads)).collect())
    }

    /// Persistent connections with one request at a time.
    pub fn new(connections: usize, threads: usize) -> LoadSetting {
        LoadSetting { connections, threads, connection_use: ConnectionUse::default() }
    }

    /// For a heading and a file name: `64 connections`.
    pub fn label(&self) -> String {
        let connections = match self.connections {
            1 => "1 connection".to_owned(),
            number => format!("{number} connections"),
        };
        connections + &self.connection_use.describe(self.connections)
    }
}

pub(super) fn is_within(key: &str, value: usize, range: RangeInclusive<usize>) -> Result<(), String> {
    match range.contains(&value) {
        true => Ok(()),
        false => Err(format!("\"{key}\" is {value}; it must be {} to {}", range.start(), range.end())),
    }
}

impl LoadFile {
    /// The checked loads, or the error.
    pub(super) fn read(&self) -> Result<Vec<LoadSetting>, String> {
        let connection_use = self.connection_use()?;
        let connections = match &self.connections {
            ConnectionCounts::One(number) => std::slice::from_ref(number),
            ConnectionCounts::Many(numbers) => numbers,
        };
        let loads = LoadSetting::each(connections, self.threads.first())?;
        if let Some(load) = loads.iter().find(|load| load.connections % connection_use.streams > 0) {
            return Err(format!(
                "{} connections cannot be shared by {} streams: give a multiple",
                load.connections, connection_use.streams
            ));
        }
        Ok(loads.into_iter().map(|load| LoadSetting { connection_use, ..load }).collect())
    }

    fn connection_use(&self) -> Result<ConnectionUse, String> {
        let &LoadFile { streams, requests_per_connection: requests, resume: resumes, .. } = self;
        is_within("streams", streams, STREAMS)?;
        if requests == Some(0) {
            return Err("\"requests-per-connection\" is 0; it must be at least 1".to_owned());
        }
        if requests.is_some() && streams > 1 {
            return Err(
                "\"requests-per-connection\" is of HTTP/1.1, and \"streams\" of HTTP/2: give one of them"
                    .to_owned(),
            );
        }
        if resumes && requests.is_none() {
            return Err("\"resume\" is without effect where connections are kept: give \"requests-per-connection\" too".to_owned());
        }
        Ok(ConnectionUse { streams, requests, resumes })
    }
}
