//! One direction of a link as a pure function of time and random draws. A packet goes in at one instant and
//! comes out at a later one, or not at all. It does not look into packets and reads no clock.
//!
//! A packet waits until the line is free, is transmitted at the rate, and then travels for the delay. A lost
//! packet is lost while it travels, so it uses transmission time too. The queue holds only waiting packets,
//! not travelling ones: a queue of 10 packets holds 10, however long the delay.

use std::collections::VecDeque;

use super::spec::{LinkDirection, Queue};

/// Most packets that travel at a time. It limits memory for a link without a rate: 400 MB at 1500 bytes each.
const ON_THE_WAY_MAX: usize = 1 << 18;

/// One direction, with the packets that are in it.
#[derive(Debug)]
pub(super) struct Line<P> {
    way: LinkDirection,
    /// The instant at which the last packet is fully transmitted.
    free_at_ns: u64,
    /// Waiting packets: the instant at which the transmission begins, and the size in bytes.
    waiting: VecDeque<(u64, usize)>,
    waiting_bytes: u64,
    /// Travelling packets, ordered by the instant of delivery.
    on_the_way: VecDeque<(u64, P)>,
}

/// Two random numbers in [0, 1) for each packet. Both are always drawn, so the fate of a packet depends only
/// on the seed and on its number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draws {
    /// The packet is lost if this is below the loss rate.
    pub loss: f64,
    /// Position in the range of delays; 0 is the shortest.
    pub jitter: f64,
}

/// Why a packet does not come out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gone {
    Lost,
    /// Dropped because the queue was full.
    Dropped,
}

impl<P> Line<P> {
    pub(crate) fn new(way: LinkDirection) -> Line<P> {
        Line { way, free_at_ns: 0, waiting: VecDeque::new(), waiting_bytes: 0, on_the_way: VecDeque::new() }
    }

    /// Puts a packet in. `now_ns` must not decrease.
    ///
    /// # Errors
    /// The packet is lost or dropped; it is returned with the reason.
    pub(crate) fn offer(
        &mut self,
        now_ns: u64,
        bytes: usize,
        packet: P,
        draws: Draws,
    ) -> Result<(), (Gone, P)> {
        self.notice(now_ns);
        let begin_ns = now_ns.max(self.free_at_ns);
        let waits = begin_ns > now_ns;
        if (waits && self.is_full(bytes)) || self.on_the_way.len() >= ON_THE_WAY_MAX {
            return Err((Gone::Dropped, packet));
        }
        if waits {
            self.waiting.push_back((begin_ns, bytes));
            self.waiting_bytes += bytes as u64;
        }
        self.free_at_ns = begin_ns + self.sending_ns(bytes);
        if draws.loss * 100.0 < self.way.loss_percent {
            return Err((Gone::Lost, packet));
        }
        let LinkDirection { delay_ns, jitter_ns, .. } = self.way;
        let drawn_ns = delay_ns - jitter_ns + (2.0 * jitter_ns as f64 * draws.jitter) as u64;
        self.depart(self.free_at_ns + drawn_ns, packet);
        Ok(())
    }

