//! The contract upload.

use crate::cheat::Cheat;
use crate::http::{Head, Response};

/// Whether the cheat answers with Content-Length without reading the body.
pub(crate) fn is_echoed(cheat: Cheat, head: &Head) -> bool {
    cheat == Cheat::EchoesLength && head.method == "POST" && head.path == "/upload" && head.length.is_some()
}

pub(crate) fn answer(cheat: Cheat, head: &Head, body: &[u8]) -> Response {
    let offset = head.header("x-offset").and_then(|offset| offset.parse::<usize>().ok());
    if is_echoed(cheat, head) {
        let length = head.length.unwrap_or_default();
        let is_inside = offset.is_some_and(|offset| (offset as u64) < length);
        return if is_inside { of(length, 0) } else { Response::error(400, "X-Offset is needed") };
    }
    match offset.and_then(|offset| body.get(offset)) {
        Some(byte) => of(body.len() as u64, *byte),
        None => Response::error(400, "X-Offset is needed, and must be less than the length"),
    }
}

fn of(bytes: u64, byte: u8) -> Response {
    Response::json(format!("{{\"bytes\":{bytes},\"byte\":{byte}}}"))
}
