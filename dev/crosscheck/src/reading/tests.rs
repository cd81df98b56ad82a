//! Recorded outputs, outputs generated from known figures, and damaged ones.

use proptest::prelude::*;

use super::*;

#[test]
fn times_in_every_unit() {
    for (text, expected) in [
        ("19us", Some(19e3)),
        ("3.34ms", Some(3.34e6)),
        ("1.17s", Some(1.17e9)),
        ("2.00m", Some(120e9)),
        ("1.00h", Some(3600e9)),
        ("0us", Some(0.0)),
        ("ms", None),
        ("1.2.3s", None),
        ("12", None),
        ("-1s", None),
    ] {
        assert_eq!(time(text), expected, "{text}");
    }
}

#[test]
fn an_output_that_is_none_is_told_with_its_last_line() {
    let refused = "unable to connect to 127.0.0.1:1 Connection refused\n";
    for tool in Tool::ALL {
        assert!(read(tool, "").is_err());
        let error = read(tool, refused).unwrap_err().to_string();
        assert!(
            error.ends_with("it said: \"unable to connect to 127.0.0.1:1 Connection refused\""),
            "{error}"
        );
    }
}

proptest! {
    #[test]
    fn nothing_panics(text in ".{0,400}") {
        for tool in Tool::ALL {
            let _ = read(tool, &text);
        }
    }

    /// Real outputs with a part replaced.
    #[test]
    fn nothing_panics_on_what_is_nearly_right(which in 0..5_usize, at in 0..2000_usize, len in 0..40_usize, put in ".{0,8}") {
        let real = [wrk::REAL, h2load::REAL, oha::REAL, httperf::REAL, locust::REAL][which];
        let letters: Vec<char> = real.chars().collect();
        let (at, to) = (at.min(letters.len()), (at + len).min(letters.len()));
        let text: String = letters[..at].iter().copied().chain(put.chars()).chain(letters[to..].iter().copied()).collect();
        if let Ok(reading) = read(Tool::ALL[which], &text) {
            prop_assert!(is_rate(reading.per_second) && reading.answered > 0);
        }
    }
}

/// Latencies as wrk prints them: with a unit that depends on the size, and two decimals.
fn in_wrk_units(us: f64) -> String {
    match us {
        us if us >= 1e6 => format!("{:.2}s", us / 1e6),
        us if us >= 1e3 => format!("{:.2}ms", us / 1e3),
        us => format!("{us:.2}us"),
    }
}

fn is_near(read: Option<f64>, expected: f64, tolerance: f64) -> bool {
    read.is_some_and(|read| (read - expected).abs() <= tolerance * expected.max(1.0))
}

