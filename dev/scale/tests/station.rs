//! Tests the station against results of queueing theory. Seeds are fixed, so that nothing fails by chance.

use std::collections::BTreeMap;

use tare_scale::{
    Micros, micros,
    random::{Draws, Purpose},
    station::Station,
};

const CUSTOMERS: usize = 200_000;

/// A station with Poisson arrivals at this rate: its mean wait in the queue, and both sides of Little's law.
fn simulate(servers: usize, per_second: f64, service: impl Fn(&mut Draws) -> f64) -> (f64, [f64; 2]) {
    let (mut arrivals, mut services) = (Draws::new(1, Purpose::Job, 0), Draws::new(1, Purpose::Attempt, 0));
    let mut station = Station::new(servers);
    let mut ends: BTreeMap<(Micros, usize), ()> = BTreeMap::new();
    let mut now: Micros = 0;
    for customer in 0..CUSTOMERS {
        let next = now + micros(arrivals.exponential(1.0 / per_second));
        while let Some((&(at, leaving), ())) = ends.first_key_value().filter(|((at, _), ())| *at <= next) {
            ends.pop_first();
            if let Some((begun, end)) = station.leave(at, leaving) {
                ends.insert((end, begun), ());
            }
        }
        now = next;
        if let Some(end) = station.arrive(now, customer, micros(service(&mut services))) {
            ends.insert((end, customer), ());
        }
    }
    let little = station.little(now);
    (station.stats().wait_mean(), [little.counted, little.by_law])
}

fn is_near(found: f64, expected: f64, share: f64) -> bool {
    (found / expected - 1.0).abs() < share
}

/// M/M/1: the mean wait is rho / (mu - lambda); number inside rho / (1 - rho).
#[test]
fn a_single_server_waits_as_theory_says() {
    for (rho, share) in [(0.3, 0.02), (0.7, 0.03), (0.9, 0.06)] {
        let (wait, [counted, by_law]) = simulate(1, rho, |draws| draws.exponential(1.0));
        assert!(is_near(wait, rho / (1.0 - rho), share), "{rho}: {wait}");
        assert!(is_near(counted, rho / (1.0 - rho), share), "{rho}: {counted}");
        assert!(is_near(counted, by_law, 1e-9), "{counted} {by_law}");
    }
}

/// M/D/1 waits half as long (Pollaczek and Khinchine).
#[test]
fn equal_services_wait_half_as_long() {
    let (wait, _) = simulate(1, 0.8, |_| 1.0);
    assert!(is_near(wait, 0.8 / (2.0 * 0.2), 0.03), "{wait}");
}

/// M/M/3 by Erlang's C formula: with an offered load of 2.1 an arrival waits with probability 0.4923 (by
/// definition, below).
#[test]
fn three_servers_wait_as_erlang_says() {
    let (servers, offered) = (3, 2.1_f64);
    let term = |k: i32| offered.powi(k) / (1..=k).map(f64::from).product::<f64>();
    let last = term(servers) * 3.0 / (3.0 - offered);
    let waits = last / ((0..servers).map(term).sum::<f64>() + last);
    let (wait, _) = simulate(3, 2.1, |draws| draws.exponential(1.0));
    assert!(is_near(wait, waits / (3.0 - offered), 0.03), "{wait} {waits}");
}

#[test]
fn an_empty_station_says_nothing() {
    let mut station = Station::new(2);
    assert_eq!((station.stats().wait_mean(), station.stats().wait_quantile(0.99)), (0.0, 0.0));
    assert_eq!((station.utilisation(0), station.inside()), (0.0, 0));
    assert_eq!(station.arrive(5, 1, 10), Some(15));
    assert_eq!(station.arrive(5, 2, 10), Some(15));
    assert_eq!(station.arrive(6, 3, 10), None);
    assert_eq!(station.leave(15, 1), Some((3, 25)));
    assert_eq!((station.leave(15, 2), station.leave(25, 3)), (None, None));
    assert_eq!(station.utilisation(25), 30.0 / 50.0);
    assert_eq!(station.stats().wait_quantile(1.0), 9e-6);
}
