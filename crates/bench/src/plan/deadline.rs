//! When a cell is given up: derived from its plan, so that a service that hangs costs a known time, and one that is merely
//! slow is waited for.

/// Time beyond what the plan says, for a machine that does something else.
const SLACK_NS: u64 = 10_000_000_000;
/// The slowest published service took 3.5 times what the plan says (cpp-httplib over the slow link with 4 threads).
const TIMES: u64 = 8;
/// What a service may take for one request beyond what the plan says.
const REQUEST_NS: u64 = 5_000_000;

/// The two ways to be given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deadlines {
    /// No answer at all for so long: nothing moves any more.
    pub silence_ns: u64,
    /// From the first request to the last answer.
    pub all_ns: u64,
}

impl Deadlines {
    /// Of a cell in which each connection has this many requests, and a request takes this at the least.
    pub(crate) fn new(request_ns_ideal: u64, requests_each: u64) -> Deadlines {
        Deadlines {
            silence_ns: SLACK_NS / 2 + TIMES * request_ns_ideal,
            all_ns: SLACK_NS + TIMES * (request_ns_ideal + REQUEST_NS) * requests_each,
        }
    }
}