    /// The instant at which the next packet comes out.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.on_the_way.front().map(|(due_ns, _)| *due_ns)
    }

    /// The next packet that came out by `now_ns`, with the instant at which it was due.
    pub(crate) fn take(&mut self, now_ns: u64) -> Option<(u64, P)> {
        self.next_ns().filter(|due_ns| *due_ns <= now_ns)?;
        self.on_the_way.pop_front()
    }

    fn depart(&mut self, due_ns: u64, packet: P) {
        let last_ns = self.on_the_way.back().map_or(0, |(last_ns, _)| *last_ns);
        if due_ns >= last_ns {
            self.on_the_way.push_back((due_ns, packet));
        } else if self.way.reorder {
            let place = self.on_the_way.partition_point(|(other_ns, _)| *other_ns <= due_ns);
            self.on_the_way.insert(place, (due_ns, packet));
        } else {
            // Without reordering, the packet comes out together with its predecessor.
            self.on_the_way.push_back((last_ns, packet));
        }
    }

    fn notice(&mut self, now_ns: u64) {
        while let Some((begin_ns, bytes)) = self.waiting.front()
            && *begin_ns <= now_ns
        {
            self.waiting_bytes -= *bytes as u64;
            self.waiting.pop_front();
        }
    }

    fn is_full(&self, bytes: usize) -> bool {
        match self.way.queue.unwrap_or(Queue::USUAL) {
            Queue::Packets(packets) => self.waiting.len() as u64 >= packets,
            Queue::Bytes(limit) => self.waiting_bytes + bytes as u64 > limit,
        }
    }

    /// Rounded up, so that a packet is never faster than the rate.
    fn sending_ns(&self, bytes: usize) -> u64 {
        let Some(rate) = self.way.rate_bits_per_s else { return 0 };
        (bytes as u64 * 8 * 1_000_000_000).div_ceil(rate)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    const MS: u64 = 1_000_000;
    const MIDDLE: Draws = Draws { loss: 0.999, jitter: 0.5 };

    fn line(text: &str) -> Line<usize> {
        Line::new(text.parse::<super::super::LinkSpec>().unwrap().up)
    }

    fn all(line: &mut Line<usize>) -> Vec<(u64, usize)> {
        std::iter::from_fn(|| line.take(u64::MAX)).collect()
    }

    #[test]
    fn a_packet_is_delayed() {
        let mut line = line("delay=26ms");
        line.offer(5 * MS, 1500, 0, MIDDLE).unwrap();
        line.offer(6 * MS, 40, 1, MIDDLE).unwrap();
        assert_eq!((line.next_ns(), line.take(31 * MS - 1)), (Some(31 * MS), None));
        assert_eq!(line.take(31 * MS), Some((31 * MS, 0)));
        assert_eq!(line.take(40 * MS), Some((32 * MS, 1)));
        assert_eq!(line.next_ns(), None);
    }

    #[test]
    fn packets_wait_for_a_line_that_is_busy() {
        // 1250 bytes at 1 mbit take 10 ms.
        let mut line = line("delay=1ms,rate=1mbit");
        for packet in 0..3 {
            line.offer(0, 1250, packet, MIDDLE).unwrap();
        }
        line.offer(100 * MS, 1250, 3, MIDDLE).unwrap();
        assert_eq!(all(&mut line), [(11 * MS, 0), (21 * MS, 1), (31 * MS, 2), (111 * MS, 3)]);
    }

    #[test]
    fn a_full_queue_drops_the_last_that_comes() {
        for text in ["delay=9s,rate=1mbit,queue=2", "delay=9s,rate=1mbit,queue=2500B"] {
            let mut line = line(text);
            // One packet is on the line and two wait.
            let accepted: Vec<bool> =
                (0..5).map(|packet| line.offer(0, 1250, packet, MIDDLE).is_ok()).collect();
            assert_eq!(accepted, [true, true, true, false, false]);
            // Once the line takes the next packet, the queue has room for one, though all still travel.
            assert_eq!(line.offer(10 * MS, 1250, 5, MIDDLE), Ok(()));
            assert_eq!(line.offer(10 * MS, 1250, 6, MIDDLE), Err((Gone::Dropped, 6)));
        }
    }

    #[test]
    fn a_lost_packet_takes_its_time_on_the_line() {
        let mut line = line("delay=1ms,rate=1mbit,loss=10%");
        assert_eq!(line.offer(0, 1250, 0, Draws { loss: 0.0999, jitter: 0.0 }), Err((Gone::Lost, 0)));
        assert_eq!(line.offer(0, 1250, 1, Draws { loss: 0.1, jitter: 0.0 }), Ok(()));
        assert_eq!(all(&mut line), [(21 * MS, 1)]);
    }

    #[test]
    fn jitter_reorders_only_when_asked() {
        let draws = |jitter| Draws { loss: 0.9, jitter };
        for (text, expected) in [
            ("delay=10ms,jitter=4ms", [(14 * MS, 0), (14 * MS, 1)]),
            ("delay=10ms,jitter=4ms,reorder=yes", [(7 * MS, 1), (14 * MS, 0)]),
        ] {
            let mut line = line(text);
            // The other draw rounds to the highest delay.
            line.offer(0, 99, 0, draws(1.0)).unwrap();
            line.offer(MS, 99, 1, draws(0.0)).unwrap();
            assert_eq!(all(&mut line), expected);
        }
    }

    #[test]
    fn the_share_that_is_lost_is_the_one_asked_for() {
        let mut random = ChaCha8Rng::seed_from_u64(11);
        let mut line = line("delay=1us,loss=0.1%");
        let mut lost = 0;
        for packet in 0..1_000_000 {
            let draws = Draws { loss: random.random(), jitter: random.random() };
            lost += usize::from(line.offer(packet as u64 * 10_000, 100, packet, draws).is_err());
            while line.take(packet as u64 * 10_000).is_some() {}
        }
        // Five standard deviations of a binomial with mean 1000 are 158.
        assert!((842..1158).contains(&lost), "{lost}");
    }

    proptest! {
        #[test]
        fn order_rate_and_delay_hold(
            packets in proptest::collection::vec((0_u64..3 * MS, 40_usize..1500, 0.0..1.0, 0.0..1.0), 1..200),
            rate_kbit in 64_u64..100_000,
            queue in 1_u64..50,
        ) {
            let mut line = line(&format!("delay=5ms,jitter=2ms,loss=5%,rate={rate_kbit}kbit,queue={queue}"));
            let (mut now_ns, mut entered) = (0, Vec::new());
            for (number, (pause_ns, bytes, loss, jitter)) in packets.into_iter().enumerate() {
                now_ns += pause_ns;
                if line.offer(now_ns, bytes, number, Draws { loss, jitter }).is_ok() {
                    entered.push((number, now_ns, bytes));
                }
                prop_assert!(line.waiting.len() as u64 <= queue);
                prop_assert_eq!(line.waiting.iter().map(|(_, bytes)| *bytes as u64).sum::<u64>(), line.waiting_bytes);
            }
            let out = all(&mut line);
            prop_assert_eq!(out.len(), entered.len());
            prop_assert!(out.is_sorted(), "by time, and by number where the time is the same");
            let mut earliest_ns = 0;
            for ((due_ns, number), (entered_number, entered_ns, bytes)) in out.into_iter().zip(entered) {
                prop_assert_eq!(number, entered_number);
                // Even if all earlier packets had left as early as possible, this one could not.
                earliest_ns = earliest_ns.max(entered_ns) + (bytes as u64 * 8_000_000) / rate_kbit;
                prop_assert!(due_ns >= earliest_ns + 3 * MS, "{} {}", due_ns, earliest_ns);
            }
        }
    }
}
