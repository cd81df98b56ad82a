//! Protocols of command lines, and every contradiction.

use clap::Parser;
use insta::assert_snapshot;

use super::super::args::Args;

#[derive(Debug, Parser)]
struct CommandLine {
    #[command(flatten)]
    args: Args,
}

/// The protocol in words, or the first line of the error.
fn said(words: &str) -> String {
    let line = match CommandLine::try_parse_from(["load"].into_iter().chain(words.split_whitespace())) {
        Ok(line) => line,
        Err(error) => return error.to_string().lines().next().unwrap_or_default().to_owned(),
    };
    match line.args.protocol.spoken(&line.args.urls[0]) {
        Ok(spoken) => {
            let tls = if spoken.tls.is_some() { ", with a TLS client" } else { "" };
            format!("{}, {} streams{tls}", spoken.protocol, spoken.streams)
        }
        Err(error) => format!("refused: {error:#}"),
    }
}

#[test]
fn a_protocol_follows_from_the_url_and_an_option() {
    assert_snapshot!(said("http://localhost/"), @"http/1.1, 1 streams");
    assert_snapshot!(said("-k https://localhost/"), @"http/1.1 over TLS, 1 streams, with a TLS client");
    assert_snapshot!(said("-k --h2 -m 32 https://localhost/"), @"h2, 32 streams, with a TLS client");
    assert_snapshot!(said("-k --http2 https://localhost/"), @"h2, 1 streams, with a TLS client");
    assert_snapshot!(said("--h2c -m 100 http://localhost/"), @"h2c, 100 streams");
}

#[test]
fn a_contradiction_names_its_way_out() {
    assert_snapshot!(said("--h2 http://localhost/"), @"refused: --h2 is HTTP/2 over TLS: begin the URL with https://, or use --h2c for HTTP/2 without TLS");
    assert_snapshot!(said("--h2c https://localhost/"), @"refused: --h2c is HTTP/2 without TLS: begin the URL with http://, or use --h2 for HTTP/2 over TLS");
    assert_snapshot!(said("--h2 --h2c https://localhost/"), @"error: the argument '--h2' cannot be used with '--h2c'");
    assert_snapshot!(said("-m 3 http://localhost/"), @"refused: --streams needs HTTP/2: add --h2 or --h2c, or use --pipeline for several requests at a time of HTTP/1.1");
    assert_snapshot!(said("-m 30k --h2c http://localhost/"), @"refused: --streams 30000 is too much: give at most 10000");
    assert_snapshot!(said("-k http://localhost/"), @"refused: --insecure needs TLS: begin the URL with https://");
    assert_snapshot!(said("--resume http://localhost/"), @"refused: --resume needs TLS: begin the URL with https://");
    assert_snapshot!(said("--cacert Cargo.toml https://localhost/"), @"refused: no certificate authority is known in that file: give one by --cacert FILE, or accept any certificate by -k");
    assert_snapshot!(said("--cacert nothing.pem https://localhost/"), @"refused: --cacert: nothing.pem cannot be read as PEM: I/O error: No such file or directory (os error 2)");
    assert_snapshot!(said("--h2c --pipeline 4 http://localhost/"), @"error: the argument '--h2c' cannot be used with '--pipeline <N>'");
    assert_snapshot!(said("--h2c --requests-per-connection 4 http://localhost/"), @"error: the argument '--h2c' cannot be used with '--requests-per-connection <N>'");
    assert_snapshot!(said("--tls-max 1.2 http://localhost/"), @"refused: --tls-max needs TLS: begin the URL with https://");
    assert_snapshot!(said("-k --tls-max 1.1 https://localhost/"), @"error: invalid value '1.1' for '--tls-max <VERSION>'");
    assert_snapshot!(said("-k --cert nothing.pem https://localhost/"), @"refused: --cert: nothing.pem cannot be read as PEM: I/O error: No such file or directory (os error 2)");
    assert_snapshot!(said("-k --cert Cargo.toml https://localhost/"), @"refused: --cert: Cargo.toml has no certificate in PEM");
}
