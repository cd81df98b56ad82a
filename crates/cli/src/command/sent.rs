//! Parts of requests as typed: paths, headers, methods and bodies have the same form in every command.

use std::{io::Read, str::FromStr};

use anyhow::{Context, bail, ensure};
use http::uri::PathAndQuery;

/// The advice for braces that are no placeholder.
pub(crate) const NO_PLACEHOLDERS: &str = "--no-placeholders sends \"{{\" as it is";

/// Headers that determine the length of the message.
const FRAMING: [&str; 2] = ["content-length", "transfer-encoding"];

/// The value of one `-H`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub name: String,
    /// `None` leaves the header out.
    pub value: Option<String>,
}

/// Parses a path with its query. A fragment after `#` is not sent.
pub(crate) fn path(text: &str) -> anyhow::Result<String> {
    ensure!(text.starts_with('/'), "\"{text}\" is not a path: begin it with a slash");
    let path = PathAndQuery::from_str(text).ok().filter(|_| text.is_ascii());
    let path = path.with_context(|| {
        format!(
            "\"{}\" is not a path: give what is neither a letter nor a digit percent-encoded",
            text.escape_debug()
        )
    })?;
    Ok(path.to_string())
}

/// Parses a header in curl's form.
pub(crate) fn header(text: &str) -> anyhow::Result<Header> {
    let (name, value) = match text.split_once(':') {
        Some((name, value)) => (name, Some(value.trim()).filter(|value| !value.is_empty())),
        None => {
            let name = text.strip_suffix(';');
            let name = name.with_context(|| {
                format!(
                    "\"{text}\" is not a header: give a name, a colon and a value, such as \"Accept: */*\""
                )
            })?;
            (name, Some(""))
        }
    };
    check_token(name, "the name of a header")?;
    if let Some(framing) = FRAMING.iter().find(|framing| framing.eq_ignore_ascii_case(name)) {
        bail!("the header {framing} follows from --data and is not given by -H");
    }
    let value = value.map(str::to_owned);
    let is_text = |byte: u8| byte == b'\t' || (byte >= b' ' && byte != 0x7f);
    ensure!(
        value.as_deref().unwrap_or_default().bytes().all(is_text),
        "the value of the header {name} has a control character: leave it out"
    );
    Ok(Header { name: name.to_owned(), value })
}

pub(crate) fn method(text: &str) -> anyhow::Result<String> {
    check_token(text, "a method")?;
    ensure!(
        text != "CONNECT",
        "CONNECT asks for a tunnel, whose bytes are no responses: give another method"
    );
    Ok(text.to_owned())
}

fn check_token(text: &str, what: &str) -> anyhow::Result<()> {
    let is_token_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    ensure!(
        !text.is_empty() && text.bytes().all(is_token_byte),
        "{text:?} is not {what}: it has letters, digits and -, no spaces"
    );
    Ok(())
}

/// Reads `TEXT`, `@FILE` or `@-` for standard input, byte for byte.
pub(crate) fn body(word: &str) -> anyhow::Result<Vec<u8>> {
    match word.strip_prefix('@') {
        None => Ok(word.as_bytes().to_vec()),
        Some("-") => {
            let mut body = Vec::new();
            std::io::stdin().read_to_end(&mut body).context("standard input cannot be read")?;
            Ok(body)
        }
        Some(path) => std::fs::read(path).with_context(|| format!("{path} cannot be read")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_that_of_a_url() {
        let of = |text: &str| path(text).map_err(|error| error.to_string());
        assert_eq!(of("/"), Ok("/".to_owned()));
        assert_eq!(of("/a?b=c%20d#e"), Ok("/a?b=c%20d".to_owned()));
        assert_eq!(of("/#x"), Ok("/".to_owned()));
        assert_eq!(of("/items/{{number:1-9}}"), Ok("/items/{{number:1-9}}".to_owned()));
        let wrong = "is not a path: give what is neither a letter nor a digit percent-encoded";
        assert_eq!(of("/\u{e4}"), Err(format!("\"/\u{e4}\" {wrong}")));
        assert_eq!(of("/a b"), Err(format!("\"/a b\" {wrong}")));
        assert_eq!(of("/a\r\nb"), Err(format!("\"/a\\r\\nb\" {wrong}")));
        assert_eq!(of("a"), Err("\"a\" is not a path: begin it with a slash".to_owned()));
    }
}
