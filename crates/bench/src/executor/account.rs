//! Compares the queries that requests must cause at the backing with those counted there.
//!
//! Both are sums over the life of a process. PostgreSQL counts a reading statement when its cursor is closed.
//! Some services close it after the answer and may be frozen before, so up to one statement per connection
//! counts in the next slice. This difference does not grow over slices; that of a caching service does.

use std::{cmp::Ordering, collections::BTreeMap};

use tare_contract::{Contract, Request};
use tare_service::backing::BackingCounts;

/// Answers by request name.
type Answered = BTreeMap<String, u64>;

/// The counted kinds of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Reads,
    RowsRead,
    RowsWritten,
    Upstream,
}

const KINDS: [Kind; 4] = [Kind::Reads, Kind::RowsRead, Kind::RowsWritten, Kind::Upstream];

/// Expected use by the requests, of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Taken {
    by_answers: u64,
    /// Upper bound for requests without a correct answer, which may or may not have reached the backing.
    by_others_max: u64,
    /// Upper bound for what one connection has open.
    open_max: u64,
}

/// Backing usage of a process since its start, expected and counted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Account {
    answers: u64,
    /// In the order of [`KINDS`]. `None` once an answered request declares no counts.
    taken: [Option<Taken>; KINDS.len()],
    counted: BackingCounts,
}

impl Kind {
    fn words(self) -> &'static str {
        match self {
            Kind::Reads => "queries",
            Kind::RowsRead => "rows read",
            Kind::RowsWritten => "rows written",
            Kind::Upstream => "requests to the server behind it",
        }
    }

    /// Expected use per answer, if the contract declares it.
    fn each(self, contract: &Contract, request: &Request) -> Option<u64> {
        let of = match self {
            Kind::Upstream => return contract.backing.upstream.as_ref().map(|_| 1),
            Kind::Reads => request.statements?.reads,
            Kind::RowsRead => request.statements?.rows_read,
            Kind::RowsWritten => request.statements?.rows_written,
        };
        Some(u64::from(of.unwrap_or(0)))
    }

    /// Most uses that a connection can have open. Rows count when their cursor closes, writes at once.
    fn open_max(self, each_max: u64) -> u64 {
        match self {
            Kind::Reads => each_max.min(1),
            Kind::RowsRead => each_max,
            Kind::RowsWritten | Kind::Upstream => 0,
        }
    }

    fn counted(self, counts: &BackingCounts) -> Option<u64> {
        match self {
            Kind::Reads => counts.reads,
            Kind::RowsRead => counts.rows_read,
            Kind::RowsWritten => counts.rows_written,
            Kind::Upstream => counts.upstream_requests,
        }
    }

    fn taken(self, contract: &Contract, answered: &Answered, others: u64) -> Option<Taken> {
        let of_one = |(name, count): (&String, &u64)| {
            let request = contract.requests.iter().find(|request| request.name == *name)?;
            Some(self.each(contract, request)? * count)
        };
        let by_answers = answered.iter().map(of_one).sum::<Option<u64>>()?;
        let all = contract.requests.iter().filter_map(|request| self.each(contract, request));
        let each_max = all.max().unwrap_or(0);
        Some(Taken { by_answers, by_others_max: each_max * others, open_max: self.open_max(each_max) })
    }
}

impl Default for Account {
    /// The account of a process before its first request.
    fn default() -> Account {
        let taken = [Some(Taken::default()); KINDS.len()];
        Account { answers: 0, taken, counted: BackingCounts::default() }
    }
}

impl Account {
    /// Adds a load in which `others` requests had no correct answer.
    pub(super) fn asked(&mut self, contract: &Contract, answered: &Answered, others: u64) {
        self.answers += answered.values().sum::<u64>();
        for (kind, taken) in KINDS.into_iter().zip(&mut self.taken) {
            *taken = taken.zip(kind.taken(contract, answered, others)).map(|(earlier, now)| earlier.and(now));
        }
    }

    /// Stops the comparison, because the requests of a load are unknown.
    pub(super) fn forget(&mut self) {
        self.taken = [None; KINDS.len()];
    }

    /// Adds counts since the last call.
    pub(super) fn counted(&mut self, counts: &BackingCounts) {
        self.counted += *counts;
    }

    /// The discrepancies, for a service with this many database connections.
    pub(super) fn wrong(&self, connections: u32) -> Vec<String> {
        let each = |(kind, taken): (Kind, Option<Taken>)| {
            let (taken, got) = (taken?, kind.counted(&self.counted)?);
            let why = match taken.against(got, u64::from(connections)) {
                Ordering::Less => "a cache, or statements for several rows",
                Ordering::Equal => return None,
                Ordering::Greater => "the service asks more than once, or another program uses its database",
            };
            let (answers, by_answers, what) = (self.answers, taken.by_answers, kind.words());
            Some(format!("{answers} answers take {by_answers} {what}, and {got} were counted: {why}"))
        };
        KINDS.into_iter().zip(self.taken).filter_map(each).collect()
    }
}

