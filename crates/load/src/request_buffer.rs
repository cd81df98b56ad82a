//! The requests of a pool in one contiguous buffer, in the order in which connections send them. Every send,
//! of one request or of a pipeline, is one range of the buffer.

use std::ops::Range;

use crate::exchange::ExchangePool;

/// All requests in sequence. The first ones are repeated at the end, so that a pipeline that wraps around is
/// one range too.
#[derive(Debug, Default)]
pub(crate) struct RequestBuffer {
    bytes: Vec<u8>,
    /// The start of each request, and the end of the last one.
    starts: Vec<usize>,
}

impl RequestBuffer {
    /// The requests of `pool`, for sends of up to `pipeline` requests.
    pub(crate) fn new(pool: &ExchangePool, pipeline: usize) -> RequestBuffer {
        let exchanges = pool.exchanges();
        let repeated = if exchanges.is_empty() { 0 } else { pipeline.saturating_sub(1) };
        let mut buffer = RequestBuffer { bytes: Vec::new(), starts: vec![0] };
        for exchange in exchanges.iter().chain(exchanges.iter().cycle().take(repeated)) {
            buffer.bytes.extend_from_slice(&exchange.request);
            buffer.starts.push(buffer.bytes.len());
        }
        buffer
    }

    #[cfg(test)]
    pub(crate) fn of(request: &[u8]) -> RequestBuffer {
        RequestBuffer { bytes: request.to_vec(), starts: vec![0, request.len()] }
    }

    /// The bytes of `count` requests from exchange `first` on.
    #[inline]
    pub(crate) fn range(&self, first: usize, count: usize) -> Range<usize> {
        self.starts[first]..self.starts[first + count]
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::{Exchange, Expected, ExpectedBody};

    fn pool(requests: &[&str]) -> ExchangePool {
        let exchange = |request: &&str| Exchange {
            request: request.as_bytes().to_vec(),
            is_head: false,
            expected: Expected { status: 200, body: ExpectedBody::Any },
            name: String::new(),
            step: None,
        };
        ExchangePool::new(requests.iter().map(exchange).collect())
    }

    #[test]
    fn every_pipeline_is_one_range() {
        let requests = ["a", "bb", "ccc"];
        for pipeline in 1..=7 {
            let buffer = RequestBuffer::new(&pool(&requests), pipeline);
            for first in 0..3 {
                for count in 1..=pipeline {
                    let want: String = requests.iter().cycle().skip(first).take(count).copied().collect();
                    assert_eq!(&buffer.bytes()[buffer.range(first, count)], want.as_bytes());
                }
            }
        }
        assert!(RequestBuffer::new(&pool(&[]), 4).bytes().is_empty());
    }
}
