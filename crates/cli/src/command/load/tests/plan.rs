//! Plans of command lines, and every contradiction.

use std::time::Duration;

use clap::Parser;
use insta::assert_snapshot;

use tare_load::Protocol;

use super::super::{args::Args, plan::*};

#[derive(Debug, Parser)]
struct CommandLine {
    #[command(flatten)]
    args: Args,
}

fn parsed(words: &str) -> Result<Args, String> {
    let line = CommandLine::try_parse_from(
        ["load", "http://127.0.0.1/"].into_iter().chain(words.split_whitespace()),
    );
    let first = |error: clap::Error| {
        let text = error.to_string();
        text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect::<Vec<_>>().join(" ")
    };
    line.map(|line| line.args).map_err(first)
}

fn plan(words: &str) -> Result<Plan, String> {
    let args = parsed(words)?;

    Plan::new(&args.pace, &args.transport, &args.checking).map_err(|error| error.to_string())
}

fn said(words: &str) -> String {
    match plan(words) {
        Ok(plan) => describe(plan.connections, (Protocol::Http1, 1), &plan.load),
        Err(refusal) => format!("refused: {refusal}"),
    }
}

#[test]
fn habits_of_other_tools() {
    assert_snapshot!(said(""), @"closed loop, 64 connections, 1 thread, for 10s");
    assert_snapshot!(said("-t2 -c100 -d30s"), @"closed loop, 100 connections, 2 threads, for 30s");
    assert_snapshot!(said("-c 1k -d 2m --think 50ms..150ms"), @"closed loop with 50ms to 150ms of think time, 1000 connections, 1 thread, for 2m");
    assert_snapshot!(said("-R 20k --arrivals poisson"), @"open loop, 20k requests a second, at random, 64 connections, 1 thread, for 10s");
    assert_snapshot!(said("-R 1k..20k/30s"), @"open loop, 1k..20k/30s requests a second, evenly spaced, 64 connections, 1 thread, for 30s");
    assert_snapshot!(said("-R 1k:10s,5k:20s -d 5"), @"open loop, 1k:10s,5k requests a second, evenly spaced, 64 connections, 1 thread, for 5s");
    assert_snapshot!(said("-n 1k"), @"closed loop, 64 connections, 1 thread, 1000 requests within 1h");
    assert_snapshot!(said("-n 5 -d 3s"), @"closed loop, 5 connections, 1 thread, 5 requests within 3s");
    assert_snapshot!(said("--connections-total 10k"), @"closed loop, 64 connections, 1 thread, 1 request per connection, 10000 connections in all within 1h");
    assert_snapshot!(said("--connections-total 10 --requests-per-connection 5 --think 1s"), @"closed loop with 1s of think time, 10 connections, 1 thread, 5 requests per connection, 10 connections in all within 1h");
    assert_snapshot!(said("-c 100 --requests-each 10 --requests-per-connection 1"), @"closed loop, 100 connections, 1 thread, 1 request per connection, 10 requests by each connection within 1h");
    assert_snapshot!(said("--pipeline 16"), @"closed loop, 64 connections, 1 thread, 16 requests in flight on each, for 10s");
    assert_snapshot!(said("-t 128"), @"closed loop, 128 connections, 128 threads, for 10s");
}

