//! Values that answers claim to have stored. They are compared with the database after the load.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tare_load::exchange::Flight;

use crate::{Body, Contract, Request};

/// For each row's key, the values that may be stored last. Clones share the record.
#[derive(Debug, Clone, Default)]
pub struct Changes(Arc<Mutex<HashMap<String, LastChanges>>>);

impl PartialEq for Changes {
    fn eq(&self, _: &Changes) -> bool {
        true
    }
}

/// Changes of one row that may have been the last: none began after they had ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LastChanges {
    sent_ns_max: u64,
    /// Time of the answer in ns, and value.
    pub(super) values: Vec<(u64, u64)>,
}

/// A column that a service changes, with the recorded changes.
#[derive(Debug, Clone, Copy)]
pub struct ChangedRows<'a> {
    pub table: &'a str,
    /// The column that identifies rows.
    pub key: &'a str,
    pub column: &'a str,
    pub changes: &'a Changes,
}

/// The values that rows may hold after a load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// For each key, any of these values is right.
    pub values: BTreeMap<String, Vec<u64>>,
}

impl Changes {
    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<String, LastChanges>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the changes recorded since the last call.
    pub fn take(&self) -> Changed {
        let taken = std::mem::take(&mut *self.lock());
        let values_of = |last: LastChanges| last.values.into_iter().map(|(_, value)| value).collect();
        Changed { values: taken.into_iter().map(|(key, last)| (key, values_of(last))).collect() }
    }
}

impl LastChanges {
    /// Drops changes that were answered before the newest request was sent: they were overwritten.
    pub(super) fn note(&mut self, value: u64, flight: Flight) {
        self.sent_ns_max = self.sent_ns_max.max(flight.sent_ns);
        self.values.push((flight.answered_ns, value));
        let begins_ns = self.sent_ns_max;
        self.values.retain(|(answered_ns, _)| *answered_ns >= begins_ns);
    }
}

impl Request {
    /// The column changed by its answers; absent if there is none.
    pub fn changed_column(&self) -> Option<ChangedRows<'_>> {
        match &self.answer.body {
            Body::AnyRow(any) => any.changed_rows(),
            _ => None,
        }
    }
}

impl Contract {
    /// Discards all recorded changes.
    pub fn forget_changes(&self) {
        let changed = self.requests.iter().filter_map(Request::changed_column);
        changed.for_each(|changed| drop(changed.changes.take()));
    }

    /// Whether a load changes rows.
    pub fn changes_rows(&self) -> bool {
        self.loaded().any(|request| request.changed_column().is_some())
    }
}
