//! HTTP/2 servers with rare, forbidden or endless behaviour. A client by other authors has the expected
//! outcome with each of them, and so does the generator.

use std::time::{Duration, Instant};

use crate::kit::behaviours::{ALL, Hostile, Meant, NO_WINDOW, STREAMS_OF_GOAWAY};
use crate::kit::load::{drivers, exchange, generator_of, run_replacing, settings};
use crate::kit::peer::serve;
use crate::kit::wire::BODY;
use tare_load::{
    DriverChoice, DriverKind, ExpectedBody, GeneratorSettings, Load, Protocol, RunReport, Schedule, Stop,
};

/// The time limit for a request that is never answered.
const PATIENCE: Duration = Duration::from_millis(300);

/// Errors that this client tolerates, though it need not.
const PASSED_OVER: [&str; 3] =
    ["no SETTINGS", "DATA on a stream that is over", "HEADERS on a stream that is over"];

#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Right,
    Wrong,
    Error,
    Nothing,
}

/// The outcomes of consecutive requests on one connection. A busy machine can leave the server without CPU,
/// so if the outcome is not the expected one, the time limit is extended, twice.
fn asked(hostile: &Hostile, count: usize, body: usize, is_met: impl Fn(&[Outcome]) -> bool) -> Vec<Outcome> {
    let mut outcomes = asked_for(hostile, count, body, PATIENCE);
    for factor in [5, 25] {
        if !is_met(&outcomes) {
            outcomes = asked_for(hostile, count, body, factor * PATIENCE);
        }
    }
    outcomes
}

fn asked_for(hostile: &Hostile, count: usize, body: usize, patience: Duration) -> Vec<Outcome> {
    let address = serve(hostile.behave);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let mut builder = h2::client::Builder::new();
        builder.enable_push(false).max_header_list_size(65_536);
        let (sender, connection) = builder.handshake(stream).await.unwrap();
        tokio::spawn(connection);
        let mut outcomes = Vec::new();
        for _ in 0..count {
            let asked = tokio::spawn(ask(sender.clone(), vec![7; body]));
            outcomes.push(match tokio::time::timeout(patience, asked).await {
                Ok(Ok(Ok(answer))) if answer == BODY => Outcome::Right,
                Ok(Ok(Ok(_))) => Outcome::Wrong,
                Ok(_) => Outcome::Error,
                Err(_) => Outcome::Nothing,
            });
        }
        outcomes
    })
}

type Sender = h2::client::SendRequest<std::io::Cursor<Vec<u8>>>;

async fn ask(sender: Sender, body: Vec<u8>) -> Result<Vec<u8>, h2::Error> {
    let mut sender = sender.ready().await?;
    let request = http::Request::get("http://localhost/").body(()).unwrap();
    let (answer, mut upload) = sender.send_request(request, body.is_empty())?;
    if !body.is_empty() {
        upload.send_data(std::io::Cursor::new(body), true)?;
    }
    let mut received = answer.await?.into_body();
    let mut body = Vec::new();
    while let Some(part) = received.data().await {
        let part = part?;
        received.flow_control().release_capacity(part.len())?;
        body.extend_from_slice(&part);
    }
    received.trailers().await?;
    Ok(body)
}

fn is_right(outcome: &Outcome) -> bool {
    *outcome == Outcome::Right
}

fn all_are_right(outcomes: &[Outcome]) -> bool {
    outcomes.iter().all(is_right)
}

#[test]
fn each_is_what_it_is_called_to_the_crate_h2() {
    for hostile in ALL.iter().filter(|hostile| !PASSED_OVER.contains(&hostile.name)) {
        let is_met = |outcomes: &[Outcome]| match hostile.meant {
            Meant::Fine | Meant::Some => all_are_right(outcomes),
            Meant::Fails => outcomes.iter().all(|outcome| *outcome == Outcome::Error),
            Meant::Ends => *outcomes.last().unwrap() == Outcome::Error,
            Meant::Endless => {
                outcomes.iter().all(|outcome| [Outcome::Error, Outcome::Nothing].contains(outcome))
            }
        };
        let outcomes = asked(hostile, 3, 0, is_met);
        assert!(is_met(&outcomes), "{}: {:?}, and it is {outcomes:?}", hostile.name, hostile.meant);
    }
}

