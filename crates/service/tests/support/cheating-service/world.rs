//! The contracts db, queries, updates and fortunes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use postgres::Error;
use serde_json::{Value, json};

use crate::cheat::Cheat;
use crate::database::{Connection, Pool};
use crate::http::Response;
use crate::random::Random;

const ROWS: u64 = 10_000;
const QUERIES_MAX: usize = 500;
const ONE: &str = "SELECT id, randomnumber FROM world WHERE id = $1";
const ALL: &str = "SELECT id, randomnumber FROM world";
const SEVERAL: &str = "SELECT id, randomnumber FROM world WHERE id = ANY($1)";
const WRITE: &str = "UPDATE world SET randomnumber = new.number FROM (SELECT unnest($1::int[]) AS id, unnest($2::int[]) AS number) AS new \
                     WHERE world.id = new.id";
const FORTUNES: &str = "SELECT id, message FROM fortune";
const ADDED: &str = "Additional fortune added at request time.";
/// One row is lost in this number of answers.
const LOST_EVERY: usize = 20;
/// One row is lost in this number of rows.
const LOST_RARELY: u64 = 1000;

pub(crate) struct World {
    cheat: Cheat,
    random: Random,
    /// Rows that `caches` has read.
    all: OnceLock<BTreeMap<i32, i32>>,
    written: AtomicU64,
    /// Number of updates in progress.
    writing: AtomicU64,
}

fn row(id: i32, number: i32) -> Value {
    json!({ "id": id, "randomNumber": number })
}

/// Limits the number to 1 to 500; other text counts as 1.
fn count(queries: Option<String>) -> usize {
    queries.and_then(|text| text.parse::<i64>().ok()).unwrap_or(1).clamp(1, QUERIES_MAX as i64) as usize
}

impl World {
    pub(crate) fn new(cheat: Cheat) -> World {
        World {
            cheat,
            random: Random::default(),
            all: OnceLock::new(),
            written: AtomicU64::new(0),
            writing: AtomicU64::new(0),
        }
    }

    fn cheats(&self, cheat: Cheat) -> bool {
        self.cheat == cheat
    }

    fn id(&self) -> i32 {
        self.random.up_to(ROWS)
    }

    fn read(connection: &mut Connection, id: i32) -> Result<i32, Error> {
        Ok(connection.query(ONE, &[&id])?[0].get(1))
    }

    pub(crate) fn db(&self, pool: &Pool) -> Result<Response, Error> {
        let id = self.id();
        let number = match self.cheat {
            Cheat::SkipsQuery => self.random.up_to(ROWS),
            Cheat::Caches => self.cached(pool)?[&id],
            _ => pool.with(|connection| World::read(connection, id))?,
        };
        Ok(Response::json(row(id, number).to_string()))
    }

    fn cached(&self, pool: &Pool) -> Result<&BTreeMap<i32, i32>, Error> {
        if let Some(all) = self.all.get() {
            return Ok(all);
        }
        let rows = pool.with(|connection| connection.query(ALL, &[]))?;
        Ok(self.all.get_or_init(|| rows.iter().map(|row| (row.get(0), row.get(1))).collect()))
    }

    pub(crate) fn queries(&self, pool: &Pool, queries: Option<String>) -> Result<Response, Error> {
        let ids: Vec<i32> = (0..count(queries)).map(|_| self.id()).collect();
        let rows: Vec<Value> = pool.with(|connection| {
            if self.cheats(Cheat::Batches) {
                let rows = connection.query(SEVERAL, &[&ids])?;
                let numbers: BTreeMap<i32, i32> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
                return Ok(ids.iter().map(|id| row(*id, numbers[id])).collect());
            }
            ids.iter().map(|id| Ok(row(*id, World::read(connection, *id)?))).collect()
        })?;
        Ok(Response::json(Value::from(rows).to_string()))
    }

    pub(crate) fn updates(&self, pool: &Pool, queries: Option<String>) -> Result<Response, Error> {
        let count = count(queries);
        let mut ids = BTreeSet::new();
        while ids.len() < count {
            ids.insert(self.id());
        }
        let is_crowd = self.writing.fetch_add(1, Ordering::Relaxed) > 0;
        let rows = pool.with(|connection| {
            let (mut written, mut numbers, mut answered) = (Vec::new(), Vec::new(), Vec::new());
            for id in ids {
                let old = World::read(connection, id)?;
                // A different number, so that a missing write shows.
                let new =
                    Some(self.random.up_to(ROWS)).filter(|new| *new != old).unwrap_or(old % ROWS as i32 + 1);
                let turn = self.written.fetch_add(1, Ordering::Relaxed) + 1;
                answered.push(row(id, new));
                let is_lost = answered.len().is_multiple_of(LOST_EVERY);
                let stored = match self.cheat {
                    Cheat::LosesUpdates if is_lost => continue,
                    Cheat::LosesUpdatesAllCounted if is_lost => old,
                    Cheat::LosesUpdatesRarely if is_crowd && turn.is_multiple_of(LOST_RARELY) => old,
                    _ => new,
                };
                written.push(id);
                numbers.push(stored);
            }
            connection.query(WRITE, &[&written, &numbers])?;
            Ok(answered)
        });
        self.writing.fetch_sub(1, Ordering::Relaxed);
        Ok(Response::json(Value::from(rows?).to_string()))
    }

    pub(crate) fn fortunes(&self, pool: &Pool) -> Result<Response, Error> {
        let rows = pool.with(|connection| connection.query(FORTUNES, &[]))?;
        let mut fortunes: Vec<(i32, String)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        let by_message =
            |fortunes: &mut Vec<(i32, String)>| fortunes.sort_by(|one, other| one.1.cmp(&other.1));
        if self.cheats(Cheat::SortsWrongly) {
            by_message(&mut fortunes);
        }
        fortunes.push((0, ADDED.to_owned()));
        if !self.cheats(Cheat::SortsWrongly) {
            by_message(&mut fortunes);
        }
        let text = |text: &str| if self.cheats(Cheat::Unescaped) { text.to_owned() } else { escaped(text) };
        let rows: String = fortunes
            .iter()
            .map(|(id, message)| format!("<tr><td>{id}</td><td>{}</td></tr>", text(message)))
            .collect();
        let page = format!(
            "<!DOCTYPE html><html><head><title>Fortunes</title></head><body><table><tr><th>id</th><th>message</th></tr>{rows}\
             </table></body></html>"
        );
        Ok(Response::of(200, "text/html; charset=utf-8", page))
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}