#[test]
fn contradictions_name_both() {
    assert_snapshot!(said("-t 4 -c 2"), @"refused: -c 2 is less than -t 4: each thread needs a connection");
    assert_snapshot!(said("-c 2M"), @"refused: -c 2000000 is too much: give at most 1000000");
    assert_snapshot!(said("--pipeline 2k"), @"refused: --pipeline 2000 is too much: give at most 1024");
    assert_snapshot!(said("-R 1k --think 1s"), @"refused: error: the argument '--rate <RATE>' cannot be used with '--think <TIME>'");
    assert_snapshot!(said("-R 1k --pipeline 4"), @"refused: error: the argument '--rate <RATE>' cannot be used with '--pipeline <N>'");
    assert_snapshot!(said("-R 1k --connections-total 4"), @"refused: error: the argument '--rate <RATE>' cannot be used with '--connections-total <N>'");
    assert_snapshot!(said("-R 1k --requests-each 4"), @"refused: error: the argument '--rate <RATE>' cannot be used with '--requests-each <N>'");
    assert_snapshot!(said("--think 1s --pipeline 4"), @"refused: error: the argument '--think <TIME>' cannot be used with '--pipeline <N>'");
    assert_snapshot!(said("-n 5 --requests-each 4"), @"refused: error: the argument '--requests <N>' cannot be used with '--requests-each <N>'");
    assert_snapshot!(said("-n 5 --connections-total 4"), @"refused: error: the argument '--requests <N>' cannot be used with '--connections-total <N>'");
    assert_snapshot!(said("--requests-each 5 --connections-total 4"), @"refused: error: the argument '--requests-each <N>' cannot be used with '--connections-total <N>'");
    assert_snapshot!(said("--arrivals poisson"), @"refused: error: the following required arguments were not provided: --rate <RATE>");
    assert_snapshot!(said("--no-check --expect-status 404"), @"refused: error: the argument '--no-check' cannot be used with '--expect-status <N>'");
    assert_snapshot!(said("--contract rest -X PUT"), @"refused: error: the argument '--contract <NAME>' cannot be used with '--method <METHOD>'");
    assert_snapshot!(said("--contract rest --expect-body x"), @"refused: error: the argument '--contract <NAME>' cannot be used with '--expect-body <TEXT|@FILE>'");
    assert_snapshot!(said("--only a=1"), @"refused: error: the following required arguments were not provided: --contract <NAME>");
    assert_snapshot!(said("--unix /x --source 127.0.0.2"), @"refused: error: the argument '--unix <PATH>' cannot be used with '--source <ADDRESSES>'");
    assert_snapshot!(said("--json --format wrk"), @"refused: error: the argument '--json' cannot be used with '--format <FORMAT>'");
    assert_snapshot!(said("--calibrate"), @"refused: error: the argument '[URL]...' cannot be used with '--calibrate'");
}

#[test]
fn bad_values_name_the_flag() {
    assert_snapshot!(said("-c 0"), @"refused: error: invalid value '0' for '--connections <N>': 0 is too few: give 1 or more");
    assert_snapshot!(said("-t 0"), @"refused: error: invalid value '0' for '--threads <N>': 0 is not in 1..=1024");
    assert_snapshot!(said("-d 0"), @"refused: error: invalid value '0' for '--duration <TIME>': a duration of 0 is too short: give more");
    assert_snapshot!(said("-R fast"), @r#"refused: error: invalid value 'fast' for '--rate <RATE>': "fast" is not a rate: give requests per second with an optional k, M, G or T, like 500, 20k, 1.5M or 5000/s"#);
    assert_snapshot!(said("-R 1k..2k"), @r#"refused: error: invalid value '1k..2k' for '--rate <RATE>': the ramp "1k..2k" has no duration: give one after a slash, like 1k..20k/30s"#);
    assert_snapshot!(said("--driver kqueue"), @r#"refused: error: invalid value 'kqueue' for '--driver <NAME>': there is no driver "kqueue": choose auto, io_uring or epoll"#);
    assert_snapshot!(said("--expect-status 99"), @"refused: error: invalid value '99' for '--expect-status <N>': 99 is not in 200..=599");
    assert_snapshot!(said("ftp://127.0.0.1/"), @r#"refused: error: invalid value 'ftp://127.0.0.1/' for '[URL]...': the scheme "ftp" is neither http nor https"#);
    assert_snapshot!(said("-m POST"), @"refused: error: invalid value 'POST' for '--streams <N>': -m is the number of streams of HTTP/2 here, as in h2load; the method is -X POST");
}

#[test]
fn a_connection_takes_no_longer_than_was_asked_for() {
    let within = |words: &str| plan(words).unwrap().load.connect_timeout;
    assert_eq!(within(""), Duration::from_secs(5));
    assert_eq!(within("--timeout 500ms"), Duration::from_millis(500));
    assert_eq!(within("--timeout 9s"), Duration::from_secs(5));
    assert_eq!(within("--timeout 500ms --connect-timeout 3s"), Duration::from_secs(3));
}

#[test]
fn the_drain_is_as_long_as_a_response_may_take() {
    let drain = |words: &str| plan(words).unwrap().load.stop.drain;
    assert_eq!(drain(""), Duration::from_secs(2));
    assert_eq!(drain("--timeout 5s"), Duration::from_secs(5));
    assert_eq!(drain("--timeout 5s --drain 0"), Duration::ZERO);
    let warm_up = plan("--warm-up 1s -n 5").unwrap().warm_up.unwrap();
    assert_eq!((warm_up.stop.window(), warm_up.stop.quota()), (Duration::from_secs(1), None));
}