#[test]
fn every_allowed_form_takes_a_body() {
    for hostile in ALL.iter().filter(|hostile| hostile.meant == Meant::Fine) {
        let outcomes = asked(hostile, 2, 1000, all_are_right);
        assert!(all_are_right(&outcomes), "{}: {outcomes:?}", hostile.name);
    }
}

#[test]
fn streams_after_goaway_are_not_answered() {
    let is_met = |outcomes: &[Outcome]| {
        let (before, after) = outcomes.split_at(STREAMS_OF_GOAWAY);
        all_are_right(before) && after == [Outcome::Error]
    };
    for hostile in ALL.iter().filter(|hostile| hostile.meant == Meant::Some) {
        let outcomes = asked(hostile, STREAMS_OF_GOAWAY + 1, 0, is_met);
        assert!(is_met(&outcomes), "{}: {outcomes:?}", hostile.name);
    }
}

#[test]
fn a_window_of_zero_stops_bodies_and_nothing_else() {
    assert!(all_are_right(&asked(&NO_WINDOW, 2, 0, all_are_right)));
    // The first request is sent before the SETTINGS have arrived.
    let is_met = |outcomes: &[Outcome]| outcomes[1] == Outcome::Nothing;
    assert!(is_met(&asked(&NO_WINDOW, 2, 10, is_met)));
}

/// What a short load over HTTP/2 found, and how long it took beyond its window.
struct Loaded {
    report: RunReport,
    took: Duration,
}

impl Loaded {
    fn by(hostile: &Hostile, driver: DriverKind, factor: u32) -> Loaded {
        let settings = GeneratorSettings {
            protocol: Protocol::H2c,
            streams: 4,
            driver: DriverChoice::Only(driver),
            ..settings(serve(hostile.behave), 2, 1)
        };
        let exchange = exchange(ExpectedBody::Exact(BODY.to_vec()));
        let mut generator = generator_of(settings, exchange);
        let window = factor * WINDOW;
        let load = Load::new(Schedule::SATURATE, Stop::after(window, factor * DRAIN), factor * PATIENCE);
        let began = Instant::now();
        let report = run_replacing(&mut generator, &load);
        Loaded { report, took: began.elapsed().saturating_sub(window) }
    }

    fn is_met(&self, hostile: &Hostile, factor: u32) -> bool {
        let tally = &self.report.total.tally;
        let failures = tally.failed.total() + tally.connection_failed.total() + tally.in_flight;
        let is_found = match hostile.meant {
            Meant::Fine => tally.answered > 0 && failures == 0,
            Meant::Some => tally.answered > STREAMS_OF_GOAWAY as u64,
            Meant::Fails => tally.answered == 0 && failures > 0,
            Meant::Ends | Meant::Endless => failures > 0,
        };
        is_found && self.took < factor * DRAIN + Duration::from_secs(1)
    }
}

const WINDOW: Duration = Duration::from_millis(200);
const DRAIN: Duration = Duration::from_millis(400);

/// A busy machine can leave the peer or the generator without CPU for a whole window, so if the outcome is not
/// the expected one, all limits are extended, twice.
#[test]
fn the_generator_finds_what_is_meant_and_ends_in_time() {
    for (hostile, driver) in
        ALL.iter().flat_map(|hostile| drivers().into_iter().map(move |driver| (hostile, driver)))
    {
        let is_met = [1, 5, 25].into_iter().any(|factor| {
            let loaded = Loaded::by(hostile, driver, factor);
            let is_met = loaded.is_met(hostile, factor);
            if !is_met {
                let Loaded { report, took } = loaded;
                eprintln!("{took:?} beyond the window: {:?}: {:?}", report.total.tally, report.first_failure);
            }
            is_met
        });
        assert!(is_met, "{} by {}: {:?}", hostile.name, driver.name(), hostile.meant);
    }
}
