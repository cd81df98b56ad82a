//! Connections that a service closes because of a freeze. After a thaw `epoll_wait` and timed `recv` and
//! `accept` return EINTR. A service that takes EINTR for a connection error closes the connection.

use std::fmt;

use serde::Serialize;
use tare_bench::sample::{Failure, Sample};

/// Smallest share of slices with lost connections, and of connections lost in each, none of them twice.
const SLICES_SHARE_MIN: f64 = 0.5;
const CONNECTIONS_SHARE_MIN: f64 = 0.5;

/// Slices whose connections are closed under their first requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ClosedAtThaw {
    pub connections: usize,
    pub slices: usize,
    pub of: usize,
}

/// Counts over the slices of a row whose load has this number of connections.
pub(crate) fn closed<'a>(
    slices: impl IntoIterator<Item = &'a Sample>,
    connections: usize,
) -> Option<ClosedAtThaw> {
    let lost: Vec<u64> = slices.into_iter().map(lost).collect();
    let least = CONNECTIONS_SHARE_MIN * connections as f64;
    let is_each_once = |lost: &&u64| **lost > 0 && **lost as f64 >= least && **lost <= connections as u64;
    let (closed, of) = (lost.iter().filter(is_each_once).count(), lost.len());
    let is_often = of > 0 && closed as f64 >= SLICES_SHARE_MIN * of as f64;
    is_often.then_some(ClosedAtThaw { connections, slices: closed, of })
}

fn lost(slice: &Sample) -> u64 {
    [Failure::Reset, Failure::ClosedBeforeResponse].map(|failure| slice.load.failed.get(failure)).iter().sum()
}

impl fmt::Display for ClosedAtThaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ClosedAtThaw { connections, slices, of } = self;
        write!(
            f,
            "closed at thaw: in {slices} of {of} slices it closed up to each of the {connections} connections once, which is what a \
             freeze brings about: Tare froze it between slices, after which epoll_wait, and recv and accept with a time limit, \
             fail with EINTR; a server must try again"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_bench::sample::LoadResult;

    fn slices(resets: &[u64]) -> Vec<Sample> {
        let of = |resets: &u64| {
            let failed = [(Failure::Reset, *resets)].into_iter().collect();
            Sample { load: LoadResult { failed, ..LoadResult::default() }, ..Sample::default() }
        };
        resets.iter().map(of).collect()
    }

    #[test]
    fn each_connection_once_a_slice_is_a_freeze_and_other_numbers_are_not() {
        let of = |resets: &[u64]| closed(&slices(resets), 64).map(|found| (found.slices, found.of));
        assert_eq!(of(&[64; 8]), Some((8, 8)));
        assert_eq!(of(&[64, 0, 60, 33, 0, 0]), Some((3, 6)));
        assert_eq!(of(&[64, 0, 0]), None, "once in three slices");
        assert_eq!(of(&[2; 8]), None, "a server that drops one request in thousands");
        assert_eq!(of(&[140; 8]), None, "one that drops one in a hundred");
        assert_eq!(of(&[]), None);
    }
}
