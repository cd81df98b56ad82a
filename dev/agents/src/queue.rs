//! A server with one queue for all requests, and a random service time. The wait of a request depends on the
//! arrivals of the others. So the latencies show whether several agents send like one, and hardly depend on
//! the wake-up time of a generator.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tare_load::schedule::SplitMix64;

const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!";

/// A first-in, first-out queue.
struct Queue {
    service_time_mean: Duration,
    random: SplitMix64,
    free_at: Instant,
}

impl Queue {
    /// When the answer to a request that arrived at `now` is due.
    fn take(&mut self, now: Instant) -> Instant {
        self.free_at = self.free_at.max(now) + exponential(&mut self.random, self.service_time_mean);
        self.free_at
    }
}

fn exponential(random: &mut SplitMix64, mean: Duration) -> Duration {
    mean.mul_f64(-random.unit_open().ln())
}

/// Serves on this port of 127.0.0.1 until the program ends.
pub(crate) fn serve(port: u16, service_time_mean: Duration, seed: u64) -> std::io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    let queue = Queue { service_time_mean, random: SplitMix64::new(seed), free_at: Instant::now() };
    let queue = Arc::new(Mutex::new(queue));
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let queue = Arc::clone(&queue);
            // A connection ends when its client does, and needs no further handling.
            thread::spawn(move || answer(&connection, &queue));
        }
    });
    Ok(())
}

fn answer(connection: &TcpStream, queue: &Mutex<Queue>) -> std::io::Result<()> {
    connection.set_nodelay(true)?;
    let (mut lines, mut writer) = (BufReader::new(connection).lines(), connection);
    while let Some(line) = lines.next().transpose()? {
        if !line.is_empty() {
            continue;
        }
        let due = queue.lock().unwrap_or_else(PoisonError::into_inner).take(Instant::now());
        thread::sleep(due.saturating_duration_since(Instant::now()));
        writer.write_all(ANSWER)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_while_another_is_served_waits_for_it() {
        let start = Instant::now();
        let service_time_mean = Duration::from_micros(100);
        let mut queue = Queue { service_time_mean, random: SplitMix64::new(1), free_at: start };
        let (first, second) = (queue.take(start), queue.take(start));
        assert!(start < first && first < second);
        // Poisson arrivals at half the service rate wait as long as they are served (M/M/1).
        let mut arrivals = SplitMix64::new(2);
        let mut now = second;
        let (mut in_system, count) = (Duration::ZERO, 200_000);
        for _ in 0..count {
            now += exponential(&mut arrivals, 2 * service_time_mean);
            in_system += queue.take(now) - now;
        }
        let mean = in_system / count;
        let off = mean.as_secs_f64() / (2 * service_time_mean).as_secs_f64() - 1.0;
        assert!(off.abs() < 0.02, "{mean:?}");
    }
}
