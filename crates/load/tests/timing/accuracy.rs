//! Experiments with a known result, short and with margins for a busy machine. The benchmark `accuracy` runs
//! the same ones at length: `cargo bench -p tare-load --bench accuracy`.

use crate::kit::fixed::Fixed;
use crate::kit::load::*;
use crate::kit::peer::serve;
use crate::kit::process::Server;
use crate::kit::scenarios::*;
use crate::kit::stations::Stations;
use tare_base::Histogram;
use tare_load::{ArrivalProcess, DriverChoice, GeneratorSettings, RequestQuota, Stop};

fn shown(histogram: &Histogram) -> String {
    let us = |q: f64| histogram.quantile_ns(q) as f64 / 1e3;
    format!("p50 {:.1} us, p99 {:.1} us, p99.9 {:.1} us", us(0.5), us(0.99), us(0.999))
}

#[test]
fn an_open_loop_sends_at_the_rate_of_its_profile() {
    for driver in drivers() {
        let (report, due) = at_rate(&Client::with(driver), Fixed::hello().serve(), 20_000.0, seconds(1));
        let tally = &report.total.tally;
        println!(
            "{}: {} of {due} requests, lag {}",
            driver.name(),
            tally.sent,
            shown(&report.total.schedule_lag)
        );
        // The exact count: late requests are sent all the same.
        assert_eq!((tally.sent + tally.unsent) as f64, due);
        near("requests sent", tally.sent as f64, due, 0.001).unwrap();
        assert_eq!(report.total.schedule_lag.count(), tally.sent);
    }
}

#[test]
fn a_queue_that_is_half_loaded_takes_as_long_as_theory_says() {
    for driver in drivers() {
        attempts("a half loaded queue", || {
            let stations = Stations { count: 40, services_per_s: 250.0, seed: 2 };
            let (rows, report, late) = half_loaded(&Client::with(driver), stations, seconds(3));
            println!("{}: answers late {}", driver.name(), shown(&late));
            assert_eq!(report.total.tally.unsent, 0);
            let off = |what| Off { what, excuse: excuse(&report, &late) };
            for Sojourn { q, measured_ns, realised_ns, theory_ns, error_share } in rows {
                println!(
                    "p{:.0}: {measured_ns} of {realised_ns}, {theory_ns:.0} +- {error_share:.3}",
                    q * 100.0
                );
                near("a quantile against the server's measurement", measured_ns, realised_ns, 0.15)
                    .map_err(off)?;
                near("a quantile against the formula", measured_ns, theory_ns, 0.15).map_err(off)?;
            }
            Ok(())
        });
    }
}

#[test]
fn an_open_loop_sees_the_pauses_that_a_closed_one_omits() {
    for driver in drivers() {
        for pause in [Pause::Own, Pause::Signals(|| Server::example(12))] {
            attempts("pauses", || {
                let [open, closed] = stalled(&Client::with(driver), pause, 1_000.0, seconds(1));
                println!("{}, {}: open {:?}", driver.name(), pause.name(), open.total.latency);
                println!("{}, {}: closed {:?}", driver.name(), pause.name(), closed.total.latency);
                assert_eq!(open.total.tally.sent, 1_000);
                near("p99 of the open loop", open.total.quantile(0.99).ns as f64, STALLED_P99_NS, 0.15)?;
                let p99_ns = closed.total.quantile(0.99).ns as f64;
                let hidden = p99_ns < STALLED_P99_NS / 5.0;
                if hidden { Ok(()) } else { Err(format!("the closed loop has a p99 of {p99_ns} ns").into()) }
            });
        }
    }
}

#[test]
fn an_overloaded_server_makes_requests_wait() {
    for driver in drivers() {
        let target = serve(|mut peer| {
            while peer.request() {
                std::thread::sleep(ms(10));
                peer.send(HELLO);
            }
        });
        let settings = GeneratorSettings { driver: DriverChoice::Only(driver), ..settings(target, 2, 1) };
        let mut load = open(1_000.0, ArrivalProcess::Constant, ms(500));
        load.stop = Stop::after(ms(500), ms(100));
        let report = run(&mut generator_of(settings, hello()), &load);
        let total = &report.total;
        assert_eq!(total.tally.sent + total.tally.unsent, 500, "{:?}", total.tally);
        // Two connections of 100 requests per second each, for 600 ms.
        assert!((20..=122).contains(&total.tally.sent), "{:?}", total.tally);
        assert!(total.latency.max_ns() > 300_000_000, "from the due instant: {:?}", total.latency);
        assert!(total.latency.max_ns() > 3 * total.service_time.quantile_ns(0.5), "{:?}", total.service_time);
        // Unanswered requests count: here they are the majority, so the median is one of them.
        assert_eq!(total.unanswered.count(), total.tally.unsent + total.tally.in_flight);
        assert!(total.quantile(0.9).at_least, "{:?}", total.unanswered);
        assert!(tare_load::generator::verdict::shortfall(&report, &load) > 0.5);
    }
}

#[test]
fn unanswered_requests_are_lower_bounds_and_not_left_out() {
    for driver in drivers() {
        // Every tenth connection is never answered.
        let target = serve(|mut peer| if peer.index % 10 == 0 { peer.stall() } else { peer.always(HELLO) });
        let settings = GeneratorSettings { driver: DriverChoice::Only(driver), ..settings(target, 20, 1) };
        let mut load = counted(RequestQuota::RequestsEach(1));
        load.stop = Stop::count(RequestQuota::RequestsEach(1), ms(150), ms(50));
        let total = run(&mut generator_of(settings, hello()), &load).total;
        assert_eq!((total.tally.answered, total.tally.in_flight), (18, 2), "{:?}", total.tally);
        let [p50, p99] = [0.5, 0.99].map(|q| total.quantile(q));
        assert!(!p50.at_least, "{p50:?}");
        assert!(p99.at_least && p99.ns > 150_000_000 && p99.ns > 2 * total.latency.max_ns(), "{p99:?}");
    }
}

#[test]
fn the_generator_of_another_process_sees_the_same() {
    for driver in drivers() {
        let server = Server::example(100_000);
        let settings =
            GeneratorSettings { driver: DriverChoice::Only(driver), ..settings(server.target, 8, 2) };
        let body = tare_load::ExpectedBody::Exact(crate::kit::fixed::body(100_000));
        let report = run(&mut generator_of(settings, exchange(body)), &counted(RequestQuota::Requests(500)));
        assert_eq!(report.total.tally.answered, 500, "{:?}", report.first_failure);
    }
}
