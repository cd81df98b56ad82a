//! `tare raw-socket`: the reference for every service.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use rustix::process::Signal;

use crate::support::{Running, USUAL, Workspace, free_port, send, within};

/// The answer of `tare raw-socket` to one request.
fn get(port: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}"))?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")?;
    let (mut answer, mut chunk) = (Vec::new(), [0; 1024]);
    while !answer.ends_with(b"!") {
        match stream.read(&mut chunk)? {
            0 => break,
            count => answer.extend_from_slice(&chunk[..count]),
        }
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

fn started(workspace: &Workspace, words: &[&str], port: &str) -> (Running, String) {
    let mut raw_socket = workspace.start(&[words, &["--port", port]].concat());
    let mut answer = None;
    assert!(within(USUAL, || {
        answer = get(port).ok();
        answer.is_some() || raw_socket.has_ended()
    }));
    (raw_socket, answer.expect("an answer"))
}

#[test]
fn the_raw_socket_answers_and_ends_on_sigterm_within_a_second() {
    let workspace = Workspace::new(&[]);
    for (contract, body) in [("hello", "Hello world!"), ("api", "Hello, World!")] {
        let port = free_port().to_string();
        let (raw_socket, answer) =
            started(&workspace, &["raw-socket", "--contract", contract, "--threads", "2"], &port);
        let head = format!("\r\nContent-Length: {}\r\n", body.len());
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains(&head), "{answer}");
        assert!(answer.contains("\r\nContent-Type: text/plain; charset=utf-8\r\n"), "{answer}");
        assert!(answer.ends_with(&format!("\r\n\r\n{body}")), "{answer}");

        let idle = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
        let asked = Instant::now();
        send(raw_socket.pid(), Signal::TERM);
        let ended = raw_socket.end().expect(0);
        let took = asked.elapsed();
        assert!(took < Duration::from_secs(1), "{took:?}");
        assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", ""));
        drop(idle);
    }
}

#[test]
fn a_port_in_use_is_one_line() {
    let workspace = Workspace::new(&[]);
    let port = free_port().to_string();
    let (owner, _) = started(&workspace, &["raw-socket"], &port);
    let refused = workspace.tare(&["raw-socket", "--port", &port]).expect(1);
    let told = refused.stderr.replace(&port, "PORT");
    assert_eq!(told, "error: cannot serve on 127.0.0.1:PORT: Address already in use (os error 98)\n");
    send(owner.pid(), Signal::TERM);
    owner.end().expect(0);
}

#[test]
fn a_variable_of_no_use_ends_it_with_status_2_and_one_line() {
    let workspace = Workspace::new(&[]);
    let port = free_port().to_string();
    for (options, told) in [
        (&["--protocol", "h3"][..], "PROTOCOL is \"h3\": give http/1.1, h2 or h2c ("),
        (&["--protocol", "h2"], "PROTOCOL is h2, which is HTTP/2 over TLS, and TLS_CERT is not set"),
        (&["--tls-cert", "none"], "TLS_CERT is set and TLS_KEY is not; TLS needs both"),
        (&["--tls-cert", "none", "--tls-key", "none"], "TLS_CERT: cannot read certificates from none: "),
    ] {
        let refused = workspace.tare(&[&["raw-socket", "--port", &port], options].concat()).expect(2);
        let line = refused.stderr.strip_prefix("error: ").and_then(|line| line.strip_suffix('\n'));
        assert!(line.is_some_and(|line| line.starts_with(told) && !line.contains('\n')), "{refused}");
    }
}

#[test]
fn a_port_of_h2c_answers_a_stream_and_no_http1() {
    let workspace = Workspace::new(&[]);
    let port = free_port().to_string();
    let raw_socket = workspace.start(&["raw-socket", "--protocol", "h2c", "--port", &port]);
    let asked = |bytes: &[u8]| -> std::io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect(format!("127.0.0.1:{port}"))?;
        stream.set_read_timeout(Some(Duration::from_millis(500)))?;
        stream.write_all(bytes)?;
        let mut answer = Vec::new();
        // Reading ends at the read timeout, or with the connection.
        let _ = stream.read_to_end(&mut answer);
        Ok(answer)
    };
    // The preface, empty SETTINGS, and the complete HEADERS of stream 1.
    let request = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\x01\x01\x05\0\0\0\x01\x82";
    let mut answer = Vec::new();
    assert!(within(USUAL, || {
        answer = asked(request).unwrap_or_default();
        !answer.is_empty()
    }));
    assert!(answer.ends_with(b"\0\0\x0c\0\x01\0\0\0\x01Hello world!"), "{}", answer.escape_ascii());
    assert_eq!(asked(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap(), b"");
    send(raw_socket.pid(), Signal::TERM);
    raw_socket.end().expect(0);
}
