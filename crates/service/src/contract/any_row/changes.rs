//! What answers said that is stored. It is compared with the database after the load.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tare_load::exchange::Flight;

use crate::contract::{Body, Contract, Request};

/// What answers said that is stored, by the key of the row: the values that can be the last one. Its copies are one.
#[derive(Debug, Clone, Default)]
pub struct Changes(Arc<Mutex<HashMap<String, LastChanges>>>);

impl PartialEq for Changes {
    fn eq(&self, _: &Changes) -> bool {
        true
    }
}

/// The changes of one row that were not over before another one began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LastChanges {
    sent_ns_max: u64,
    /// Each with the instant when it was answered.
    pub(super) values: Vec<(u64, u64)>,
}

/// A column that a service changes, and what it said of it.
#[derive(Debug, Clone, Copy)]
pub struct ChangedRows<'a> {
    pub table: &'a str,
    /// The column that tells rows apart.
    pub key: &'a str,
    pub column: &'a str,
    pub changes: &'a Changes,
}

/// What a row may hold after a load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// By key: any of these values.
    pub values: BTreeMap<String, Vec<u64>>,
}

impl Changes {
    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<String, LastChanges>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what was noted since the last time.
    pub fn take(&self) -> Changed {
        let taken = std::mem::take(&mut *self.lock());
        let values_of = |last: LastChanges| last.values.into_iter().map(|(_, value)| value).collect();
        Changed { values: taken.into_iter().map(|(key, last)| (key, values_of(last))).collect() }
    }
}

impl LastChanges {
    /// A change that was answered before another one was sent was overwritten by it.
    pub(super) fn note(&mut self, value: u64, flight: Flight) {
        self.sent_ns_max = self.sent_ns_max.max(flight.sent_ns);
        self.values.push((flight.answered_ns, value));
        let begins_ns = self.sent_ns_max;
        self.values.retain(|(answered_ns, _)| *answered_ns >= begins_ns);
    }
}

impl Request {
    /// What its answers say that is changed; absent if that is nothing.
    pub fn changed_column(&self) -> Option<ChangedRows<'_>> {
        match &self.answer.body {
            Body::AnyRow(any) => any.changed_rows(),
            _ => None,
        }
    }
}

impl Contract {
    /// Forgets what answers said that is stored.
    pub fn forget_changes(&self) {
        let changed = self.requests.iter().filter_map(Request::changed_column);
        changed.for_each(|changed| drop(changed.changes.take()));
    }

    /// Whether a load changes rows.
    pub fn changes_rows(&self) -> bool {
        self.loaded().any(|request| request.changed_column().is_some())
    }
}
