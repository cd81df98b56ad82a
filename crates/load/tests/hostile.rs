//! The hostile servers of HTTP/2 do what their names say: a client that others wrote makes of each what is meant.

mod kit;

use std::time::Duration;

use kit::hostile::{ALL, Hostile, Meant, NO_WINDOW, STREAMS_OF_GOAWAY};
use kit::http2::BODY;
use kit::peer::serve;

/// Of a request that is never answered.
const PATIENCE: Duration = Duration::from_millis(300);

/// What this client passes over, though it need not.
const PASSED_OVER: [&str; 3] =
    ["no SETTINGS", "DATA on a stream that is over", "HEADERS on a stream that is over"];

/// What became of one request.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Right,
    Wrong,
    Error,
    Nothing,
}

/// Sends requests one after the other on one connection.
fn asked(hostile: &Hostile, count: usize, body: usize) -> Vec<Outcome> {
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
            outcomes.push(match tokio::time::timeout(PATIENCE, asked).await {
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

#[test]
fn each_is_what_it_is_called_to_the_crate_h2() {
    for hostile in ALL.iter().filter(|hostile| !PASSED_OVER.contains(&hostile.name)) {
        let outcomes = asked(hostile, 3, 0);
        let is_met = match hostile.meant {
            Meant::Fine | Meant::Some => outcomes.iter().all(is_right),
            Meant::Fails => outcomes.iter().all(|outcome| *outcome == Outcome::Error),
            Meant::Ends => *outcomes.last().unwrap() == Outcome::Error,
            Meant::Endless => {
                outcomes.iter().all(|outcome| [Outcome::Error, Outcome::Nothing].contains(outcome))
            }
        };
        assert!(is_met, "{}: {:?}, and it is {outcomes:?}", hostile.name, hostile.meant);
    }
}

#[test]
fn every_allowed_form_takes_a_body() {
    for hostile in ALL.iter().filter(|hostile| hostile.meant == Meant::Fine) {
        let outcomes = asked(hostile, 2, 1000);
        assert!(outcomes.iter().all(is_right), "{}: {outcomes:?}", hostile.name);
    }
}

#[test]
fn streams_after_goaway_are_not_answered() {
    for hostile in ALL.iter().filter(|hostile| hostile.meant == Meant::Some) {
        let outcomes = asked(hostile, STREAMS_OF_GOAWAY + 1, 0);
        let (before, after) = outcomes.split_at(STREAMS_OF_GOAWAY);
        assert!(before.iter().all(is_right) && after == [Outcome::Error], "{}: {outcomes:?}", hostile.name);
    }
}

#[test]
fn a_window_of_zero_stops_bodies_and_nothing_else() {
    assert_eq!(asked(&NO_WINDOW, 2, 0), [Outcome::Right, Outcome::Right]);
    // The first one is sent before the SETTINGS have come.
    assert_eq!(asked(&NO_WINDOW, 2, 10)[1], Outcome::Nothing);
}
