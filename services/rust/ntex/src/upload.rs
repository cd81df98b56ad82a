//! A body that is counted as it comes: `/upload`.

use ntex::web::error::ErrorBadRequest;
use ntex::web::types::{Json, Payload};
use ntex::web::{self, HttpRequest};
use serde::Serialize;

#[derive(Serialize)]
pub struct Upload {
    bytes: usize,
    byte: u8,
}

pub async fn upload(request: HttpRequest, mut chunks: Payload) -> Result<Json<Upload>, web::Error> {
    let offset = request.headers().get("X-Offset").and_then(|offset| offset.to_str().ok());
    let offset: usize = offset
        .and_then(|offset| offset.parse().ok())
        .ok_or_else(|| ErrorBadRequest("X-Offset is no offset"))?;
    let mut bytes = 0;
    let mut byte = None;
    while let Some(chunk) = chunks.recv().await {
        let chunk = chunk.map_err(ErrorBadRequest)?;
        if let Some(found) = offset.checked_sub(bytes).and_then(|index| chunk.get(index)) {
            byte = Some(*found);
        }
        bytes += chunk.len();
    }
    let byte = byte.ok_or_else(|| ErrorBadRequest("X-Offset is not below the length"))?;
    Ok(Json(Upload { bytes, byte }))
}
