//! Checks whether a service is ready, by one request on its own connection.

use std::{io, time::Duration};

use tare_base::Endpoint;
use tare_host::process::Probed;
use tare_load::{
    exchange::{Exchange, Expected},
    http1::Response,
};

use crate::{
    client::{
        AskError, Channel, ClientConnection, Deadline, PREFACE, Spoken, ask_in, client_hello, spoken_instead,
    },
    verify::{difference, quote},
};

/// Statuses of starting servers and their gateways: Too Early, Too Many Requests, Bad Gateway, Service
/// Unavailable, Gateway Timeout.
const STARTING: [u16; 5] = [425, 429, 502, 503, 504];

/// Time limit to find out a port's protocol.
const SPOKEN_WITHIN: Duration = Duration::from_millis(200);

/// When a service counts as ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// Once it sends any byte. Used by verify, which checks the answer itself.
    Speaks,
    /// Once it gives the correct answer. Used to measure the start-up time.
    AnswersRightly,
}

/// Sends one request on its own connection, within `patience`: the end of the service is not noticed
/// meanwhile. If it `runs_already`, its URL may name the wrong protocol.
pub fn ready(
    target: &Endpoint,
    channel: &Channel,
    exchange: &Exchange,
    readiness: Readiness,
    patience: Duration,
    runs_already: bool,
) -> Probed {
    let deadline = Deadline::after(patience);
    let found = match readiness {
        Readiness::Speaks => speaks(target, channel, exchange, deadline),
        Readiness::AnswersRightly => {
            ask_in(target, channel, exchange, deadline).map(|response| judged(exchange, &response))
        }
    };
    found.unwrap_or_else(|error| {
        let other = match runs_already {
            true => instead(target, channel, &error).map(Probed::Never),
            false => other_protocol(target, channel, &error),
        };
        other.unwrap_or_else(|| met(exchange, &error))
    })
}

/// Whether the service no longer starts, judging by its answer to this request, right or wrong.
///
/// # Errors
/// No answer came.
pub fn started(
    target: &Endpoint,
    channel: &Channel,
    exchange: &Exchange,
    patience: Duration,
) -> Result<Probed, AskError> {
    let response = ask_in(target, channel, exchange, Deadline::after(patience))?;
    Ok(match response.status {
        status if status != exchange.expected.status && STARTING.contains(&status) => {
            judged(exchange, &response)
        }
        _ => Probed::Ready,
    })
}

/// Classifies a response.
fn judged(exchange: &Exchange, response: &Response) -> Probed {
    if is_right(&exchange.expected, response) {
        return Probed::Ready;
    }
    let (asked, status) = (asked(exchange), response.status);
    if status != exchange.expected.status {
        return Probed::Unfit(format!("answers {asked} with status {status}"));
    }
    let difference = difference(&response.body, &exchange.expected.body);
    let difference = difference.unwrap_or_else(|| format!("got {}", quote(&response.body)));
    Probed::Wrong(format!("answers {asked}, and differs from the right answer: {difference}"))
}

/// Classifies an error.
fn met(exchange: &Exchange, error: &AskError) -> Probed {
    let words = || format!("gives no answer to {} ({error})", asked(exchange));
    match error {
        AskError::TooLate { bytes: 1.., .. } => Probed::Unfinished(Some(words())),
        error => unanswered(error).unwrap_or_else(|| Probed::Unfit(words())),
    }
}

/// The result if no byte came.
fn unanswered(error: &AskError) -> Option<Probed> {
    match error {
        AskError::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => Some(Probed::Refused),
        AskError::TooLate { bytes: 0, .. } | AskError::Interrupted => Some(Probed::Silent),
        _ => None,
    }
}

/// The protocol spoken instead. A silent or refusing port may still begin to answer, so it is not probed.
fn instead(target: &Endpoint, channel: &Channel, error: &AskError) -> Option<String> {
    let may_pass = matches!(unanswered(error), Some(Probed::Refused | Probed::Silent));
    if may_pass { None } else { spoken_instead(target, channel, error) }
}

/// A port that closes plain connections silently may speak TLS, which a handshake shows.
fn other_protocol(target: &Endpoint, channel: &Channel, error: &AskError) -> Option<Probed> {
    let is_closed = matches!(error, AskError::Closed) && !channel.protocol.is_tls();
    let speaks_tls = is_closed && Spoken::there(target, SPOKEN_WITHIN) == Some(Spoken::Tls);
    speaks_tls.then(|| Probed::Unfit("speaks TLS, and is asked without it".to_owned()))
}

/// Method and path of a request.
fn asked(exchange: &Exchange) -> String {
    /// A longer path would not help.
    const SHOWN_MAX: usize = 60;
    let line = exchange.request.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let words = line.rsplit_once(' ').map_or(&*line, |(words, _)| words);
    match words.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}...", &words[..end]),
        None => words.to_owned(),
    }
}

/// Whether any bytes come, right or wrong.
fn speaks(
    target: &Endpoint,
    channel: &Channel,
    exchange: &Exchange,
    deadline: Deadline,
) -> Result<Probed, AskError> {
    let mut connection = ClientConnection::open(target, deadline)?;
    let first = match channel.tls() {
        Some(config) => client_hello(config, channel.server_name())?,
        None if channel.protocol.is_http2() => PREFACE.concat(),
        None => exchange.request.clone(),
    };
    connection.send(&first, deadline)?;
    match connection.receive(&mut Vec::new(), deadline)? {
        0 => Err(AskError::Closed),
        _ => Ok(Probed::Ready),
    }
}

