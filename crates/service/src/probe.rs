//! Whether a service is ready: one request, on a connection of its own.

use std::{net::SocketAddr, time::Duration};

use tare_load::{
    exchange::{Exchange, Expected},
    http1::Response,
};

use crate::client::{AskError, Channel, ClientConnection, Deadline, PREFACE, ask_in, client_hello};

/// When a service is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// Once it sends anything. Verify uses this, as it checks by itself whether the answer is correct.
    Speaks,
    /// Once it gives the correct answer. The start-up time is measured so.
    AnswersRightly,
}

/// Asks once, on a connection of its own. All of it takes no longer than `patience`, since the end of the service is not noticed
/// meanwhile.
pub fn ready(
    target: SocketAddr,
    channel: &Channel,
    exchange: &Exchange,
    readiness: Readiness,
    patience: Duration,
) -> bool {
    let deadline = Deadline::after(patience);
    let asked = match readiness {
        Readiness::Speaks => speaks(target, channel, exchange, deadline),
        Readiness::AnswersRightly => ask_in(&target.into(), channel, exchange, deadline)
            .map(|response| is_right(&exchange.expected, &response)),
    };
    asked.unwrap_or(false)
}

/// Whether anything comes, whatever is wrong with it.
fn speaks(
    target: SocketAddr,
    channel: &Channel,
    exchange: &Exchange,
    deadline: Deadline,
) -> Result<bool, AskError> {
    let mut connection = ClientConnection::open(&target.into(), deadline)?;
    let first = match channel.tls() {
        Some(config) => client_hello(config, target.ip())?,
        None if channel.protocol.is_http2() => PREFACE.concat(),
        None => exchange.request.clone(),
    };
    connection.send(&first, deadline)?;
    Ok(connection.receive(&mut Vec::new(), deadline)? > 0)
}

/// Whether a response has the expected status and body.
pub fn is_right(expected: &Expected, response: &Response) -> bool {
    expected.body.accepts(&response.body) && response.status == expected.status
}

#[cfg(test)]
mod tests {
    use std::{io::Write, net::TcpListener, time::Instant};

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
        let target = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            for _ in 0..3 {
                listener.accept().unwrap().0.write_all(ANSWER).unwrap();
            }
        });
        let ready = |body: &[u8], readiness| {
            ready(
                target,
                &Channel::default(),
                &exchange(ExpectedBody::Exact(body.to_vec())),
                readiness,
                Duration::from_secs(10),
            )
        };
        assert!(ready(b"ok", Readiness::AnswersRightly));
        assert!(!ready(b"no", Readiness::AnswersRightly));
        assert!(ready(b"no", Readiness::Speaks));
        server.join().unwrap();
        assert!(!ready(b"ok", Readiness::Speaks), "no server listens");
    }

    #[test]
    fn a_silent_server_costs_no_more_than_the_patience() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let began = Instant::now();
        let patience = Duration::from_millis(50);
        let is_ready = ready(
            listener.local_addr().unwrap(),
            &Channel::default(),
            &exchange(ExpectedBody::Any),
            Readiness::Speaks,
            patience,
        );
        assert!(!is_ready && began.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn an_answer_that_never_ends_costs_no_more_than_the_patience() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let target = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            // A header a while: each read gets something.
            while stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let began = Instant::now();
        let patience = Duration::from_millis(200);
        assert!(!ready(
            target,
            &Channel::default(),
            &exchange(ExpectedBody::Any),
            Readiness::AnswersRightly,
            patience
        ));
        assert!((patience..Duration::from_secs(10)).contains(&began.elapsed()));
        server.join().unwrap();
    }
}
