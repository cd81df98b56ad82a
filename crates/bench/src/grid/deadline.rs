//! When a cell is given up: derived from its plan, so that a service that hangs costs a known time, and one that is merely
//! slow is waited for.

use super::plan::Point;

/// Time beyond what the plan says, for a machine that does something else.
const SLACK_NS: u64 = 10_000_000_000;
/// The slowest published service took 3.5 times what the plan says (cpp-httplib over the slow link with 4 threads).
const TIMES: u64 = 8;
/// What a service may take for one request beyond what the plan says.
const REQUEST_NS: u64 = 5_000_000;

/// The two ways to be given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// No answer at all for so long: nothing moves any more.
    pub silence_ns: u64,
    /// From the first request to the last answer.
    pub all_ns: u64,
}

/// Of the cells of `point`.
pub fn of(point: &Point) -> Deadlines {
    let request_ns = point.request_ns_ideal() + REQUEST_NS;
    let requests_each = point.offered.requests().unwrap_or(0) / point.offered.connections().total as u64;
    Deadlines {
        silence_ns: SLACK_NS / 2 + TIMES * point.request_ns_ideal(),
        all_ns: SLACK_NS + TIMES * request_ns * requests_each,
    }
}
