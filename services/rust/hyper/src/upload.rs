//! A body that is counted as it comes: `/upload`.

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode};
use serde::Serialize;

use crate::response::{Body, json, status};

#[derive(Serialize)]
struct Upload {
    bytes: usize,
    byte: u8,
}

pub async fn answer(request: Request<Incoming>) -> hyper::Result<Response<Body>> {
    let offset = request.headers().get("x-offset").and_then(|offset| offset.to_str().ok());
    let Some(offset) = offset.and_then(|offset| offset.parse::<usize>().ok()) else {
        return Ok(status(StatusCode::BAD_REQUEST));
    };
    let mut body = request.into_body();
    let mut bytes = 0;
    let mut byte = None;
    while let Some(frame) = body.frame().await {
        // Another frame is one of trailers.
        let Ok(chunk) = frame?.into_data() else { continue };
        if let Some(found) = offset.checked_sub(bytes).and_then(|index| chunk.get(index)) {
            byte = Some(*found);
        }
        bytes += chunk.len();
    }
    Ok(match byte {
        Some(byte) => json(&Upload { bytes, byte }),
        None => status(StatusCode::BAD_REQUEST),
    })
}