/// Whether a response has the expected status and body.
pub fn is_right(expected: &Expected, response: &Response) -> bool {
    expected.body.accepts(&response.body) && response.status == expected.status
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::TcpListener,
        time::Instant,
    };

    use tare_load::{exchange::ExpectedBody, http1::parse_response};

    use super::*;

    fn exchange(body: ExpectedBody) -> Exchange {
        let request = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec();
        Exchange {
            request,
            is_head: false,
            expected: Expected { status: 200, body },
            name: "root".to_owned(),
            step: None,
        }
    }

    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

    #[test]
    fn an_answer_is_right_by_status_and_body() {
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"a\":[1, 2]}";
        let response = parse_response(answer, false, false).unwrap().unwrap().0;
        let right = |status, body| is_right(&Expected { status, body }, &response);
        assert!(right(200, ExpectedBody::Any) && !right(204, ExpectedBody::Any));
        assert!(right(200, ExpectedBody::json(serde_json::json!({ "a": [1, 2] }))));
        assert!(!right(200, ExpectedBody::json(serde_json::json!({ "a": [2, 1] }))));
        assert!(!right(200, ExpectedBody::Exact(b"{\"a\":[1,2]}".to_vec())), "other bytes of the same value");
    }

    #[test]
    fn a_server_with_a_wrong_answer_speaks_but_is_not_ready() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let target = Endpoint::from(listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            for _ in 0..3 {
                listener.accept().unwrap().0.write_all(ANSWER).unwrap();
            }
        });
        let ready = |body: &[u8], readiness| {
            ready(
                &target,
                &Channel::default(),
                &exchange(ExpectedBody::Exact(body.to_vec())),
                readiness,
                Duration::from_secs(10),
                false,
            )
        };
        assert_eq!(ready(b"ok", Readiness::AnswersRightly), Probed::Ready);
        let differs = "answers GET /, and differs from the right answer: the body differs at byte 0: expected \"no\" (2 bytes), \
                       got \"ok\" (2 bytes)";
        assert_eq!(ready(b"no", Readiness::AnswersRightly), Probed::Wrong(differs.to_owned()));
        assert_eq!(ready(b"no", Readiness::Speaks), Probed::Ready);
        server.join().unwrap();
        assert_eq!(ready(b"ok", Readiness::Speaks), Probed::Refused, "no server listens");
    }

    #[test]
    fn a_server_that_starts_is_told_by_its_status() {
        let started = |status: u16, expected: u16| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let target = Endpoint::from(listener.local_addr().unwrap());
            let answer = format!("HTTP/1.1 {status} X\r\nContent-Length: 2\r\n\r\nok");
            let server = std::thread::spawn(move || {
                let mut stream = listener.accept().unwrap().0;
                let read = stream.read(&mut [0; 512]).unwrap();
                assert!(read > 0);
                stream.write_all(answer.as_bytes()).unwrap();
            });
            let mut exchange = exchange(ExpectedBody::Any);
            exchange.expected.status = expected;
            let found = started(&target, &Channel::default(), &exchange, Duration::from_secs(10));
            server.join().unwrap();
            found.unwrap()
        };
        for status in STARTING {
            let words = format!("answers GET / with status {status}");
            assert_eq!(started(status, 200), Probed::Unfit(words));
            assert_eq!(started(status, status), Probed::Ready, "it is what is asked for");
        }
        for status in [200, 302, 404, 500] {
            assert_eq!(started(status, 200), Probed::Ready);
        }
    }

    #[test]
    fn a_request_is_named_by_its_method_and_a_part_of_its_path() {
        let of = |line: &str| {
            let request = format!("{line}\r\nHost: x\r\n\r\n").into_bytes();
            asked(&Exchange { request, ..exchange(ExpectedBody::Any) })
        };
        assert_eq!(of("GET /a?b=c HTTP/1.1"), "GET /a?b=c");
        let long = of(&format!("GET /{} HTTP/1.1", "ä".repeat(100)));
        assert_eq!(long, format!("GET /{}...", "ä".repeat(55)));
    }

    #[test]
    fn a_silent_server_costs_no_more_than_the_patience() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let began = Instant::now();
        let patience = Duration::from_millis(50);
        let found = ready(
            &listener.local_addr().unwrap().into(),
            &Channel::default(),
            &exchange(ExpectedBody::Any),
            Readiness::Speaks,
            patience,
            false,
        );
        assert!(found == Probed::Silent && began.elapsed() < Duration::from_secs(10), "{found:?}");
    }

    #[test]
    fn an_answer_that_never_ends_costs_no_more_than_the_patience() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let target = Endpoint::from(listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            // Sends a header from time to time, so that each read gets some bytes.
            while stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let began = Instant::now();
        let patience = Duration::from_millis(200);
        let found = ready(
            &target,
            &Channel::default(),
            &exchange(ExpectedBody::Any),
            Readiness::AnswersRightly,
            patience,
            false,
        );
        let Probed::Unfinished(Some(words)) = found else { panic!("{found:?}") };
        assert!(words.starts_with("gives no answer to GET / ("), "{words}");
        assert!((patience..Duration::from_secs(10)).contains(&began.elapsed()));
        server.join().unwrap();
    }
}
