//! One request to a server, on a connection of its own: to find out whether a service is ready, or what it answers.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use tare_load::{
    exchange::{Exchange, Expected},
    http1::{ParseError, Response, parse_response},
};

/// Each chunk is parsed together with all previous ones, so small chunks would make a large answer slow.
const CHUNK_BYTES: usize = 64 * 1024;

/// When a service is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// Once it sends anything. Verify uses this, as it checks by itself whether the answer is correct.
    Speaks,
    /// Once it gives the correct answer. The start-up time is measured so.
    AnswersRightly,
}

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    NotHttp(#[from] ParseError),
    #[error("the connection was closed without an answer")]
    Closed,
}

/// Asks once, on a connection of its own. No step takes longer than `patience`, since the end of the service is not noticed
/// meanwhile.
pub fn ready(target: SocketAddr, exchange: &Exchange, readiness: Readiness, patience: Duration) -> bool {
    let asked = || -> Result<bool, AskError> {
        let mut stream = connect(target, patience)?;
        if readiness == Readiness::Speaks {
            stream.write_all(&exchange.request)?;
            return Ok(stream.read(&mut [0; 4096])? > 0);
        }
        Ok(is_right(&exchange.expected, &ask(&mut stream, exchange)?))
    };
    asked().unwrap_or(false)
}

/// A connection on which the next bytes of an answer may take as long as the connection itself.
pub(crate) fn connect(target: SocketAddr, patience: Duration) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&target, patience)?;
    stream.set_read_timeout(Some(patience))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Sends the request and reads the whole answer.
///
/// # Errors
/// The connection breaks, times out or is closed without a complete answer, or the answer is not HTTP/1.1.
pub fn ask(stream: &mut (impl Read + Write), exchange: &Exchange) -> Result<Response, AskError> {
    stream.write_all(&exchange.request)?;
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; CHUNK_BYTES]);
    loop {
        let count = stream.read(&mut chunk)?;
        if count == 0 && bytes.is_empty() {
            return Err(AskError::Closed);
        }
        bytes.extend_from_slice(&chunk[..count]);
        match parse_response(&bytes, exchange.is_head, count == 0)? {
            Some((response, _)) => return Ok(response),
            None if count == 0 => return Err(AskError::Closed),
            None => {}
        }
    }
}

/// Whether a response has the expected status and body.
pub fn is_right(expected: &Expected, response: &Response) -> bool {
    expected.body.accepts(&response.body) && response.status == expected.status
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tare_load::exchange::ExpectedBody;

    use super::*;

    use std::{cell::RefCell, collections::VecDeque, io, net::TcpListener, time::Instant};

    /// A server that sends these chunks, whatever it is sent, and then closes.
    struct Script(RefCell<VecDeque<Vec<u8>>>, Vec<u8>);

    impl Read for Script {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let chunk = self.0.borrow_mut().pop_front().unwrap_or_default();
            buffer[..chunk.len()].copy_from_slice(&chunk);
            Ok(chunk.len())
        }
    }

    impl Write for Script {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn exchange(body: ExpectedBody) -> Exchange {
        let request = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec();
        Exchange {
            request,
            is_head: false,
            expected: Expected { status: 200, body },
            name: "root".to_owned(),
        }
    }

    fn asked(chunks: &[&[u8]]) -> (Result<Response, AskError>, Vec<u8>) {
        let mut script =
            Script(RefCell::new(chunks.iter().map(|chunk| chunk.to_vec()).collect()), Vec::new());
        let exchange = exchange(ExpectedBody::Any);
        (ask(&mut script, &exchange), script.1)
    }

    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

    #[test]
    fn an_answer_ends_with_its_body_or_with_the_connection() {
        let (found, sent) = asked(&[ANSWER, b"more"]);
        assert_eq!((found.unwrap().body, sent), (b"ok".to_vec(), exchange(ExpectedBody::Any).request));
        let until_close = asked(&[b"HTTP/1.1 200 OK\r\n\r\n", b"o", b"k"]).0.unwrap();
        assert_eq!(until_close.body, b"ok");
        for chunks in [&[][..], &[&ANSWER[..ANSWER.len() - 1]]] {
            let error = asked(chunks).0.unwrap_err();
            assert!(matches!(error, AskError::Closed | AskError::NotHttp(_)), "{error}");
        }
        assert!(matches!(asked(&[b"SSH-2.0-x\r\n\r\n"]).0, Err(AskError::NotHttp(_))));
    }

    #[test]
    fn an_answer_is_right_by_status_and_body() {
        let response = asked(&[b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"a\":[1, 2]}"]).0.unwrap();
        let right = |status, body| is_right(&Expected { status, body }, &response);
        assert!(right(200, ExpectedBody::Any) && !right(204, ExpectedBody::Any));
        assert!(right(200, ExpectedBody::Json(serde_json::json!({ "a": [1, 2] }))));
        assert!(!right(200, ExpectedBody::Json(serde_json::json!({ "a": [2, 1] }))));
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
            ready(target, &exchange(ExpectedBody::Exact(body.to_vec())), readiness, Duration::from_secs(10))
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
        let is_ready =
            ready(listener.local_addr().unwrap(), &exchange(ExpectedBody::Any), Readiness::Speaks, patience);
        assert!(!is_ready && began.elapsed() < Duration::from_secs(10));
    }

    proptest! {
        #[test]
        fn an_answer_may_come_in_any_pieces(sizes in proptest::collection::vec(1_usize..9, 1..40)) {
            let (mut chunks, mut rest) = (Vec::new(), ANSWER);
            for size in sizes.iter().cycle() {
                let (chunk, behind) = rest.split_at(rest.len().min(*size));
                chunks.push(chunk);
                rest = behind;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(asked(&chunks).0.unwrap().body, b"ok");
        }
    }
}
