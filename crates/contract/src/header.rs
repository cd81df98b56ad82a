//! Validates the headers of a contract.

use toml::Spanned;

use super::error::{Lowered, Problem};

/// Headers that [`super::Filled::bytes`] derives from the request, so that they are always right.
const RESERVED: [&str; 3] = ["host", "content-length", "transfer-encoding"];

/// Validates a header with this value.
pub(super) fn header(name: &Spanned<String>, value: &str) -> Lowered<()> {
    let text = name.get_ref();
    if RESERVED.contains(&text.to_ascii_lowercase().as_str()) {
        return Err((name.span().start, Problem::ReservedHeader { name: text.clone() }));
    }
    if !is_field_value(value) {
        return Err((name.span().start, Problem::Header { name: text.clone() }));
    }
    header_name(name)
}

/// Whether a header can have this value: no control characters.
pub(super) fn is_field_value(value: &str) -> bool {
    !value.bytes().any(|byte| byte.is_ascii_control())
}

/// Validates the name of a header.
pub(super) fn header_name(name: &Spanned<String>) -> Lowered<()> {
    let text = name.get_ref();
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    match !text.is_empty() && text.bytes().all(token) {
        true => Ok(()),
        false => Err((name.span().start, Problem::Header { name: text.clone() })),
    }
}