proptest! {
    #[test]
    fn what_wrk_prints_of_known_figures_is_read_back(
        requests in 1_u64..10_000_000, hundredths in 100_u64..60_000, mean_us in 1.0..5e6_f64, p99_us in 1.0..5e6_f64,
        failed in 0_u64..1000,
    ) {
        let seconds = hundredths as f64 / 100.0;
        let rate = requests as f64 / seconds;
        let (mean, p99) = (in_wrk_units(mean_us), in_wrk_units(p99_us));
        let text = format!(
            "Running 2s test @ http://127.0.0.1:1/\n  1 threads and 64 connections\n\
             \x20 Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   {mean}   1.00ms  {p99}   90.42%\n\
             \x20   Req/Sec    59.59k    17.52k   79.51k    75.00%\n  Latency Distribution\n     50%  {mean}\n     75%  1.00ms\n\
             \x20    90%  1.00ms\n     99%  {p99}\n  {requests} requests in {seconds:.2}s, 15.42MB read\n\
             \x20 Non-2xx or 3xx responses: {failed}\nRequests/sec: {rate:.2}\nTransfer/sec:      7.65MB\n"
        );
        prop_assume!(failed < requests);
        let reading = read(Tool::Wrk, &text).unwrap();
        prop_assert_eq!((reading.answered, reading.failed), (requests - failed, failed));
        let expected = (requests - failed) as f64 / seconds;
        prop_assert!(is_near(Some(reading.per_second), expected, 0.02), "{} {}", reading.per_second, expected);
        prop_assert!(is_near(reading.latency.mean_ns, mean_us * 1e3, 0.01), "{:?} {}", reading.latency, mean_us);
        prop_assert!(is_near(reading.latency.p50_ns, mean_us * 1e3, 0.01));
        prop_assert!(is_near(reading.latency.p99_ns, p99_us * 1e3, 0.01));
    }

    #[test]
    fn what_h2load_prints_of_known_figures_is_read_back(
        done in 1_u64..10_000_000, status in 0_u64..100, errored in 0_u64..100, late in 0_u64..100, rate in 1.0..1e6_f64,
        mean_ms in 0.01..900.0_f64,
    ) {
        let late = late.min(errored);
        let (failed, succeeded) = (status + errored, done.saturating_sub(status));
        prop_assume!(succeeded > 0);
        let text = format!(
            "finished in 10.45s, {rate:.2} req/s, 2.48MB/s\nrequests: {} total, {} started, {done} done, {succeeded} succeeded, \
             {failed} failed, {errored} errored, {late} timeout\ntime for request:  19us  1.17s  {mean_ms:.2}ms  29.16ms  98.78%\n",
            done + errored, done + errored
        );
        let reading = read(Tool::H2load, &text).unwrap();
        prop_assert_eq!((reading.answered, reading.failed), (succeeded, failed));
        let named = [(status, "status"), (errored - late, "errored"), (late, "timeout")];
        let named: Vec<String> =
            named.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {name}")).collect();
        prop_assert_eq!(reading.complaints, named.join(", "), "each failure in one class");
        prop_assert!(is_near(Some(reading.per_second), rate * succeeded as f64 / done as f64, 0.01));
        prop_assert!(is_near(reading.latency.mean_ns, mean_ms * 1e6, 0.5));
        prop_assert_eq!(reading.latency.max_ns, Some(1.17e9));
    }

    #[test]
    fn what_oha_prints_of_known_figures_is_read_back(
        (right, wrong, errors, out) in (1_u64..10_000_000, 0_u64..100, 0_u64..100, 0_u64..100), seconds in 0.1..600.0_f64,
        mean in 1e-6..1.0_f64, p99 in 1e-6..1.0_f64,
    ) {
        let output = serde_json::json!({
            "summary": { "total": seconds, "average": mean, "slowest": p99 * 2.0, "fastest": null },
            "latencyPercentiles": { "p50": mean, "p99": p99, "p99.9": null },
            "statusCodeDistribution": { "200": right, "500": wrong },
            "errorDistribution": { "connection closed before message completed": errors, "aborted due to deadline": out },
        });
        let reading = read(Tool::Oha, &output.to_string()).unwrap();
        prop_assert_eq!((reading.answered, reading.failed), (right, wrong + errors));
        prop_assert!(is_near(Some(reading.per_second), right as f64 / seconds, 1e-9));
        for (read, expected) in [(reading.latency.mean_ns, mean), (reading.latency.p50_ns, mean), (reading.latency.p99_ns, p99)] {
            prop_assert!(is_near(read, expected * 1e9, 1e-9));
        }
    }

    #[test]
    fn what_httperf_prints_of_known_figures_is_read_back(
        (ok, moved, missing, broken) in (1_u64..1_000_000, 0_u64..100, 0_u64..100, 0_u64..100),
        (timeouts, resets, descriptors) in (0_u64..100, 0_u64..100, 0_u64..100),
        milliseconds in 1_u64..1_000_000, (response, transfer) in (0_u64..10_000, 0_u64..10_000),
    ) {
        let total = timeouts + resets + descriptors;
        let text = format!(
            "Total: connections 100 requests 1 replies 1 test-duration {:.3} s\n\
             Reply time [ms]: response {:.1} transfer {:.1}\nReply status: 1xx=0 2xx={ok} 3xx={moved} 4xx={missing} 5xx={broken}\n\
             Errors: total {total} client-timo {timeouts} socket-timo 0 connrefused 0 connreset {resets}\n\
             Errors: fd-unavail {descriptors} addrunavail 0 ftab-full 0 other 0\n",
            milliseconds as f64 / 1e3, response as f64 / 10.0, transfer as f64 / 10.0
        );
        let reading = read(Tool::Httperf, &text).unwrap();
        prop_assert_eq!(reading.answered, ok + moved);
        prop_assert_eq!(reading.failed, total + missing + broken);
        prop_assert_eq!(reading.descriptors_lacking, descriptors);
        prop_assert!(is_near(Some(reading.per_second), (ok + moved) as f64 * 1e3 / milliseconds as f64, 1e-6));
        prop_assert!(is_near(reading.latency.mean_ns, (response + transfer) as f64 * 1e5, 1e-6));
    }

    #[test]
    fn what_locust_counts_is_read_back(
        times in proptest::collection::btree_map(0_u64..5000, 1_u64..1000, 1..30), failures in 0_u64..10, seconds in 1_u64..600,
    ) {
        let all: u64 = times.values().sum();
        prop_assume!(failures < all);
        let total_ms: u64 = times.iter().map(|(ms, count)| ms * count).sum();
        let slowest = times.keys().next_back().copied().unwrap();
        let counted: serde_json::Map<String, serde_json::Value> =
            times.iter().map(|(ms, count)| (ms.to_string(), (*count).into())).collect();
        let entry = serde_json::json!([{
            "name": "/", "start_time": 100.0, "last_request_timestamp": 100.0 + seconds as f64, "num_requests": all,
            "num_failures": failures, "total_response_time": total_ms as f64, "max_response_time": slowest as f64,
            "response_times": counted,
        }]);
        let reading = read(Tool::Locust, &format!("a line of a log\n{entry}")).unwrap();
        prop_assert_eq!((reading.answered, reading.failed), (all - failures, failures));
        prop_assert!(is_near(Some(reading.per_second), (all - failures) as f64 / seconds as f64, 1e-9));
        prop_assert!(is_near(reading.latency.mean_ns, total_ms as f64 * 1e6 / all as f64, 1e-9));
        // The quantiles by definition, from all sorted times.
        let mut each: Vec<u64> = times.iter().flat_map(|(ms, count)| std::iter::repeat_n(*ms, *count as usize)).collect();
        each.sort_unstable();
        for (share, read) in [(0.5, reading.latency.p50_ns), (0.99, reading.latency.p99_ns)] {
            let at = ((all as f64 * share).ceil() as usize).max(1) - 1;
            prop_assert_eq!(read, Some(each[at] as f64 * 1e6), "{}", share);
        }
    }
}

