use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    os::unix::net::UnixListener,
    thread::JoinHandle,
};

use proptest::prelude::*;

use super::{hostile::exchange, *};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const LONG: Duration = Duration::from_secs(20);

/// The client's result with a server that answers this way, whatever it receives.
fn asked(
    patience: Duration,
    answer: impl FnOnce(TcpStream) + Send + 'static,
) -> (Result<Response, AskError>, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = Endpoint::Tcp(listener.local_addr().unwrap());
    let server = std::thread::spawn(move || answer(listener.accept().unwrap().0));
    let deadline = Deadline::after(patience);
    let mut connection = ClientConnection::open(&endpoint, deadline).unwrap();
    (connection.ask(&exchange(), deadline), server)
}

/// The client's result with a server that sends these chunks and closes.
fn answered(chunks: &[&[u8]]) -> Result<Response, AskError> {
    let chunks: Vec<Vec<u8>> = chunks.iter().map(|chunk| chunk.to_vec()).collect();
    let (found, server) = asked(LONG, move |mut stream| {
        let mut request = vec![0; exchange().request.len()];
        stream.read_exact(&mut request).unwrap();
        assert_eq!(request, exchange().request);
        stream.set_nodelay(true).unwrap();
        chunks.iter().for_each(|chunk| stream.write_all(chunk).unwrap());
        stream.shutdown(Shutdown::Write).unwrap();
    });
    server.join().unwrap();
    found
}

#[test]
fn an_answer_ends_with_its_body_or_with_the_connection() {
    assert_eq!(answered(&[ANSWER]).unwrap().body, b"ok");
    let more = answered(&[&[ANSWER, b"more"].concat()]).unwrap_err().to_string();
    assert!(more.contains("bytes follow the answer") && more.ends_with("it sent `more`"), "{more}");
    let until_close = answered(&[b"HTTP/1.1 200 OK\r\n\r\n", b"o", b"k"]).unwrap();
    assert_eq!(until_close.body, b"ok");
    assert!(matches!(answered(&[]), Err(AskError::Closed)));
    let cut = answered(&[&ANSWER[..ANSWER.len() - 1]]).unwrap_err().to_string();
    assert_eq!(
        cut,
        "the connection was closed within the answer: status 200 and 1 of 2 bytes of the body came"
    );
    assert!(matches!(answered(&[b"SSH-2.0-x\r\n\r\n"]), Err(AskError::NotHttp(_))));
}

/// Sends `begin`, then `more` for ever.
fn without_end(mut stream: TcpStream, begin: &[u8], more: &[u8], pause: Duration) {
    let mut sent = stream.write_all(begin);
    while sent.is_ok() {
        std::thread::sleep(pause);
        sent = stream.write_all(more);
    }
}

#[test]
fn an_answer_without_an_end_has_one_size_for_all_of_it() {
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (begin, more) in [
        (&b"HTTP/1.1 200 OK\r\n\r\n"[..], vec![b'x'; 1 << 16]),
        (chunked, b"1\r\nx\r\n".repeat(1 << 13)),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n".repeat(1 << 11)),
    ] {
        let began = Instant::now();
        let (found, server) = asked(LONG, move |stream| without_end(stream, begin, &more, Duration::ZERO));
        assert!(matches!(found, Err(AskError::TooLong)), "{found:?}");
        assert!(began.elapsed() < LONG);
        server.join().unwrap();
    }
}

#[test]
fn an_answer_that_comes_byte_by_byte_has_one_deadline_for_all_of_it() {
    let began = Instant::now();
    let patience = Duration::from_millis(300);
    let (found, server) = asked(patience, |stream| {
        without_end(stream, b"HTTP/1.1 200 OK\r\nX: ", b"x", Duration::from_millis(20))
    });
    assert!(matches!(found, Err(AskError::TooLate { within, .. }) if within == patience), "{found:?}");
    assert!((patience..LONG).contains(&began.elapsed()));
    server.join().unwrap();
}

#[test]
fn a_server_that_reads_nothing_is_not_waited_for() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let deadline = Deadline::after(Duration::from_millis(200));
    let mut connection = ClientConnection::open(&listener.local_addr().unwrap().into(), deadline).unwrap();
    let sent = connection.send(&vec![b'x'; 64 << 20], deadline);
    assert!(matches!(sent, Err(AskError::TooLate { .. })), "{sent:?}");
}

#[test]
fn a_unix_socket_is_asked_as_any_other_and_its_full_queue_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let endpoint = Endpoint::Unix(path);
    let mut connection = ClientConnection::open(&endpoint, Deadline::after(LONG)).unwrap();
    listener.accept().unwrap().0.write_all(ANSWER).unwrap();
    assert_eq!(
        connection.ask(&exchange(), Deadline::after(LONG)).unwrap_err().to_string(),
        "Broken pipe (os error 32)"
    );
    let mut waiting = Vec::new();
    rustix::net::listen(&listener, 0).unwrap();
    let refused = loop {
        match ClientConnection::open(&endpoint, Deadline::after(Duration::from_millis(50))) {
            Ok(connection) => waiting.push(connection),
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, AskError::TooLate { .. }), "{refused}");
}

#[test]
fn where_nothing_listens_there_is_no_connection() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = ClientConnection::open(&gone.into(), Deadline::after(LONG)).unwrap_err();
    assert!(matches!(&refused, AskError::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
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
        prop_assert_eq!(answered(&chunks).unwrap().body, b"ok");
    }
}
