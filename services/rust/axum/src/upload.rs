//! A body that is counted as it comes: `/upload`.

use axum::Json;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode};
use futures_util::TryStreamExt;
use serde::Serialize;

#[derive(Serialize)]
pub struct Upload {
    bytes: usize,
    byte: u8,
}

pub async fn upload(headers: HeaderMap, body: Body) -> Result<Json<Upload>, StatusCode> {
    let offset = headers.get("x-offset").and_then(|offset| offset.to_str().ok());
    let offset: usize = offset.and_then(|offset| offset.parse().ok()).ok_or(StatusCode::BAD_REQUEST)?;
    let mut chunks = body.into_data_stream();
    let mut bytes = 0;
    let mut byte = None;
    while let Some(chunk) = chunks.try_next().await.map_err(|_| StatusCode::BAD_REQUEST)? {
        if let Some(found) = offset.checked_sub(bytes).and_then(|index| chunk.get(index)) {
            byte = Some(*found);
        }
        bytes += chunk.len();
    }
    let byte = byte.ok_or(StatusCode::BAD_REQUEST)?;
    Ok(Json(Upload { bytes, byte }))
}
