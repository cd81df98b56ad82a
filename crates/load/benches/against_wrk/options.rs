//! The options of the command line.

use std::str::FromStr;

use tare_load::Protocol;

use super::servers::Serving;
use crate::kit::closed::{protocol_of, word_of};

#[derive(Debug, PartialEq, Eq)]
pub struct Options {
    pub protocol: Protocol,
    pub serving: Serving,
    pub rounds: usize,
    pub seconds: u64,
    pub connections: Vec<usize>,
    /// Concurrent requests on each HTTP/2 connection; 1 with HTTP/1.1.
    pub streams: Vec<usize>,
    pub bodies: Vec<usize>,
    /// Whether Tare is also measured while it polls.
    pub polling: bool,
    pub seed: u64,
    pub json: bool,
}

impl Options {
    pub fn parse(words: &[String]) -> Result<Options, String> {
        let (mut protocol, mut serving, mut connections, mut streams) = (Protocol::Http1, None, None, None);
        let (mut bodies, mut rounds, mut seconds, mut seed) = (vec![12, 102_400], 9, 2, 1);
        let (mut polling, mut json) = (false, false);
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let mut value = || rest.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--protocol" => protocol = protocol_of(value()?)?,
                "--server" => serving = Some(Serving::named(value()?)?),
                "--rounds" => rounds = number(word, value()?)?,
                "--seconds" => seconds = number(word, value()?)?,
                "--connections" => connections = Some(list(word, value()?)?),
                "--streams" => streams = Some(list(word, value()?)?),
                "--body" => bodies = list(word, value()?)?,
                "--seed" => seed = number(word, value()?)?,
                "--polling" => polling = true,
                "--json" => json = true,
                other => return Err(format!("\"{other}\" is not known: give {KNOWN}")),
            }
        }
        let serving = serving.unwrap_or(Serving::usual(protocol));
        if !serving.speaks(protocol) {
            return Err(format!("{} does not serve {}", serving.name(), word_of(protocol)));
        }
        if streams.is_some() && !protocol.is_http2() {
            return Err("--streams is of HTTP/2: give --protocol h2c or h2".to_owned());
        }
        let connections = connections.unwrap_or(if protocol.is_http2() { vec![64] } else { vec![64, 400] });
        let streams = streams.unwrap_or(if protocol.is_http2() { vec![1, 8, 32, 100] } else { vec![1] });
        if rounds == 0 || seconds == 0 || [&connections, &streams].iter().any(|list| list.contains(&0)) {
            return Err("nothing to measure: give at least 1 of each".to_owned());
        }
        Ok(Options { protocol, serving, rounds, seconds, connections, streams, bodies, polling, seed, json })
    }
}

pub const KNOWN: &str = "--protocol, --server, --rounds, --seconds, --connections, --streams, --body, --polling, --seed or --json";

fn number<N: FromStr>(option: &str, word: &str) -> Result<N, String> {
    word.parse().map_err(|_| format!("{option}: \"{word}\" is no number"))
}

fn list(option: &str, words: &str) -> Result<Vec<usize>, String> {
    words.split(',').map(|word| number(option, word)).collect()
}
