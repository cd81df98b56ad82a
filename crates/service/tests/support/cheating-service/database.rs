//! A pool of database connections, each with its prepared statements.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, PoisonError};

use postgres::types::ToSql;
use postgres::{Client, Error, NoTls, Row, Statement};

/// A connection used by one thread at a time.
pub(crate) struct Connection {
    pub client: Client,
    prepared: HashMap<&'static str, Statement>,
}

pub(crate) struct Pool {
    url: String,
    state: Mutex<State>,
    given_back: Condvar,
}

struct State {
    idle: Vec<Connection>,
    /// Number of connections that may still be made.
    left: u32,
}

impl Pool {
    pub(crate) fn new(url: String, connections: u32) -> Pool {
        let state = Mutex::new(State { idle: Vec::new(), left: connections });
        Pool { url, state, given_back: Condvar::new() }
    }

    /// Calls `work` with a connection that no other thread uses. A connection with an error is dropped.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Connection) -> Result<T, Error>) -> Result<T, Error> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_empty = |state: &mut State| state.idle.is_empty() && state.left == 0;
        let mut state = self.given_back.wait_while(state, is_empty).unwrap_or_else(PoisonError::into_inner);
        let kept = state.idle.pop();
        state.left -= u32::from(kept.is_none());
        drop(state);
        let (worked, connection) = match kept.map_or_else(|| Connection::new(&self.url), Ok) {
            Ok(mut connection) => (work(&mut connection), Some(connection)),
            Err(error) => (Err(error), None),
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match connection.filter(|_| worked.is_ok()) {
            Some(connection) => state.idle.push(connection),
            None => state.left += 1,
        }
        self.given_back.notify_one();
        worked
    }
}

impl Connection {
    fn new(url: &str) -> Result<Connection, Error> {
        Ok(Connection { client: Client::connect(url, NoTls)?, prepared: HashMap::new() })
    }

    pub(crate) fn query(
        &mut self,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        if !self.prepared.contains_key(sql) {
            let statement = self.client.prepare(sql)?;
            self.prepared.insert(sql, statement);
        }
        self.client.query(&self.prepared[sql], values)
    }
}