impl Taken {
    fn and(self, later: Taken) -> Taken {
        Taken {
            by_answers: self.by_answers + later.by_answers,
            by_others_max: self.by_others_max + later.by_others_max,
            open_max: self.open_max.max(later.open_max),
        }
    }

    /// Compares the count with the expectation: equal within what may be open.
    fn against(self, got: u64, connections: u64) -> Ordering {
        let open = self.open_max * connections;
        match got {
            _ if got + open < self.by_answers => Ordering::Less,
            // A readiness request may have been open when counting began.
            _ if got > self.by_answers + self.by_others_max + open => Ordering::Greater,
            _ => Ordering::Equal,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const CONTRACT: &str = r#"
format = "1.2"
name = "shop"
title = "Items"

[[request]]
name = "read"
method = "GET"
path = "/"
statements = { reads = 1, rows-read = 1 }
[request.response]
status = 200
content-type = "text/plain"
body = "a"

[[request]]
name = "list"
method = "GET"
path = "/list"
statements = { reads = 1, rows-read = 20 }
[request.response]
status = 200
content-type = "text/plain"
body = "b"

[[request]]
name = "change"
method = "PUT"
path = "/"
statements = { rows-written = 1 }
[request.response]
status = 200
content-type = "text/plain"
body = "c"
"#;
    const MIX: [(&str, u64); 3] = [("read", 1500), ("list", 200), ("change", 300)];

    fn account(answered: &[(&str, u64)], others: u64) -> Account {
        let contract = Contract::parse(CONTRACT, Path::new("shop.toml")).unwrap();
        let answered = answered.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        let mut account = Account::default();
        account.asked(&contract, &answered, others);
        account
    }

    fn counts(reads: u64, rows_read: u64, rows_written: u64) -> BackingCounts {
        let [reads, rows_read, rows_written] = [reads, rows_read, rows_written].map(Some);
        BackingCounts { reads, rows_read, rows_written, upstream_requests: None }
    }

    fn wrong(mut account: Account, counted: BackingCounts) -> Vec<String> {
        account.counted(&counted);
        account.wrong(4)
    }

    #[test]
    fn the_mix_of_the_answers_says_what_they_take() {
        assert_eq!(wrong(account(&MIX, 0), counts(1700, 5500, 300)), [""; 0]);
        assert_eq!(
            wrong(account(&MIX, 0), counts(1600, 5400, 299)),
            [
                "2000 answers take 1700 queries, and 1600 were counted: a cache, or statements for several rows",
                "2000 answers take 5500 rows read, and 5400 were counted: a cache, or statements for several rows",
                "2000 answers take 300 rows written, and 299 were counted: a cache, or statements for several rows"
            ]
        );
        assert_eq!(
            wrong(account(&[], 0), counts(5, 0, 0)),
            [
                "0 answers take 0 queries, and 5 were counted: the service asks more than once, or another program uses its database"
            ]
        );
    }

    #[test]
    fn a_connection_may_have_one_statement_open() {
        for (reads, is_right) in [(1695, false), (1696, true), (1704, true), (1705, false)] {
            assert_eq!(wrong(account(&MIX, 0), counts(reads, 5500, 300)).is_empty(), is_right, "{reads}");
        }
        let mut slices = account(&MIX, 0);
        slices.counted(&counts(1696, 5420, 300));
        assert_eq!(slices.wrong(4), [""; 0]);
        slices.counted(&counts(4, 80, 0));
        assert_eq!(slices.wrong(0), [""; 0], "what was open is counted later");
    }

    #[test]
    fn requests_without_an_answer_may_have_been_worked_on() {
        assert_eq!(wrong(account(&MIX, 7), counts(1707, 5640, 307)), [""; 0]);
        assert_eq!(wrong(account(&MIX, 7), counts(1700, 5500, 308)).len(), 1);
    }

    #[test]
    fn what_is_not_known_is_not_compared_any_more() {
        let mut account = account(&MIX, 0);
        account.forget();
        account.counted(&counts(5000, 0, 0));
        assert_eq!(account.wrong(4), [""; 0]);
    }

    #[test]
    fn what_the_contract_does_not_say_is_not_compared() {
        assert_eq!(wrong(account(&[("another", 1)], 0), counts(5000, 0, 0)), [""; 0]);
    }
}
