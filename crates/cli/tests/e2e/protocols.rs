//! TLS and HTTP/2 from end to end: what is not trusted, not spoken or not offered, and the proof of the built-in server.

use std::{fs, path::Path};

use rustix::process::Signal;

use crate::support::{Running, USUAL, Workspace, experiment, free_port, send, within};

/// A certificate of this machine that `openssl req -x509` would make, and its key.
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
    let (secured, port) = serving(&workspace, &TLS);
    let refused = |words: &str| {
        let words = format!("load -q {words}:{port}/");
        workspace.tare(&words.split(' ').collect::<Vec<_>>()).expect(1).stderr.clone()
    };
    let untrusted = refused("https://localhost");
    assert!(
        untrusted.contains("give its authority by --cacert, or accept any certificate by -k"),
        "{untrusted}"
    );
    let by_alpn = refused("-k --h2 https://localhost");
    assert!(by_alpn.contains("does not offer HTTP/2 over TLS: leave out --h2"), "{by_alpn}");
    let plain = refused("--h2c http://localhost");
    assert!(plain.contains("does perhaps not speak HTTP/2 there"), "{plain}");
    send(secured.pid(), Signal::TERM);
    secured.end().expect(0);
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