#[test]
fn an_output_without_one_of_its_lines_names_what_it_lacks() {
    for (tool, real, line, what) in [
        (Tool::Wrk, wrk::REAL, "Requests/sec:", "Requests/sec"),
        (Tool::H2load, h2load::REAL, "finished in", "finished in"),
        (Tool::H2load, h2load::REAL, "requests:", "requests:"),
        (Tool::Oha, oha::REAL, "  \"summary\"", "JSON"),
        (Tool::Httperf, httperf::REAL, "Total:", "Total:"),
        (Tool::Httperf, httperf::REAL, "Reply status:", "Reply status:"),
        (Tool::Locust, locust::REAL, "        \"num_requests\"", "JSON"),
    ] {
        let text: Vec<&str> = real.lines().filter(|own| !own.starts_with(line)).collect();
        let error = read(tool, &text.join("\n")).unwrap_err();
        assert!(
            matches!(error, ReadError::Lacks { .. }) && error.to_string().contains(what),
            "{tool} {line}: {error}"
        );
    }
}

#[test]
fn without_its_latencies_an_output_still_has_a_rate() {
    for (tool, real, lines) in [
        (Tool::Wrk, wrk::REAL, &["    Latency", "     50%", "     99%"][..]),
        (Tool::H2load, h2load::REAL, &["time for request:"]),
        (Tool::Httperf, httperf::REAL, &["Reply time [ms]:"]),
    ] {
        let text: Vec<&str> =
            real.lines().filter(|own| !lines.iter().any(|line| own.starts_with(line))).collect();
        let (whole, cut) = (read(tool, real).unwrap(), read(tool, &text.join("\n")).unwrap());
        assert_eq!((cut.answered, cut.per_second), (whole.answered, whole.per_second), "{tool}");
        assert_eq!((cut.latency.mean_ns, cut.latency.p99_ns), (None, None), "{tool}");
    }
}

#[test]
fn a_tool_that_spoke_another_protocol_has_measured_something_else() {
    let h2 = h2load::REAL.replace("Application protocol: http/1.1", "Application protocol: h2");
    let read =
        |protocol, text: &str| read_in(Tool::H2load, protocol, text).map_err(|error| error.to_string());
    assert!(read(Protocol::Http1, h2load::REAL).is_ok() && read(Protocol::Http1Tls, h2load::REAL).is_ok());
    assert!(read(Protocol::H2, &h2).is_ok());
    assert_eq!(read(Protocol::H2, h2load::REAL).unwrap_err(), "h2load spoke http/1.1, and not h2");
    assert_eq!(read(Protocol::H2c, &h2).unwrap_err(), "h2load spoke h2, and not h2c");
}
