//! The one response that the reference sends, where a contract has one.

use super::{Body, Contract};

/// The whole response that answers every request of the load, if there is exactly one such request and its answer has
/// no placeholders. The reference sends it without reading the request.
pub fn fixed_response(contract: &Contract) -> Option<Vec<u8>> {
    let mut loaded = contract.loaded();
    let (Some(request), None) = (loaded.next(), loaded.next()) else { return None };
    let body = match &request.answer.body {
        Body::Exact(template) | Body::Json(template) => template.fixed()?,
        Body::Any => String::new(),
    };
    let reason = match request.answer.status {
        200 => "OK",
        201 => "Created",
        404 => "Not Found",
        // Clients must not read it, so any other status goes without one.
        _ => "",
    };
    let mut head = format!(
        "HTTP/1.1 {} {reason}\r\nConnection: keep-alive\r\nContent-Length: {}\r\nServer: tare-raw-socket\r\n",
        request.answer.status,
        body.len()
    );
    if let Some(content_type) = &request.answer.content_type {
        head.push_str(&format!("Content-Type: {content_type}\r\n"));
    }
    for (name, value) in &request.answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    Some(format!("{head}\r\n{body}").into_bytes())
}
