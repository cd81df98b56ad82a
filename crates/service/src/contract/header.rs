//! Which headers may stand in a contract.

use toml::Spanned;

use super::error::{Lowered, Problem};

/// Written by [`super::Filled::bytes`] from the request itself, so that they are always right.
const RESERVED: [&str; 3] = ["host", "content-length", "transfer-encoding"];

/// A header with this value.
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

/// Whether a value can stand in a header: without control characters.
pub(super) fn is_field_value(value: &str) -> bool {
    !value.bytes().any(|byte| byte.is_ascii_control())
}

/// The name of a header, whatever its value.
pub(super) fn header_name(name: &Spanned<String>) -> Lowered<()> {
    let text = name.get_ref();
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    match !text.is_empty() && text.bytes().all(token) {
        true => Ok(()),
        false => Err((name.span().start, Problem::Header { name: text.clone() })),
    }
}
