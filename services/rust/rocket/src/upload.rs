//! A body that is counted as it comes: `/upload`.

use rocket::data::{ByteUnit, Data};
use rocket::http::Status;
use rocket::post;
use rocket::request::{FromRequest, Outcome, Request};
use rocket::serde::Serialize;
use rocket::serde::json::Json;
use rocket::tokio::io::AsyncReadExt;

const BUFFER: usize = 64 * 1024;

/// The header `X-Offset`.
pub struct Offset(usize);

#[rocket::async_trait]
impl<'r> FromRequest<'r> for Offset {
    type Error = ();

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, ()> {
        match request.headers().get_one("X-Offset").and_then(|offset| offset.parse().ok()) {
            Some(offset) => Outcome::Success(Self(offset)),
            None => Outcome::Error((Status::BadRequest, ())),
        }
    }
}

#[derive(Serialize)]
#[serde(crate = "rocket::serde")]
pub struct Upload {
    bytes: usize,
    byte: u8,
}

#[post("/upload", data = "<body>")]
pub async fn upload(offset: Offset, body: Data<'_>) -> Result<Json<Upload>, Status> {
    // Nothing of it is kept, so it may be as long as it likes.
    let mut stream = body.open(ByteUnit::max_value());
    let mut buffer = vec![0; BUFFER];
    let mut bytes = 0;
    let mut byte = None;
    loop {
        let chunk = match stream.read(&mut buffer).await {
            Ok(0) => break,
            Ok(length) => &buffer[..length],
            Err(_) => return Err(Status::BadRequest),
        };
        if let Some(found) = offset.0.checked_sub(bytes).and_then(|index| chunk.get(index)) {
            byte = Some(*found);
        }
        bytes += chunk.len();
    }
    let byte = byte.ok_or(Status::BadRequest)?;
    Ok(Json(Upload { bytes, byte }))
}
