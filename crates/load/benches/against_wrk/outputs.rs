//! Parses the number of answered requests from the output of each tool.

use tare_load::Protocol;

use super::tools::Tool;

/// The number of answered requests, if none failed. h2load uses the protocol that the server chooses, so its
/// output must name `protocol`.
pub fn requests(tool: &Tool, protocol: Protocol, output: &str) -> Option<u64> {
    match tool {
        Tool::Tare(..) => (after(output, "failed ")? == 0).then(|| after(output, "requests "))?,
        Tool::Bare => after(output, "requests "),
        Tool::Wrk(_) => {
            let failed = output.contains("Socket errors") || output.contains("Non-2xx");
            (!failed).then(|| before(output, " requests in "))?
        }
        Tool::H2load(_) => {
            let failed = before(output, " failed,")? + before(output, " errored,")?;
            let spoken = output.lines().find_map(|line| line.strip_prefix("Application protocol: "))?;
            (failed == 0 && spoken == spoken_name(protocol)).then(|| before(output, " succeeded,"))?
        }
        Tool::Shb(_) => {
            let report: serde_json::Value = serde_json::from_str(output).ok()?;
            let count = |name: &str| report["requests"][name].as_u64();
            (count("errors")? + count("connectErrors")? == 0).then(|| count("ok"))?
        }
    }
}

/// The protocol's name in the output of h2load.
fn spoken_name(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Http1 | Protocol::Http1Tls => "http/1.1",
        Protocol::H2 => "h2",
        Protocol::H2c => "h2c",
    }
}

/// The number after a word at the start of a line.
fn after(output: &str, word: &str) -> Option<u64> {
    output.lines().find_map(|line| line.strip_prefix(word))?.trim().parse().ok()
}

fn before(output: &str, word: &str) -> Option<u64> {
    let (text, _) = output.split_once(word)?;
    text.rsplit([' ', '\n']).next()?.parse().ok()
}
