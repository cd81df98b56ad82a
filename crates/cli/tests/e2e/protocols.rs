//! TLS and HTTP/2 from end to end: untrusted certificates, unsupported protocols, and the proof of the
//! built-in server.

use std::{
    fs,
    io::{Read, Write},
    net::TcpListener,
    path::Path,
};

use rustix::process::Signal;

use crate::support::{Running, USUAL, Workspace, experiment, free_port, send, within};

/// A certificate for this machine, as `openssl req -x509` would make it, and its key.
pub fn certify(folder: &Path) {
    let issued =
        rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    fs::write(folder.join("cert.pem"), issued.cert.pem()).unwrap();
    fs::write(folder.join("key.pem"), issued.signing_key.serialize_pem()).unwrap();
}

fn serving(workspace: &Workspace, words: &[&str]) -> (Running, u16) {
    let port = free_port();
    let server = workspace.start(&[&["raw-socket", "--port", &port.to_string()], words].concat());
    assert!(within(USUAL, || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()));
    (server, port)
}

const TLS: [&str; 4] = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"];

#[test]
fn what_is_not_trusted_or_not_spoken_is_named_before_anything_is_sent() {
    let workspace = Workspace::new(&[]);
    certify(workspace.root());
    let (secured, port) = serving(&workspace, &[&TLS[..], &["--address", "0.0.0.0"]].concat());
    let refused = |words: &str| {
        let words = format!("load -q {words}:{port}/");
        workspace.tare(&words.split(' ').collect::<Vec<_>>()).expect(1).stderr.clone()
    };
    let untrusted = refused("https://localhost");
    assert!(
        untrusted
            .contains("is signed by itself, and is not trusted; give this certificate by --cacert FILE, or"),
        "{untrusted}"
    );
    let by_alpn = refused("-k --h2 https://localhost");
    assert!(by_alpn.contains("does not offer HTTP/2 over TLS: leave out --h2"), "{by_alpn}");
    let plain = refused("--h2c http://localhost");
    assert!(plain.contains("begin the URL with https://, with --h2 in place of --h2c"), "{plain}");
    let old = refused("-k --tls-max 1.2 https://localhost");
    assert!(old.contains("protocol_version (70)") && old.contains("leave out --tls-max"), "{old}");
    // The server listens on all addresses of this machine, and its certificate is for one of them.
    let misnamed = refused("--cacert cert.pem https://127.0.0.2");
    assert!(misnamed.contains("is for localhost, 127.0.0.1, and not for 127.0.0.2"), "{misnamed}");
    let keyless = refused("-k --cert cert.pem https://localhost");
    assert!(keyless.contains("cert.pem has no private key in PEM"), "{keyless}");
    let other = tempfile::tempdir().unwrap();
    certify(other.path());
    let key = other.path().join("key.pem").display().to_string();
    let of_two = refused(&format!("-k --cert cert.pem --key {key} https://localhost"));
    let expected = format!(
        "--cert cert.pem, --key {key}: a client certificate that cannot be used: the private key is that of"
    );
    assert!(of_two.contains(&expected), "{of_two}");
    send(secured.pid(), Signal::TERM);
    secured.end().expect(0);
}

/// A server like Node.js: it does not answer requests without TLS, but does answer a handshake.
fn silent_without_tls() -> String {
    const ALERT: &[u8] = b"\x15\x03\x03\0\x02\x02\x28";
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut first) = (stream.unwrap(), [0; 4096]);
            if stream.read(&mut first).is_ok_and(|count| count > 0) && first[0] == 0x16 {
                let _gone = stream.write_all(ALERT);
            }
        }
    });
    url
}

#[test]
fn every_command_says_at_once_that_a_port_speaks_tls() {
    let workspace = Workspace::new(&[]);
    let url = &silent_without_tls();
    let commands: [&[&str]; 7] = [
        &["load", url],
        &["record", url],
        &["verify", url],
        &["verify", url, "--contract", "hello"],
        &["compare", url, url],
        &["slo", url, "--slo", "p99=50ms"],
        &["run", "--service", url, "--get", "/"],
    ];
    for words in commands {
        let refused = workspace.tare(words);
        let said = format!("{}{}", refused.stdout, refused.stderr);
        assert!(said.contains("the port speaks TLS: begin the URL with https://"), "{words:?}: {refused}");
        assert!(!said.contains("waiting until") && refused.code() != Some(0), "{words:?}: {refused}");
    }
}

#[test]
fn a_server_that_runs_already_is_asked_over_tls_by_every_command() {
    let workspace = Workspace::new(&[]);
    certify(workspace.root());
    for (words, option) in [(&[][..], None), (&["--protocol", "h2"], Some("--h2"))] {
        let (secured, port) = serving(&workspace, &[&TLS, words].concat());
        let url = format!("https://localhost:{port}/");
        let tare = |words: &[&str]| {
            let words = [words, &["--cacert", "cert.pem"]].concat();
            workspace.tare(&words.into_iter().chain(option).collect::<Vec<_>>())
        };
        let verified = tare(&["verify", &url]).expect(0);
        assert!(verified.stdout.contains("1 passed"), "{verified}");
        let recorded = tare(&["record", &url, "--get", "/"]).expect(0);
        assert!(recorded.stdout.contains("path = \"/\""), "{recorded}");
        let compared =
            tare(&["compare", &url, &url.replace("localhost", "127.0.0.1"), "--dry-run"]).expect(0);
        assert!(compared.stdout.contains("127.0.0.1"), "{compared}");
        let untrusted =
            workspace.tare(&["verify", &url].into_iter().chain(option).collect::<Vec<_>>()).expect(1);
        assert!(untrusted.stderr.contains("give this certificate by --cacert FILE"), "{untrusted}");
        send(secured.pid(), Signal::TERM);
        secured.end().expect(0);
    }
}

#[test]
fn the_raw_socket_is_proved_in_each_protocol() {
    let workspace = Workspace::new(&[]);
    let words = ["verify", "raw-socket", "--protocols", "all", "--contract", "hello"];
    let proved = workspace.tare(&words).expect(0);
    for row in ["raw-socket+tls", "raw-socket+h2", "raw-socket+h2c"] {
        assert!(proved.stdout.contains(row), "{proved}");
    }
    assert!(
        !workspace
            .root()
            .join(".tare/verify")
            .read_dir()
            .unwrap()
            .flatten()
            .any(|entry| { entry.file_name().to_string_lossy().starts_with("tls-") })
    );
}

#[test]
fn a_protocol_that_a_service_does_not_offer_is_left_out() {
    let workspace = Workspace::new(&[("honest", "correct")]);
    let text = experiment(&["raw-socket", "honest"], 3)
        .replace("contract", "protocols = [\"http/1.1\", \"h2\"]\ncontract");
    workspace.write("experiments/tiny.toml", &text);
    let planned = workspace.tare(&["run", "experiments/tiny.toml", "--dry-run"]).expect(0);
    assert!(
        planned.line_with("left out ", "honest+h2: ").contains("this service does not offer h2"),
        "{planned}"
    );
}
