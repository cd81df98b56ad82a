//! A body that is counted as it comes: `/upload`.

use std::pin::pin;

use serde::Serialize;
use xitca_web::WebContext;
use xitca_web::body::{BodyExt, RequestBody};
use xitca_web::error::{Error, ErrorStatus};
use xitca_web::handler::body::Body;
use xitca_web::handler::json::Json;

use crate::application::Application;

#[derive(Serialize)]
pub struct Upload {
    bytes: usize,
    byte: u8,
}

pub async fn upload(
    context: &WebContext<'_, Application>,
    Body(body): Body<RequestBody>,
) -> Result<Json<Upload>, Error> {
    let offset = context.req().headers().get("x-offset").and_then(|offset| offset.to_str().ok());
    let offset = offset.and_then(|offset| offset.parse::<usize>().ok());
    // Read whole even if it is refused: xitca-web closes a connection with an unread body, and does not say so.
    let mut body = pin!(body);
    let mut bytes = 0;
    let mut byte = None;
    while let Some(chunk) = body.as_mut().data().await {
        let chunk = chunk.map_err(|_| ErrorStatus::bad_request())?;
        let index = offset.and_then(|offset| offset.checked_sub(bytes));
        if let Some(found) = index.and_then(|index| chunk.get(index)) {
            byte = Some(*found);
        }
        bytes += chunk.len();
    }
    let byte = byte.ok_or_else(ErrorStatus::bad_request)?;
    Ok(Json(Upload { bytes, byte }))
}
